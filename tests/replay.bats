#!/usr/bin/env bats
# `faultline replay`: decisions kept, imposed, and what is said when they cannot be followed.

bats_require_minimum_version 1.5.0
load driver_common

# race [FIELDS]: a scenario with a program that never does the same twice.
race() {
    printf 'scenario "race" { protocol = "null", program = "%s", ranks = 3, arguments = { 40 %s },
  claims = { "H.progress" } }\n' "$BUILD/tests/mpi/replay_race" "${1:-}" >s.lua
}

# What the ranks of a run declared, in its last incarnation.
declared() {
    "$FAULTLINE" trace "$1" | grep -o 'result "seen".*hash [0-9a-f]*' | sort
}

@test "a race is replayed 20 times of 20; run again without that it is never the same" {
    race
    "$FAULTLINE" run --keep s.lua
    declared faultline-out/latest/1 >first
    [ -s first ]
    cp -r faultline-out/latest/1 kept
    "$FAULTLINE" run s.lua --repeat 5
    for run in faultline-out/latest/[1-5]; do
        declared "$run"
    done | sort -u >again
    [ "$(wc -l <again)" -gt "$(wc -l <first)" ]
    "$FAULTLINE" replay kept --repeat 20 | tee tap
    grep -qx "# kept: replayed 20/20" tap
    prove --exec cat tap
    for run in faultline-out/latest/*/; do
        declared "$run" | cmp - first
    done
}

@test "what did not pass is kept, with no option asked for, and its repro line says so" {
    scenario "bad end" '"exit"'
    run "$FAULTLINE" run s.lua
    folder=$(sed -n 's/^ *repro: "faultline replay \(.*\)"/\1/p' <<<"$output")
    [[ "$folder" == "faultline-out/"* ]]
    run -0 "$FAULTLINE" replay "$folder"
    [[ "$output" == *"ok 1 - bad end: H.progress "* ]]
    [[ "$output" == *"replayed 1/1"* ]]
}

@test "broken variants fail in the same way, in a fresh process: kills, holds, a lost store" {
    "$FAULTLINE" run --keep -j2 "$REPO/suites/blocking/broken.lua" "$REPO/suites/c3/broken.lua" \
        --shard 1/3
    run -0 "$FAULTLINE" replay -j2 --out again faultline-out/latest/[0-9]*
    [ "$(grep -c '^ok' <<<"$output")" -ge 6 ]
    run ! grep -A 12 "^not ok" <<<"$output"
}

# Its ranks wait for each other in memory that they share, which is told with faultline_drawn; which
# line others have begun meanwhile hangs on clocks, and is no part of what the failure is.
@test "a program that waits in shared memory is replayed, and fails in the same way" {
    "$FAULTLINE" run --keep "$REPO/suites/c3/as_published.lua" \
        --filter 'figure 5: data from beyond the stop-log line to before it'
    cp -r faultline-out/latest/1 first
    cp -r faultline-out/latest/1 second
    run -0 "$FAULTLINE" replay --repeat 3 faultline-out/latest/1
    [[ "$output" == *"# faultline-out/latest/1: replayed 3/3"* ]]
    # The plan of two runs is for all their repetitions.
    run -0 "$FAULTLINE" replay --repeat 2 first second
    prove --exec cat <(echo "$output")
    [ "$(grep -c '^ok' <<<"$output")" -eq 4 ]
}

# No answer of MPI_Request_get_status is imposed: what the protocol asks of the library inside it is.
@test "a program that asks MPI_Request_get_status on the step engine is replayed under mpiexec" {
    cat >s.lua <<'END'
scenario "asks" {
    protocol = "c3", program = "drawn", ranks = 3, claims = { "H" }, environment = { C3_EVERY = 3 },
    arguments = { "--seed", 1, "--iterations", 30, "--size", 8, "--inter", 0, "--cancels", 0,
                  "--nonblocking", 0, "--persistent-collectives", 0 },
}
END
    "$FAULTLINE" run --keep --engine step s.lua
    for rank in 0 1 2; do
        "$FAULTLINE" trace --level app --rank $rank faultline-out/latest/1
    done | grep -q 'MPI_Request_get_status.*not complete'
    "$FAULTLINE" replay --engine mpiexec faultline-out/latest/1 | grep 'replayed 1/1'
}

# polled CALL ANSWER PLAN: such a run of steer_answers, and its replay: the same answers are given, as often.
polled() {
    printf 'scenario "polled" { protocol = "null", program = "%s", ranks = 2, arguments = { "%s", "%s" },
  claims = { "I" }, plan = function(p) %s end }' "$BUILD/tests/mpi/steer_answers" "$1" "$2" "$3" >s.lua
    "$FAULTLINE" run --keep --no-control s.lua
    "$FAULTLINE" replay --out again faultline-out/latest/1
    for run in faultline-out again; do
        "$FAULTLINE" trace --rank 0 "$run/latest/1" | grep -oE ' answered .*| MPI_Testsome .*: .*request.*' >"$run.txt"
    done
    cmp faultline-out.txt again.txt
}

@test "a poll that the plan answers once is not answered in the replay as often as the library said no" {
    polled test late 'p:answer { rank = 0, call = "MPI_Test", answer = false }'
    [ "$(grep -c answered again.txt)" -eq 1 ]
}

@test "a poll that completes some requests after it has said no completes the same in the replay" {
    polled testsome some 'p:answer { rank = 0, call = "MPI_Testsome", answer = false, times = 2 }
        p:answer { rank = 0, call = "MPI_Testsome", answer = { 2, 0 } }'
    [ "$(grep -c answered again.txt)" -eq 3 ]
}

@test "one outcome changed in the decisions: the divergence is named" {
    race
    "$FAULTLINE" run --keep s.lua
    "$BUILD/tests/replay.t" faultline-out/latest/1/decisions
    run -2 "$FAULTLINE" replay faultline-out/latest/1
    [[ "$output" == *"not ok 1 - race: nothing found # diverged"* ]]
    [[ "$output" == *"why: \"r0#0: event "*": expected MPI_"*", which gets that of "*"; got MPI_"* ]]
}

@test "a rank that dies of a signal of its own does so again in the replay" {
    local how
    for how in segv divide; do
        rm -f s.lua
        scenario "$how" "\"$how\""
        run -1 "$FAULTLINE" run --no-stacks --no-control s.lua
        "$FAULTLINE" replay faultline-out/latest/1 | tee tap
        grep -q 'replayed 1/1$' tap
    done
}

@test "several runs: each repetition has a folder, and the worst result is the status" {
    race
    "$FAULTLINE" run --keep s.lua
    cp -r faultline-out/latest/1 changed
    "$BUILD/tests/replay.t" changed/decisions
    run -2 "$FAULTLINE" replay --repeat 2 changed faultline-out/latest/1
    echo "$output" >tap
    prove --exec cat tap || [ $? -eq 1 ]
    [ "$(grep -oE '^(not )?ok [0-9]+' tap)" = $'not ok 1\nnot ok 2\nok 3\nok 4' ]
    [ "$(cd faultline-out/latest && echo [0-9]*)" = '1 2 3 4' ]
    declared changed >first
    for run in 3 4; do
        declared "faultline-out/latest/$run" | cmp - first
    done
}

@test "a program that changed: warned, and it diverges where it does something else" {
    race ', "break"'
    cp "$BUILD/tests/mpi/replay_race" program
    sed -i "s|$BUILD/tests/mpi/replay_race|$PWD/program|" s.lua
    "$FAULTLINE" run --keep s.lua
    printf 'x' >>program
    run -2 "$FAULTLINE" replay faultline-out/latest/1
    [[ "$output" == *"the program $PWD/program is not what it was when the run was recorded"* ]]
    [[ "$output" == *"got MPI_Barrier, on self"* ]]
}

@test "an MPI library that changed: warned, and replayed all the same" {
    local library
    scenario "ok" '"ok"'
    "$FAULTLINE" run --keep --no-control --out recorded s.lua
    run -0 "$FAULTLINE" replay recorded/latest/1
    [[ "$output" != *"the MPI library"* ]]
    mkdir other
    library=$(ldd "$LIFE" | awk '$1 ~ /^libmpi/ { print $3; exit }')
    cp -L "$library" other/
    printf 'x' >>"other/${library##*/}"
    run -0 env LD_LIBRARY_PATH="$PWD/other" "$FAULTLINE" replay recorded/latest/1
    [[ "$output" == *"the MPI library is not what it was when the run was recorded"* ]]
    [[ "$output" == *": replayed 1/1"* ]]
}

