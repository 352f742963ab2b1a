#!/usr/bin/env bats
# The suites of the C3 protocol: every cell and claim, the crashes, and the broken variants. Storage
# that fails: storage.bats.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "c3: each cell of the paper's figure 2 is forced or attempted, twice" {
    passes 18 "$ROOT/suites/c3/cells.lua" --repeat 2
}

@test "c3: every claim has its situation in every program where it can arise" {
    passes 18 "$ROOT/suites/c3/claims.lua" --engine step
    passes 3 "$ROOT/suites/c3/claims.lua" --engine mpiexec --shard 2/6
}

# All 490: make test-long.
@test "c3: every program, killed at every third point, recovers on the step engine" {
    passes 163 "$ROOT/suites/c3/crash.lua" --engine step --shard 2/3
}

@test "c3: every program, killed at every thirtieth point, recovers under mpiexec" {
    passes 17 "$ROOT/suites/c3/crash.lua" --engine mpiexec --shard 3/30
}

@test "c3: each broken variant is found by the claim that is said, on the step engine" {
    passes 20 "$ROOT/suites/c3/broken.lua" --engine step
}

# What is found is the mistake, not the plan: none of the plans harms the protocol as it should be.
@test "c3: the same plans find nothing in the protocol as it should be" {
    local right=$BATS_TEST_TMPDIR/right
    mkdir -p "$right/build"
    cp -r "$BUILD/faultline" "$BUILD/faultline-rank" "$BUILD/libfaultline.so" \
        "$BUILD/programs" "$BUILD/protocols" "$right/build"
    for variant in "$right"/build/protocols/libc3-*.so; do
        cp "$BUILD/protocols/libc3.so" "$variant"
    done
    FAULTLINE=$right/build/faultline runs "$ROOT/suites/c3/broken.lua" --engine step --no-control --no-stacks
    cat "$BATS_TEST_TMPDIR/tap" "$BATS_TEST_TMPDIR/said"
    [ "$(grep -c '^not ok' "$BATS_TEST_TMPDIR/tap")" = 20 ]
    # Nothing is found, or what is sought cannot be brought about.
    [ "$(grep -c -e 'is expected, and none was found' -e 'verdict: "vacuous"' \
        "$BATS_TEST_TMPDIR/tap")" = 20 ]
}
