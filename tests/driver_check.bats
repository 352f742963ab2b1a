#!/usr/bin/env bats
# `faultline check` and `faultline exec`.

bats_require_minimum_version 1.5.0

load driver_common

@test "check judges a stored run again and says the same" {
    scenario "bad end" '"exit"'
    run "$FAULTLINE" run s.lua
    sed -n '/^not ok/,/^  \.\.\./p' <<<"$output" | grep -v -e repro -e report: >a
    run "$FAULTLINE" check faultline-out/latest/1
    [ "$status" -eq 1 ]
    sed -n '/^not ok/,/^  \.\.\./p' <<<"$output" | grep -v -e repro -e report: >b
    cmp a b
}

@test "check works where there is no MPI, and after the folder was moved" {
    scenario "good" '"ok"'
    "$FAULTLINE" run s.lua
    cp -r faultline-out/latest/1 elsewhere
    rm -r faultline-out
    run env FAULTLINE_MPIEXEC=/nonexistent "$FAULTLINE" check -v elsewhere
    [ "$status" -eq 0 ]
    [[ "$output" == *"ok 1 - good"* ]]
}

@test "check reads what a run with as many words and variables as there may be has stored" {
    cat >s.lua <<END
local words, variables = { "true" }, {}
for i = 1, 64 do words[i], variables["V" .. i] = words[i] or "word", i end
scenario "most" { protocol = "null", program = "$LIFE", ranks = 2, claims = { "H.progress" },
  setup = words, restart = { arguments = words, environment = variables } }
END
    run -0 "$FAULTLINE" run s.lua
    run -0 "$FAULTLINE" check faultline-out/latest/1
    [[ "$output" == *"ok 1 - most"* ]]
    sed -i 's/1, 64/1, 65/' s.lua
    run -64 "$FAULTLINE" run s.lua
}

@test "check judges what exec recorded, by its traces alone" {
    "$FAULTLINE" exec --trace all -- mpiexec -n 2 "$LIFE" ok
    run "$FAULTLINE" check -v all
    [ "$status" -eq 0 ]
    [[ "$output" == *"ok 1 - recorded"*'"I.complete pass: 2 situations'* ]]
    [[ "$output" == *"finished after 1 incarnation: every rank came to its end"* ]]
    run "$FAULTLINE" exec --trace part -- mpiexec -n 2 "$LIFE" exit
    run "$FAULTLINE" check part
    [ "$status" -eq 2 ]
    [[ "$output" == *"did not come to the end of MPI_Finalize, and how it ended is not recorded"* ]]
    rm all/trace/r1.0.trace
    run "$FAULTLINE" check all
    [ "$status" -eq 3 ]
    [[ "$output" == *"not ok 1 - recorded # harness-error"* ]]
}

@test "check --claims judges others, and knows their names" {
    scenario "good" '"ok"'
    "$FAULTLINE" run s.lua
    run "$FAULTLINE" check -v --claims H.collective faultline-out/latest/1
    [ "$status" -eq 0 ]
    [[ "$output" == *"H.collective pass"* ]]
    run "$FAULTLINE" check --claims H.colective faultline-out/latest/1
    [ "$status" -eq 64 ]
    [[ "$output" == *'did you mean "H.collective"?'* ]]
}

@test "a claim is taken back from a family that is asked for" {
    scenario "good" '"ok"' # its claims are H
    sed -i 's/claims = { [^}]*}/claims = { "H", "-H.order" }/' s.lua
    grep -q '"-H.order"' s.lua
    "$FAULTLINE" run s.lua
    run "$FAULTLINE" check -v faultline-out/latest/1
    [ "$status" -eq 0 ]
    [[ "$output" == *"H.duplicate "* && "$output" != *"H.order "* ]]
    run "$FAULTLINE" check -v --claims H,-H.duplicate,H.order faultline-out/latest/1
    [[ "$output" == *"H.order "* && "$output" != *"H.duplicate "* ]]
    run "$FAULTLINE" check --claims=-H.order faultline-out/latest/1
    [ "$status" -eq 64 ]
    [[ "$output" == *'"-H.order" takes back what none before it asks for'* ]]
    run "$FAULTLINE" check --claims H.order,-H faultline-out/latest/1
    [ "$status" -eq 64 ]
    [[ "$output" == *'"-H" leaves no claim to be judged'* ]]
    run "$FAULTLINE" check --claims H,H.order,-H.order faultline-out/latest/1
    [ "$status" -eq 0 ]
    sed -i 's/claims = {/expect = { cover = { "H.order" } }, claims = {/' s.lua
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *'"claims" takes back H.order, which is promised'* ]]
    run "$FAULTLINE" check --claims H,-H.ordr faultline-out/latest/1
    [ "$status" -eq 64 ]
    [[ "$output" == *'did you mean "H.order"?'* ]]
}

