#!/usr/bin/env bats
# The step engine and programs that do what they should not, and machines that lack something: it is
# told like under mpiexec, and nothing is left.

bats_require_minimum_version 1.5.0

load driver_common

# trouble ENGINE HOW [FIELDS]: one run of a program that does this; its output in $output.
trouble() {
    printf 'scenario "trouble" { protocol = "null", program = "%s", ranks = 2, engine = "%s",
  arguments = { %s }, claims = { "H.progress" }, %s }\n' "$BUILD/tests/mpi/engine_trouble" "$1" \
        "$2" "${3:-}" >s.lua
    run "$FAULTLINE" run --no-control --no-stacks --confirm 0 s.lua
    echo "$output"
}

# Which rank is first is left open.
ends() {
    grep -E '^(not )?ok|^  (verdict|end):|^    - "rank [0-9]' <<<"$output" | sed 's/rank [01]/rank N/g'
}

@test "a program that ends before MPI_Init is told like under mpiexec" {
    for how in '"exits-early"' '"exits-early", "3"'; do
        trouble mpiexec "$how"
        ends >mpiexec
        trouble step "$how"
        ends >step
        diff mpiexec step
        [ "$status" -eq 1 ]
    done
    [[ "$output" == *"exited with status 3, and recorded no call"* ]]
}

@test "a second MPI_Init is an error that ends the job" {
    trouble step '"init-twice"'
    [ "$status" -eq 1 ]
    [[ "$output" == *"aborted the job; the last call it recorded is MPI_Init"* ]]
    [[ "$output" == *"MPI_Init is called twice"* ]]
}

@test "ranks may fork, catch SIGSEGV, and have more memory than there is" {
    for how in forks catches allocates; do
        trouble step "\"$how\""
        [ "$status" -eq 0 ]
    done
}

@test "a child that a rank has forked is ended where it calls MPI, and the rank goes on" {
    trouble step '"forks-and-calls"'
    [ "$status" -eq 0 ]
}

@test "ranks that close all descriptors go on, and what they open then stays theirs" {
    trouble step '"closes"'
    [ "$status" -eq 0 ]
    trouble step '"closes-and-waits"'
    [ "$status" -eq 1 ]
    [[ "$output" == *"every live rank is blocked and nothing is in flight"* ]]
    [ -e mine ]
    [ ! -s mine ]
}

@test "a rank that computes for ever is ended at the time limit, and its stack is told" {
    trouble step '"spins"' 'timeout = 8'
    [ "$status" -eq 1 ]
    [ -s faultline-out/latest/1/choices.0 ]
    [[ "$output" == *"still running after 8 s"* ]]
    [[ "$output" == *"rank 1 has made no call since"* ]]
    [[ "$output" == *"spin at engine_trouble.c"* ]]
    run ! pgrep -f "^$BUILD/tests/mpi/engine_trouble spins"
}

@test "a job that calls for ever has the same decisions when it is replayed, up to its time limit" {
    trouble step '"calls-for-ever"' 'timeout = 2'
    [ "$status" -eq 1 ]
    run -0 "$FAULTLINE" replay faultline-out/latest/1
    [[ "$output" == *"replayed 1/1"* ]]
}

@test "a job that fills the disk with its trace is ended, and what it has written can be read" {
    # On the step engine calls that only fail would be a stall.
    for how in 'mpiexec tries-for-ever' 'step calls-for-ever'; do
        FAULTLINE_TRACE_LIMIT=8 trouble "${how% *}" "\"${how#* }\"" 'timeout = 3000'
        [ "$status" -eq 3 ]
        [[ "$output" == *"the traces of the run take more than the 8 MB that are allowed; --trace-limit "* ]]
        run ! pgrep -f "^$BUILD/tests/mpi/engine_trouble ${how#* }"
        "$FAULTLINE" trace faultline-out/latest/1 >trace 2>lost
        [ "$(grep -c "MPI_Send" trace)" -gt 40000 ]
        [ ! -s lost ]
    done
    run -3 "$FAULTLINE" run --no-control --no-stacks --trace-limit 9 s.lua
    [[ "$output" == *"more than the 9 MB that are allowed"* ]]
    run -64 "$FAULTLINE" run --trace-limit 0 s.lua
    [[ "$output" == *'--trace-limit: "0" is not a whole number from 1 to 1000000'* ]]
}

