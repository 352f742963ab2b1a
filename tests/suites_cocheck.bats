#!/usr/bin/env bats
# The suites of CoCheck: its claims and their situations, crashes, migrations, and the broken
# variants. All of its crashes: make cocheck-crashes.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "cocheck: every claim has its situation" {
    passes 18 "$ROOT/suites/cocheck/claims.lua"
}