@test "a replay that leaves its path before MPI_Init says nothing of the MPI library" {
    race ', "early"'
    "$FAULTLINE" run --keep s.lua
    run -2 "$FAULTLINE" replay faultline-out/latest/1
    [[ "$output" == *": event 0: expected MPI_Init_thread"*"; got MPI_Initialized"* ]]
    [[ "$output" != *"the MPI library"* ]]
}

@test "threads that call MPI at once are refused by name" {
    race ', "threads"'
    "$FAULTLINE" run --keep s.lua
    run -2 "$FAULTLINE" replay faultline-out/latest/1
    [[ "$output" == *"the program asks for MPI_THREAD_MULTIPLE"* ]]
}

@test "bad input: no run, no decisions, damaged, another version; nothing is launched" {
    race
    "$FAULTLINE" run --keep s.lua
    run -64 "$FAULTLINE" replay nowhere
    cp -r faultline-out/latest/1 run
    rm -rf faultline-out
    rm run/decisions
    run -64 "$FAULTLINE" replay run
    [[ "$output" == *"run: there are no decisions to follow"* ]]
    race
    "$FAULTLINE" run --keep s.lua
    cp faultline-out/latest/1/decisions good
    mv faultline-out kept
    head -c 1000 good >run/decisions
    run -64 "$FAULTLINE" replay run
    [[ "$output" == *"decisions is damaged: it has 1000 bytes"* ]]
    { head -c 2000 good; printf 'XXXX'; tail -c +2005 good; } >run/decisions
    run -64 "$FAULTLINE" replay run
    [[ "$output" == *"decisions is damaged: its checksum is wrong"* ]]
    { head -c 8 good; printf '\77'; tail -c +10 good; } >run/decisions
    run -64 "$FAULTLINE" replay run
    [[ "$output" == *"decisions is of version 63, this command reads 2"* ]]
    : >run/decisions
    run -64 "$FAULTLINE" replay run
    [[ "$output" == *"decisions is empty"* ]]
    [ ! -e faultline-out ]
}