@test "a job that fills the disk with what it prints is ended, and what it has printed can be read" {
    printf '#!/bin/sh\nexec yes "for ever"\n' >prints
    chmod +x prints
    for engine in mpiexec step; do
        echo "scenario 'prints' { protocol = 'null', program = './prints', ranks = 2, engine = '$engine',
          claims = { 'H.progress' }, timeout = 3000 }" >s.lua
        run -3 "$FAULTLINE" run --no-control --no-stacks --trace-limit 8 s.lua
        [[ "$output" == *"the output of the run takes more than the 8 MB that are allowed; --trace-limit "* ]]
        run ! pgrep -f "^yes for ever"
        grep -qx 'for ever' faultline-out/latest/1/output/*
    done
}

@test "a rank may wait in sleeps for something outside the job, while others wait or poll" {
    for how in waits-outside waits-while-polled; do
        rm -rf there faultline-out
        (wait_until test -e faultline-out/latest/1/output/r1.0.out; sleep 3; touch there) 3>&- &
        trouble step "\"$how\", \"$PWD/there\"" 'timeout = 300'
        wait
        [ "$status" -eq 0 ]
    done
}

@test "ranks that poll go on in turn while another one sleeps again and again" {
    for nap in 1000 0; do
        rm -f made-by-*
        trouble step "\"makes-after-polls\", \"$PWD\", $nap" 'timeout = 300, ranks = 3'
        [ "$status" -eq 0 ]
    done
}

@test "a job has not stalled while one sleeps, long or often, whatever others ask for meanwhile" {
    for naps in '1, 6000' '900, 6' '60000, 0'; do
        trouble step "\"naps\", $naps" 'timeout = 300'
        [ "$status" -eq 0 ]
    done
}

@test "threads: one calls MPI for the main thread, one reads a clock, one sleeps beside the engine" {
    for seed in 1 2 3; do
        FAULTLINE_SEED=$seed trouble step '"has-threads"'
        [ "$status" -eq 0 ]
    done
}

@test "who is asked to sleep for less than no time is told so, and for ever is 146 years" {
    trouble step '"sleeps-oddly"'
    [ "$status" -eq 0 ]
}

@test "a rank that sleeps is stopped as long as the plan says" {
    trouble step '"sleeps-stopped"' \
        'plan = function(p) p:stop { rank = 1, at = { rank = 0, event = "send", nth = 2 }, ms = 5000 } end'
    [ "$status" -eq 0 ]
}

@test "a rank that sleeps in real time is ended at the time limit, also where a zygote is kept" {
    trouble step '"sleeps-at-the-end"' 'timeout = 2'
    run -1 "$FAULTLINE" run --no-control --no-stacks --confirm 0 --repeat 3 s.lua
    [ "$(grep -c '^    - "still running after 2 s' <<<"$output")" -eq 3 ]
    run ! pgrep -f "^$BUILD/tests/mpi/engine_trouble sleeps-at-the-end"
}

@test "a job in which one sleeps long has not stalled, though a plan is watched for" {
    trouble step '"sleeps"' 'plan = function(p) p:hold { from = 1, to = 0, ms = 10 } end'
    [ "$status" -eq 0 ]
}

@test "a limit on memory, or on the size of files, is told; a full /dev/shm does not matter" {
    # shellcheck disable=SC2030,SC2031 # each in a shell of its own
    (ulimit -v 4000000 && trouble step '"forks"' && [ "$status" -eq 3 ] &&
        [[ "$output" == *"cannot start the ranks: no shared memory: Cannot allocate memory"* ]])
    (ulimit -f 4000000 && trouble step '"forks"' && [ "$status" -eq 3 ] &&
        [[ "$output" == *"cannot start the ranks: no shared memory: File too large"* ]])
    unshare -m true 2>/dev/null || skip "this user may not mount"
    leave_memory
    run unshare -m sh -c "mount -t tmpfs -o size=16k none /dev/shm &&
        head -c 16k /dev/zero >/dev/shm/full && '$FAULTLINE' run s.lua"
    echo "$output"
    [ "$status" -eq 0 ]
}

# Where a plan steers, Faultline waits inside MPI calls, too; that is no hurry, but a program is.
@test "a program that asks for long and goes on has not stalled, where a plan steers it" {
    printf 'scenario "asks" { protocol = "null", program = "%s", ranks = 2, engine = "step",
  arguments = { "asks-long" }, claims = { "H.progress" },
  plan = function(p) p:jitter { ms = 1 } end }\n' "$BUILD/tests/mpi/engine_trouble" >s.lua
    run -0 "$FAULTLINE" run --no-stacks --no-control s.lua
}

@test "a job has stalled in which one calls again and again what fails, while the others wait" {
    FAULTLINE_TRACE_LIMIT=1000 trouble step '"tries-for-ever"' 'timeout = 600'
    [ "$status" -eq 1 ]
    [[ "$output" == *' - "every live rank has only polled in vain'* ]]
}

@test "a job has not stalled in which one calls often what fails, and at times what does not" {
    trouble step '"fails-often"' 'timeout = 600'
    [ "$status" -eq 0 ]
}

@test "a job that only waits has stalled, whatever it calls meanwhile that concerns nobody else" {
    for how in '"idles"' '"idles", "rank 1 does not sleep"'; do
        trouble step "$how" 'timeout = 60'
        [ "$status" -eq 1 ]
        # By the engine; the driver says for how long.
        [[ "$output" == *' - "every live rank has only polled in vain"'* ]]
    done
    # In a run that is explored, too: it would else come to its time limit.
    sed -i 's/timeout = 60/timeout = 600/' s.lua
    run -1 "$FAULTLINE" explore --runs 1 s.lua
}
