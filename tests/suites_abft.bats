#!/usr/bin/env bats
# The suite of algorithm-based fault tolerance over ULFM.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "abft: ranks die in 160 ways, and the result is that of a run without deaths" {
    passes 163 "$ROOT/suites/abft/crash.lua"
}

@test "abft: more is lost than the checksum gives back: the ranks say so, and that is no violation" {
    runs "$ROOT/suites/abft/beyond.lua" --no-stacks
    cat "$BATS_TEST_TMPDIR/tap" "$BATS_TEST_TMPDIR/said"
    [ "$status" = 2 ]
    [ "$(grep -c '^not ok .* # unknown$' "$BATS_TEST_TMPDIR/tap")" = 8 ]
    [ "$(grep -c 'unsupported: process [0-3] died, the program promises to survive 1' \
        "$BATS_TEST_TMPDIR/tap")" = 8 ]
    [ "$(grep -c '2 parts are lost, and the checksum gives back one' "$BATS_TEST_TMPDIR/tap")" -ge 8 ]
}

@test "abft: each broken variant is found by the claim that is said" {
    passes 14 "$ROOT/suites/abft/broken.lua"
}
