#!/usr/bin/env bats
# The verbs with runs of the step engine: repeated on it, and confirmed under mpiexec.

bats_require_minimum_version 1.5.0

load driver_common

# A run in two lives that fails in the same way whatever the schedule: its fault is the protocol's.
broken() {
    "$FAULTLINE" run --engine step --keep --no-control --no-stacks --out broken \
        "$REPO/suites/blocking/broken.lua" --filter "restore-uncommitted: ranks live on"
}

sums() {
    (cd "$1/trace" && sha256sum -- *)
}

@test "a run of the step engine is replayed on it: the same traces, byte for byte" {
    broken
    [ -s broken/latest/1/choices.1 ]
    run -0 "$FAULTLINE" replay --repeat 3 broken/latest/1
    [[ "$output" == *"# broken/latest/1: replayed 3/3"* ]]
    for i in 1 2 3; do
        [ "$(sums "faultline-out/latest/$i")" = "$(sums broken/latest/1)" ]
        cmp "faultline-out/latest/$i/choices.0" broken/latest/1/choices.0
    done
}

@test "other decisions: the replay names the first event that differs" {
    broken
    awk '$1 == "next" && !done { $2 = ($2 + 1) % $3; done = 1 } { print }' \
        broken/latest/1/choices.0 >other
    run ! cmp -s other broken/latest/1/choices.0
    mv other broken/latest/1/choices.0
    run -2 "$FAULTLINE" replay broken/latest/1
    echo "$output"
    [[ "$output" == *"why: \"r"[0-2]"#0: event "*": expected "*"; got "* ]]
}

@test "a run of the step engine is repeated under mpiexec, its decisions imposed" {
    broken
    run -0 "$FAULTLINE" replay --engine mpiexec --repeat 2 broken/latest/1
    [[ "$output" == *"ok 1 - restore-uncommitted: ranks live on from different lines: H.progress"* ]]
    [[ "$output" == *"# broken/latest/1: replayed 2/2"* ]]
    [[ "$output" != *"the MPI library is not what it was"* ]]
    run ! grep -q '"engine"' faultline-out/latest/1/run.json
    grep -q mpiexec faultline-out/latest/1/run.json
}

@test "a packed run of the step engine holds what it decided, and is replayed elsewhere" {
    broken
    "$FAULTLINE" export broken/latest/1 -o run.tar.zst
    mkdir elsewhere
    sums broken/latest/1 >expected
    cp broken/latest/1/choices.1 choices
    rm -rf broken
    cd elsewhere
    run -0 "$FAULTLINE" replay --trust ../run.tar.zst
    sums faultline-out/latest/1 | cmp - ../expected
    cmp faultline-out/latest/packed/1/choices.1 ../choices
}
