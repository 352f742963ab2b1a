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
    passes 18 "$ROOT/suites/c3/claims.lua"
}

# Every point of the 98 in one of four programs, and every other one in ring; all of it is run by
# `faultline run suites/c3/crash.lua`.
@test "c3: ring, killed at 49 points, recovers" {
    passes 49 "$ROOT/suites/c3/crash.lua" --filter 'ring: *' --shard 1/2
}

@test "c3: laplace, killed at 25 points, recovers" {
    passes 25 "$ROOT/suites/c3/crash.lua" --filter 'laplace: *' --shard 1/4
}

@test "c3: cg, killed at 25 points, recovers" {
    passes 25 "$ROOT/suites/c3/crash.lua" --filter 'cg: *' --shard 2/4
}

@test "c3: neuron, killed at 24 points, recovers" {
    passes 24 "$ROOT/suites/c3/crash.lua" --filter 'neuron: *' --shard 3/4
}

@test "c3: master_worker, killed at 24 points, recovers" {
    passes 24 "$ROOT/suites/c3/crash.lua" --filter 'master_worker: *' --shard 4/4
}

@test "c3: each broken variant is found by the claim that is said" {
    passes 20 "$ROOT/suites/c3/broken.lua"
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
    FAULTLINE=$right/build/faultline runs "$ROOT/suites/c3/broken.lua" --no-control --no-stacks
    cat "$BATS_TEST_TMPDIR/tap" "$BATS_TEST_TMPDIR/said"
    [ "$(grep -c '^not ok' "$BATS_TEST_TMPDIR/tap")" = 20 ]
    # Nothing is found, or what is sought cannot be brought about.
    [ "$(grep -c -e 'is expected, and none was found' -e 'verdict: "vacuous"' \
        "$BATS_TEST_TMPDIR/tap")" = 20 ]
}
