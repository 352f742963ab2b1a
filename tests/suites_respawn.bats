#!/usr/bin/env bats
# The suites of the respawn protocol: ranks that live on when one dies.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "respawn: ranks die in 175 ways, the job comes to the result of a run without faults" {
    passes 175 "$ROOT/suites/respawn/crash.lua"
    # Each run prints its result once, by whatever process is rank 0 then.
    cat "$BATS_TEST_TMPDIR"/out/latest/*/output/r*.out | sort | uniq -c >"$BATS_TEST_TMPDIR/printed"
    cat "$BATS_TEST_TMPDIR/printed"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/printed")" -eq 2 ]
    grep -q '^ *4 laplace: 10 iterations' "$BATS_TEST_TMPDIR/printed" # of another size
    grep -q '^ *171 laplace: 10 iterations' "$BATS_TEST_TMPDIR/printed"
}

@test "respawn: each broken variant is found by the claim that is said" {
    passes 7 "$ROOT/suites/respawn/broken.lua"
}
