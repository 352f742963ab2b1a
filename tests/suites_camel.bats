#!/usr/bin/env bats
# The suites of CAMEL: message logging with collective calls along trees.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "camel: ranks die at every phase of a line and in between, and nobody else goes back" {
    passes 89 "$ROOT/suites/camel/crash.lua"
}

@test "camel: each broken variant is found by the claim that is said" {
    passes 10 "$ROOT/suites/camel/broken.lua"
}

@test "camel: what the algorithms as they are published do not keep" {
    passes 2 "$ROOT/suites/camel/as_published.lua"
}

@test "camel: another rank dies before the first has recovered: unsupported, and no violation" {
    unsupported camel
}
