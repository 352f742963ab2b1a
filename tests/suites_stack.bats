#!/usr/bin/env bats
# The suite of a stack of two libraries over ULFM.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "stack: ranks die in 206 ways, and all three levels recover from the top down" {
    passes 206 "$ROOT/suites/stack/crash.lua"
}

@test "stack: each broken variant is found by the claim that is said" {
    passes 4 "$ROOT/suites/stack/broken.lua"
}
