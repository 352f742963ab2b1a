#!/usr/bin/env bats
# The suite of algorithm-based fault tolerance over ULFM.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "abft: ranks die in 168 ways, and the result is that of a run without deaths" {
    passes 171 "$ROOT/suites/abft/crash.lua"
    # Where more is lost than the checksum gives back the ranks say so.
    grep -q '2 parts are lost, and the checksum gives back one' "$BATS_TEST_TMPDIR"/out/latest/*/output/*
}

@test "abft: each broken variant is found by the claim that is said" {
    passes 10 "$ROOT/suites/abft/broken.lua"
}
