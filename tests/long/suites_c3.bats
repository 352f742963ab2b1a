#!/usr/bin/env bats
# All crashes of C3; a third of them is in suites_c3.bats.

bats_require_minimum_version 1.5.0
load ../suites_common

setup() { suites_setup; }

@test "c3: every program, killed at each of the 98 points, recovers on the step engine" {
    passes 490 "$ROOT/suites/c3/crash.lua" --engine step
}
