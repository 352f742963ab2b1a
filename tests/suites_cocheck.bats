#!/usr/bin/env bats
# The suites of CoCheck: its claims and their situations, migrations, crashes, and the broken
# variants. All crashes and migrations: make cocheck-crashes.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "cocheck: every claim has its situation" {
    passes 28 "$ROOT/suites/cocheck/claims.lua" --engine step
    passes 4 "$ROOT/suites/cocheck/claims.lua" --engine mpiexec --shard 2/7
}

@test "cocheck: every fourth migration" {
    passes 16 "$ROOT/suites/cocheck/migration.lua" --shard 2/4
}

@test "cocheck: ranks that migrate together, or while all others send to them" {
    passes 7 "$ROOT/suites/cocheck/migration.lua" --filter '*ranks migrate*'
    passes 5 "$ROOT/suites/cocheck/migration.lua" --filter '*while all others*' --repeat 5
    passes 1 "$ROOT/suites/cocheck/still.lua" --engine mpiexec
}

@test "cocheck: each broken variant is found by the claim that is said" {
    passes 8 "$ROOT/suites/cocheck/broken.lua"
}

@test "cocheck: every program, killed at every eighth point, recovers on the step engine" {
    passes 121 "$ROOT/suites/cocheck/crash.lua" --engine step --shard 3/8
}
