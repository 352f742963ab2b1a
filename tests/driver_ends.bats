#!/usr/bin/env bats
# Nothing is left behind, whatever happens: the processes are known by the numbers that the ranks
# themselves wrote down.

bats_require_minimum_version 1.5.0

load driver_common

started_or_ended() {
    started "$@" || ! kill -0 "$DRIVER"
}

# begin HOW FILE...: a run in the background, under way when the ranks have written these files.
begin() {
    scenario "lives" "$1" 'timeout = 3600'
    shift
    env --default-signal=INT,TERM "$FAULTLINE" run s.lua >tap 2>err 3>&- &
    DRIVER=$!
    wait_until started_or_ended "$@"
    started "$@"
}

child_of() {
    tr -d ' ' <"/proc/$1/task/$1/children"
}

@test "Ctrl-C: every process ended, the report written, ended by the signal" {
    begin '"spin"' pid.0 pid.1
    kill -INT "$DRIVER"
    status=0; wait "$DRIVER" || status=$?
    [ "$status" -eq 130 ]
    all_gone
    grep -q "^ok 1 - lives # SKIP cut off by the user: interrupted by SIGINT" tap
    grep -q "why:" tap && grep -q -- "- \"interrupted by SIGINT\"" tap
    grep -q "^Bail out! interrupted by SIGINT" tap
    [ -s faultline-out/latest/1/verdict.json ]
    [ -s faultline-out/latest/results.json ]
}

# shared_memory_is_gone COMMAND...: of the MPI library, when the command, which is to end a run with
# some, has been given; that of the program is still there.
shared_memory_is_gone() {
    wait_until test "$(wc -l <faultline-out/latest/1/store/shared.1)" -eq 3
    mapfile -t made <faultline-out/latest/1/store/shared.1
    ls "${made[@]}"
    "$@"
    status=0; wait "$DRIVER" || status=$?
    [ ! -e "${made[0]}" ]
    [ ! -e "${made[1]}" ]
    rm "${made[2]}"
}

@test "Ctrl-C: shared memory of the MPI library is taken away, that of the program is not" {
    begin '"shared-memory"' pid.0 shared.1
    shared_memory_is_gone kill -INT "$DRIVER"
    [ "$status" -eq 130 ]
}

@test "kill -9 of the process that looks after a run: shared memory is taken away then, too" {
    begin '"shared-memory"' pid.0 shared.1
    shared_memory_is_gone kill -9 "$(child_of "$DRIVER")"
    [ "$status" -eq 3 ]
    all_gone
}

under_way() {
    [ -s "faultline-out/latest/$1/store/pid.0" ] && [ -s "faultline-out/latest/$1/store/pid.1" ]
}

@test "kill -9 of the process that looks after one of three runs leaves the two others alone" {
    local run first
    for run in 1 2 3; do scenario "number $run" '"spin"' 'timeout = 3600'; done
    env --default-signal=INT,TERM "$FAULTLINE" run -j 3 s.lua >tap 2>err 3>&- &
    DRIVER=$!
    for run in 1 2 3; do wait_until under_way "$run"; done
    # The ranks are its grandchildren: its children are as old as their runs.
    first=$(pgrep -o -P "$DRIVER" -x faultline)
    kill -9 "$first"
    wait_until grep -q '^not ok 1 - number 1 # harness-error' tap
    kill -INT "$DRIVER"
    status=0; wait "$DRIVER" || status=$?
    [ "$status" -eq 130 ]
    [ "$(grep -c '# SKIP cut off by the user' tap)" -eq 2 ]
    all_gone
}

@test "SIGTERM does the same" {
    begin '"spin"' pid.0 pid.1
    kill -TERM "$DRIVER"
    status=0; wait "$DRIVER" || status=$?
    [ "$status" -eq 143 ]
    all_gone
}

over_or_repeated() {
    [ "$(wc -l <child.again)" -gt 1 ] || ! kill -0 "$DRIVER"
}

@test "SIGTERM while a run that has failed is repeated: no other repetition is begun" {
    printf '#!/bin/sh\nmkdir %s/failed 2>/dev/null && exec %s exits-early 3
echo $$ >>%s/child.again; exec sleep 3600\n' \
        "$PWD" "$BUILD/tests/mpi/engine_trouble" "$PWD" >fails-once
    chmod +x fails-once
    echo "scenario 'fails' { protocol = 'null', program = './fails-once', ranks = 1, engine = 'step',
      claims = { 'H.progress' }, timeout = 3600 }" >s.lua
    env --default-signal=INT,TERM "$FAULTLINE" run s.lua >tap 2>err 3>&- &
    DRIVER=$!
    wait_until test -s child.again
    kill -TERM "$DRIVER"
    wait_until over_or_repeated
    [ "$(wc -l <child.again)" -eq 1 ]
    status=0; wait "$DRIVER" || status=$?
    cat tap
    [ "$status" -eq 143 ]
    all_gone
    grep -q "^not ok 1 - fails # H.progress" tap
}

