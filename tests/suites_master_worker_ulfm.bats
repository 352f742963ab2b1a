#!/usr/bin/env bats
# The suite of master and worker over ULFM.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "master and worker: ranks die in 180 ways, and every task counts once" {
    passes 184 "$ROOT/suites/master_worker_ulfm/crash.lua"
    # Where the master's death is fatal the workers say so.
    grep -q 'the master has died, and nobody stands by' "$BATS_TEST_TMPDIR"/out/latest/*/output/*
}

@test "master and worker: each broken variant is found by the claim that is said" {
    passes 4 "$ROOT/suites/master_worker_ulfm/broken.lua"
}
