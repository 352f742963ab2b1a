#!/usr/bin/env bats
# What `faultline run` says at its end of what was covered, what a file promises by `cover`, and the
# control run of a violation.

bats_require_minimum_version 1.5.0
load driver_common

# covers WHAT: s.lua promises it, and has a run with a kill of rank 1.
covers() {
    {
        echo "cover { $1 }"
        printf 'scenario "one" { protocol = "blocking", program = "ring", ranks = 2,
          claims = { "H", "B" }, plan = function(p)
            p:kill { rank = 1, event = "phase", name = "blocking:mid-write", nth = 2 }
          end }\n'
    } >s.lua
}

@test "a run ends with what it covered, a promise that is kept is a test" {
    covers '"H.order", "B", { fault = "kill", role = "participant", phase = "blocking:mid-write" }'
    run "$FAULTLINE" run --junit j.xml --json r.json s.lua
    [ "$status" -eq 0 ]
    [[ "$output" == *"1..2"* ]]
    [[ "$output" == *"ok 2 - s.lua covers what it promises"* ]]
    [[ "$output" == *"# coverage of 1 run"* ]]
    [[ "$output" =~ "#   B.empty "\ +[1-9][0-9]*" situations in 1 run, 0 violations" ]]
    [[ "$output" == *"#   kill, participant: blocking:mid-write 1"* ]]
    [[ "$output" == *"# holes: H.synchronous, H.collective"* ]]
    echo "$output" >tap
    prove --exec cat tap
    grep -q 'tests="2" failures="0" errors="0"' j.xml
    [ "$(grep -c '"result":"pass"' r.json)" -eq 2 ]
    grep -q '"phase": "blocking:mid-write"' faultline-out/latest/coverage.json
}

@test "a hole fails the run: TAP, exit status 2, JUnit, JSON; said what was needed" {
    covers '"H", { fault = "kill", role = "initiator" }'
    run "$FAULTLINE" run --junit j.xml --json r.json s.lua
    [ "$status" -eq 2 ]
    [[ "$output" == *"ok 1 - one"* ]]
    [[ "$output" == *"not ok 2 - s.lua covers what it promises # vacuous"* ]]
    [[ "$output" == *"H.collective: no run had a collective on a communicator"* ]]
    [[ "$output" == *"fault=kill role=initiator: no run had it"* ]]
    [[ "$output" != *"H.order: no run"* ]]
    grep -q 'tests="2" failures="0" errors="1"' j.xml
    grep -q '"name":"s.lua covers what it promises".*"result":"error","verdict":"vacuous"' r.json
}

@test "a scenario that finds what it expects, but not the situation it promises, is vacuous" {
    expecting() {
        echo 'scenario "one" { protocol = "blocking-no-barrier", program = "tally", ranks = 3,
          arguments = { "--slow-us", 10000 }, claims = { "B" },
          expect = { violates = "B.empty"'"$1"' } }' >s.lua
        run --separate-stderr "$FAULTLINE" run --no-stacks s.lua
    }
    expecting ''
    [ "$status" -eq 0 ]
    expecting ', cover = { "H.collective" }'
    [ "$status" -eq 2 ]
    [[ "$output" == *"not ok 1 - one # vacuous"*"promises the situation of H.collective, and it never arose"* ]]
}

@test "matrices of regions: every cell of a table, and what cannot be" {
    echo 'scenario "one" { protocol = "c3", program = "ring", ranks = 2, claims = { "C" } }' >s.lua
    run -0 "$FAULTLINE" run s.lua
    [[ "$output" == *"# C.cell"*"# "*"before"*"logging"*"beyond"* ]]
    [[ "$output" =~ "#   before "\ +[1-9][0-9]*\ +[0-9]+\ +"-" ]]
}