@test "what is wrong with a run folder is named" {
    scenario "good" '"ok"'
    "$FAULTLINE" run s.lua
    run "$FAULTLINE" check nothing
    [ "$status" -eq 64 ]
    run "$FAULTLINE" check .
    [ "$status" -eq 64 ]
    [[ "$output" == *"there is no run.json"* ]]
    cp -rL faultline-out/latest/1 r
    sed -i 's/"ranks": 2/"ranks": "two"/' r/run.json
    run "$FAULTLINE" check r
    [ "$status" -eq 64 ]
    [[ "$output" == *'r/run.json: field "ranks" is not a number from 1 to'* ]]
    echo '{ "version": 2' >r/run.json
    run "$FAULTLINE" check r
    [ "$status" -eq 64 ]
    [[ "$output" == *"r/run.json:"* ]]
    cp faultline-out/latest/1/run.json r
    sed -i 's/"version": 2,/"version": 7,/' r/run.json
    run "$FAULTLINE" check r
    [ "$status" -eq 64 ]
    [[ "$output" == *"is of version 7, this command reads 2"* ]]
    cp faultline-out/latest/1/run.json r
    echo 'kill victims=1 evnt=send' >r/plan
    run "$FAULTLINE" check r
    [ "$status" -eq 64 ]
    cp faultline-out/latest/1/plan r
    echo nonsense >r/trace/r0.0.trace
    run "$FAULTLINE" check r
    [ "$status" -eq 3 ]
    [[ "$output" == *"r0.0.trace"* ]]
    rm -r r/trace
    run "$FAULTLINE" check r
    [ "$status" -eq 3 ]
}

@test "exec records a job that the command starts, and forwards its status" {
    run "$FAULTLINE" exec --trace here -- mpiexec -n 2 "$LIFE" ok
    [ "$status" -eq 0 ]
    [[ "$output" == *"rank 1 lives: ok"* ]]
    [[ "$output" == *"2 traces in $PWD/here"* ]]
    [ -s here/trace/r0.0.trace ] && [ -s here/trace/r1.0.trace ]
    run "$FAULTLINE" exec -- sh -c 'exit 7'
    [ "$status" -eq 7 ]
    [[ "$output" == *"no MPI process was recorded"* ]]
    [ -d faultline-out/exec-1 ]
    run "$FAULTLINE" exec -- sh -c 'kill -SEGV $$'
    [ "$status" -eq 139 ]
    [ -d faultline-out/exec-2 ]
    run -127 "$FAULTLINE" exec -- ./nothing
    [ "$status" -eq 127 ]
    run "$FAULTLINE" exec
    [ "$status" -eq 64 ]
    run "$FAULTLINE" exec --trace here -- true
    [ "$status" -eq 64 ]
}

# In `run` the same sentence stands after "deadlock".
@test "exec ends a deadlocked job, says who waits for whom, and has a status of its own" {
    local waits="every live rank is blocked and nothing is in flight; \
rank 0 waits in MPI_Recv for a message from rank 1, tag 7; \
rank 1 waits in MPI_Recv for a message from rank 0, tag 7"
    run -122 "$FAULTLINE" exec --trace here -- sh -c "mpiexec -n 2 '$LIFE' deadlock; echo on"
    [[ "$output" == *"faultline: deadlock: $waits"*"call stacks are in $PWD/here/stacks.txt"* ]]
    [[ "$output" != *$'\non\n'* ]]
    grep -q 'deadlock at driver_life.c' here/stacks.txt
    all_gone
    run mpiexec -n 2 "$FAULTLINE" exec --trace inside -- "$LIFE" deadlock
    [ "$status" -ne 0 ]
    [[ "$output" == *"faultline: deadlock: $waits"* ]]
    wait_until all_gone
}

@test "exec takes no job for deadlocked that waits for what it does not see, or is slow" {
    local slow="'$BUILD/tests/mpi/exec_waits' slow" hidden="env FAULTLINE_RANK=1024"
    run -0 "$FAULTLINE" exec -- sh -c "mpiexec -n 2 $slow 1"
    [[ "$output" == *"rank 0 got 42"* ]]
    run -0 "$FAULTLINE" exec -- sh -c "mpiexec -n 1 $slow 1 : -n 1 env FAULTLINE_RECORD=0 $slow 1"
    [[ "$output" == *"rank 0 got 42"*"1 trace in"* ]]
    # Two jobs, of each of which one rank is recorded: together they look like one deadlocked job.
    run -0 "$FAULTLINE" exec -- sh -c "mpiexec -n 1 $slow 1 : -n 1 $hidden $slow 1 >one & \
mpiexec -n 1 $hidden $slow 0 : -n 1 $slow 0; wait; cat one"
    [[ "$output" == *"rank 1 got 42"*"rank 0 got 42"*"2 traces in"* ]]
    run "$FAULTLINE" exec -- mpiexec -n 2 "$BUILD/tests/mpi/exec_waits" stopped
    [ "$status" -ne 122 ]
    [[ "$output" != *"faultline: deadlock"* ]]
}

@test "exec inside a job, started by the launcher" {
    run mpiexec -n 2 "$FAULTLINE" exec --trace here -- "$LIFE" ok
    [ "$status" -eq 0 ]
    [[ "$output" == *"rank 0 lives: ok"* ]]
    [ -s here/trace/r0.0.trace ] && [ -s here/trace/r1.0.trace ]
    run mpiexec -n 2 "$FAULTLINE" exec -- "$LIFE" ok
    [ "$status" -eq 0 ]
    [ "$(ls faultline-out/exec-launcher-*/trace | wc -l)" -eq 2 ]
    run mpiexec -n 1 "$FAULTLINE" exec --trace there -- sh -c 'exit 7'
    [ "$status" -eq 7 ]
    # How it ends is asked of its parent: the launcher itself sometimes dies of SIGPIPE when a rank is
    # killed, also without Faultline. 9 and 11: by these signals, whether or not there is a core.
    for signal in 9 11; do
        run -0 mpiexec -n 1 perl -e 'open(my $out, ">", "ended"); print $out 127 & system(@ARGV)' \
            "$FAULTLINE" exec --trace "there.$signal" -- sh -c "kill -$signal \$\$"
        [ "$(cat ended)" -eq "$signal" ] || { echo "$(cat ended) $output" && return 1; }
    done
}