@test "a run in one file is replayed in another place" {
    race
    "$FAULTLINE" run --keep s.lua
    declared faultline-out/latest/1 >first
    "$FAULTLINE" export faultline-out/latest/1 --output run.tar.zst
    rm -rf faultline-out s.lua
    mkdir elsewhere
    cd elsewhere
    run -0 "$FAULTLINE" replay --trust ../run.tar.zst
    [[ "$output" == *"replayed 1/1"* ]]
    declared faultline-out/latest/1 | cmp - ../first
}

# stranger: foreign.zst, packed elsewhere: its program leaves the file `ran` after, its environment
# steers a terminal.
stranger() {
    printf '#!/bin/sh\necho "$1" >>%s/ran\nexec %s ok\n' "$PWD" "$LIFE" >tool
    chmod +x tool
    LIFE=$PWD/tool scenario theirs '"a b"' 'environment = { HIDDEN = "\27[2K" }'
    "$FAULTLINE" run --keep --out elsewhere s.lua
    "$FAULTLINE" export elsewhere/latest/1 -o foreign.zst
    rm ran
}

# answered ANSWER: the replay at a terminal, where this is typed; words in the file said.
answered() {
    echo "$1" | script -qec "$FAULTLINE replay foreign.zst" /dev/null >said
}

@test "a foreign archive is told and refused without a terminal, and nothing of it is run" {
    stranger
    run -64 --separate-stderr "$FAULTLINE" replay foreign.zst </dev/null
    [[ "$stderr" == *"  program: $PWD/tool"*"  argument: a b"*"  protocol: "*null.so* ]]
    [[ "$stderr" == *'  environment: HIDDEN=\x1b[2K'*"foreign.zst: not run: "*"--trust"* ]]
    [ ! -e ran ] && [ ! -e faultline-out ]
    run -0 --separate-stderr "$FAULTLINE" replay --trust foreign.zst </dev/null
    [[ "$stderr" == *"  program: $PWD/tool"* ]]
    [ -s ran ]
}

@test "a foreign archive is run after a yes at the terminal alone" {
    stranger
    for no in "" n maybe; do
        run -64 answered "$no"
        grep -q 'foreign.zst: not run' said
        [ ! -e ran ] && [ ! -e faultline-out ]
    done
    answered yes
    grep -q 'replayed 1/1' said
    [ -s ran ]
}

@test "an archive of a run that still stands here is not asked about, one that differs is" {
    stranger
    rm -rf keep && cp -r "$(readlink -f elsewhere/latest)" keep
    run -0 --separate-stderr "$FAULTLINE" replay --out elsewhere foreign.zst </dev/null
    [ -z "$stderr" ]
    for part in run.json plan decisions; do
        rm -rf elsewhere
        mkdir elsewhere
        cp -r keep elsewhere/copy
        run -0 --separate-stderr "$FAULTLINE" replay --out elsewhere foreign.zst </dev/null
        [ -z "$stderr" ]
        rm ran
        echo >>"elsewhere/copy/1/$part"
        run -64 "$FAULTLINE" replay --out elsewhere foreign.zst </dev/null
        [ ! -e ran ]
    done
}

@test "packing and unpacking: what is missing, foreign or cut is refused" {
    race
    "$FAULTLINE" run --keep s.lua
    cp -r faultline-out/latest/1 run
    run -0 "$FAULTLINE" export run -o good
    rm run/decisions
    run -64 "$FAULTLINE" export run -o none
    [ ! -e none ] && [ ! -e none.new ]
    head -c 200 good >short.zst
    run ! "$FAULTLINE" replay short.zst
    [[ "$output" == *"faultline: short.zst: "* ]]
    echo "no archive" >text
    run -64 "$FAULTLINE" replay text
    mkdir -p foreign/sub
    echo x >outside
    (cd foreign/sub && tar --zstd -Pcf ../../bad ../../outside)
    run -64 "$FAULTLINE" replay bad
    [[ "$output" == *"bad is no packed run: it holds \"../../outside\""* ]]
}
