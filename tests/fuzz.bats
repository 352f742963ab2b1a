#!/usr/bin/env bats
# Bad input: every input that was kept, and a fixed number of mutations with a fixed seed, so that a
# run is what the last one was. `make fuzz` is the long one.

setup() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir found
}

# fuzz TARGET RUNS [FOLDER]: RUNS inputs: those of its corpus and of FOLDER, then mutations. A finding
# is shown.
fuzz() {
    local seeds=("$REPO/tests/fuzz/corpus/$1" "${@:3}")
    timeout 600 "$BUILD/fuzz/$1" -seed=1 -runs="$2" -timeout=300 -max_len=16384 found "${seeds[@]}" \
        >log 2>&1 || { tail -40 log; return 1; }
    # An empty corpus would find nothing either.
    [ "$(grep -oE 'Done [0-9]+ runs' log | grep -oE '[0-9]+')" -ge "$2" ] &&
        grep -qE '[1-9][0-9]* files found in' log
}

@test "trace files, mutated" {
    fuzz trace 400
}

@test "text traces, mutated" {
    # All of these are run once as they are.
    local traces=("$REPO"/oracles/golden/*)
    fuzz golden $((${#traces[@]} + 500)) "$REPO/oracles/golden"
}

@test "plans, mutated" {
    fuzz plan 3000
}

@test "decisions of a run, mutated" {
    fuzz decisions 3000
}

@test "journals of the checkpoint store, mutated" {
    fuzz journal 250
}

@test "scenarios and wires, mutated" {
    fuzz scenario 60
}

@test "every target is run here" {
    for target in "$REPO"/tests/fuzz/*.c; do
        target=${target##*/}
        grep -q "^    fuzz ${target%.c} " "$BATS_TEST_FILENAME"
    done
}