@test "a promise is not judged where not all of the file is run" {
    covers '"C"'
    echo 'scenario "two" { protocol = "null", program = "ring", ranks = 2, claims = { "H" } }' >>s.lua
    run "$FAULTLINE" run --filter two s.lua
    [ "$status" -eq 0 ]
    [[ "$output" != *"promises"* ]]
    { echo 'cover { "C" }' && tail -n 1 s.lua; } >whole.lua
    run -2 "$FAULTLINE" run --filter two s.lua whole.lua
    [[ "$output" == *"whole.lua covers what it promises # vacuous"* ]]
    [[ "$output" != *" s.lua covers"* ]]
}

@test "what cannot be promised is named before anything is launched" {
    covers '"H.ordr"'
    run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *"s.lua:1: cover: there is no claim \"H.ordr\" (did you mean \"H.order\"?)"* ]]
    covers '{ fault = "kil" }'
    run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *"s.lua:1"*"did you mean \"kill\"?"* ]]
    covers '{ role = "initiator" }'
    run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *"field \"fault\" is missing"* ]]
    covers ''
    run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *"cover: 1 to "*" entries are expected, not 0"* ]]
    [ ! -e faultline-out ]
}

@test "control run: with the faults alone, or without them too" {
    scenario "needs it" '"ok"' 'max_incarnations = 1,
      plan = function(p) p:kill { rank = 1, event = "collective" } end'
    scenario "fails anyway" '"exit"' \
        'plan = function(p) p:kill { rank = 1, event = "send", nth = 99 } end'
    scenario "no faults" '"exit"'
    run -1 "$FAULTLINE" run --junit j.xml --json r.json s.lua
    [ "$(grep -c 'control: ' <<<"$output")" -eq 2 ]
    [[ "$output" == *'control: "passes without faults"'*'control: "fails without faults too"'* ]]
    grep -q '"text": "passes without faults"' faultline-out/latest/1/verdict.json
    grep -q '"text": "fails without faults too"' faultline-out/latest/2/verdict.json
    grep -q '"control": null' faultline-out/latest/3/verdict.json
    grep -q 'control: passes without faults' j.xml
    [ "$(grep -c '"control":"' r.json)" -eq 2 ]
    grep -q 'Control run</a>: .*fails without faults too' faultline-out/latest/2/report.html
    "$FAULTLINE" report --text faultline-out/latest/1 >text
    grep -q 'Control: .*passes without faults' text
    run -1 "$FAULTLINE" check faultline-out/latest/1
    [[ "$output" == *'control: "passes without faults"'* ]]
    run -0 "$FAULTLINE" check faultline-out/latest/1/control
    run -1 "$FAULTLINE" check faultline-out/latest/2/control
    run -1 "$FAULTLINE" run --no-control s.lua
    [[ "$output" != *"control: "* ]]
    [ ! -e faultline-out/latest/1/control ]
    all_gone
}

@test "control run: its results are held against those of the program without the protocol" {
    mkdir protocols
    ln -s "$BUILD"/protocols/* protocols/
    cp "$BATS_TEST_DIRNAME/../suites/protocols/null/null.c" wrong.c
    cat >>wrong.c <<'C'
#include <mpi.h>

EXPORTED int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                      MPI_Status *status)
{
    int error = PMPI_Recv(buffer, count, type, source, tag, comm, status);
    ((char *)buffer)[8] ^= 1;
    return error;
}
C
    mpicc.mpich -shared -fPIC -I"$BATS_TEST_DIRNAME/../suites/programs" \
        -I"$BATS_TEST_DIRNAME/../harness" -o protocols/libwrong.so wrong.c
    echo 'scenario "one" { protocol = "wrong", program = "ring", ranks = 2, claims = { "H.result" },
      plan = function(p) p:kill { rank = 1, event = "send", nth = 2 } end }' >s.lua
    FAULTLINE_PROTOCOLS=$PWD/protocols run -1 "$FAULTLINE" run s.lua
    [[ "$output" == *"not ok 1 - one # H.result"*'control: "fails without faults too"'* ]]
}
