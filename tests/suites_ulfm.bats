#!/usr/bin/env bats
# The suites of ULFM: the step engine does what family U asks of an MPI library.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "ulfm: every claim has its situation: revocations, repairs, several deaths, two communicators" {
    passes 49 "$ROOT/suites/ulfm/claims.lua"
}

@test "ulfm: what an MPI library is known not to keep, the engine does" {
    passes 3 "$ROOT/suites/ulfm/mpich.lua"
    passes 4 "$ROOT/suites/ulfm/openmpi.lua"
}

@test "ulfm: a member dies before, inside and after every kind of call" {
    passes 618 "$ROOT/suites/ulfm/calls.lua"
}

@test "survivors: a step that there is not is refused, and those that there are are named" {
    run "$FAULTLINE" exec --engine step -n 2 -- "$BUILD/programs/survivors" barier
    echo "$output"
    [ "$status" -eq 64 ]
    [[ $output == *"barier is no step; there are: send "* ]]
}

@test "examples/ulfm: the program hangs in some runs, the mended one passes 50" {
    cp -r "$ROOT/examples/ulfm" "$BATS_TEST_TMPDIR/own"
    cd "$BATS_TEST_TMPDIR/own"
    make FAULTLINE="$ROOT" all
    run "$FAULTLINE" run --repeat 50 --filter mended --out mended deaths.lua
    echo "$output"
    [ "$status" -eq 0 ]
    run "$FAULTLINE" run --until-failure --filter sums --out found deaths.lua
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"waits in MPI_Finalize for the others"* ]]
}
