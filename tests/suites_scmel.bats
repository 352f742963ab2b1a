#!/usr/bin/env bats
# The suites of SCMEL: message logging, where only the rank that died goes back.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "scmel: ranks die at every phase of a line and in between, and nobody else goes back" {
    passes 124 "$ROOT/suites/scmel/crash.lua"
}

@test "scmel: each broken variant is found by the claim that is said" {
    passes 6 "$ROOT/suites/scmel/broken.lua"
}
