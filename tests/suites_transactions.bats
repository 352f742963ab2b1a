#!/usr/bin/env bats
# The suite of transactions over ULFM.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "transactions: ranks die in 205 ways, what was under way is undone and what was committed is kept" {
    passes 205 "$ROOT/suites/transactions/crash.lua"
}

@test "transactions: each broken variant is found by the claim that is said" {
    passes 9 "$ROOT/suites/transactions/broken.lua"
}