@test "ranks that hang in a signal handler are gone after Ctrl-C" {
    begin '"handler"' pid.0 pid.1
    kill -INT "$DRIVER"
    status=0; wait "$DRIVER" || status=$?
    all_gone
}

@test "children of ranks, deaf and in sessions of their own, are gone after Ctrl-C" {
    begin '"fork-spin"' pid.0 pid.1 child.0 child.1
    kill -INT "$DRIVER"
    status=0; wait "$DRIVER" || status=$?
    all_gone
}

@test "a child that a rank leaves behind is ended, and the run passes" {
    scenario "lives" '"fork"'
    "$FAULTLINE" run s.lua
    [ -s faultline-out/latest/1/store/child.1 ]
    all_gone
    rm -r faultline-out
    "$FAULTLINE" run --engine step s.lua
    [ -s faultline-out/latest/1/store/child.1 ]
    all_gone
}

@test "kill -9 of the driver leaves nothing" {
    begin '"fork-spin"' pid.0 pid.1 child.0 child.1
    kill -9 "$DRIVER"
    status=0; wait "$DRIVER" || status=$?
    wait_until all_gone
}

@test "kill -9 of the process that looks after a run: a harness error, and nothing left" {
    begin '"fork-spin"' pid.0 pid.1 child.0 child.1
    kill -9 "$(child_of "$DRIVER")"
    status=0; wait "$DRIVER" || status=$?
    [ "$status" -eq 3 ]
    all_gone
    grep -q "the process that ran it was ended by SIGKILL" tap
}

@test "kill -9 of the launcher: void, a harness error, and nothing left" {
    begin '"fork-spin"' pid.0 pid.1 child.0 child.1
    kill -9 "$(child_of "$(child_of "$DRIVER")")"
    status=0; wait "$DRIVER" || status=$?
    [ "$status" -eq 3 ]
    all_gone
    grep -q "^not ok 1 - lives # harness-error" tap
}

@test "the time limit ends a livelock, says so, and shows where the ranks were" {
    scenario "lives" '"spin"' 'timeout = 10'
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"time-limit after 1 incarnation: still running after 10 s"* ]]
    [[ "$output" == *"stacks:"* ]]
    [ -s faultline-out/latest/1/stacks.txt ]
    all_gone
}

@test "a job that only polls is ended before its time, unless another thread of a rank computes" {
    scenario "polls" '"poll"' 'timeout = 20'
    scenario "polls and draws" '"poll-and-draw"' 'timeout = 20'
    scenario "may compute" '"poll-beside-thread"' 'timeout = 6'
    run "$FAULTLINE" run -j 2 s.lua
    [ "$status" -eq 1 ]
    [ "$(grep -c '  end: .*for 5 s every live rank has only polled in vain' <<<"$output")" -eq 2 ]
    [[ "$output" == *"still running after 6 s"* ]]
    all_gone
}

@test "--timeout is for scenarios that say nothing" {
    scenario "lives" '"spin"'
    run "$FAULTLINE" run --timeout 3 s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"still running after 3 s"* ]]
    run "$FAULTLINE" run --timeout nonsense s.lua
    [ "$status" -eq 64 ]
}

@test "a deadlock is seen at once, with the cycle and the call stacks" {
    scenario "lives" '"deadlock"' 'timeout = 300'
    run timeout 120 "$FAULTLINE" run s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"deadlock after 1 incarnation"* ]]
    [[ "$output" == *"rank 0 waits in MPI_Recv for a message from rank 1, tag 7"* ]]
    [[ "$output" == *"deadlock"*"main"* ]]
    # Frames of MPI and of Faultline are counted, but for the function of MPI that was called; TAP has
    # neither.
    grep -qE '^ +\.\.\. [0-9]+ of MPI$' faultline-out/latest/1/stacks.txt
    grep -qE '^ +\.\.\. [0-9]+ of Faultline$' faultline-out/latest/1/stacks.txt
    [ "$(grep -cE ' P?MPI_Recv \(libmp' faultline-out/latest/1/stacks.txt)" -eq 2 ]
    [ "$(grep -cE '\((libmp|libc\.)' faultline-out/latest/1/stacks.txt)" -eq 2 ]
    run ! grep -qE '\.\.\. [0-9]+ of (MPI|Faultline)|\(libmp|main thread' faultline-out/latest/1/tap
    all_gone
}

@test "a deadlock is seen at once in a later life, too, of a rank that was killed in the first" {
    scenario "again" '"ok"' 'timeout = 300, restart = { arguments = { "deadlock" } },
        plan = function(p) p:kill { rank = 1, event = "collective" } end'
    run timeout 120 "$FAULTLINE" run --no-control s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"deadlock after 2 incarnations"* ]]
    all_gone
}
