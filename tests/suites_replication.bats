#!/usr/bin/env bats
# The suite of replication: every rank is two processes.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "replication: processes die in 208 ways, and the other of their rank goes on" {
    passes 208 "$ROOT/suites/replication/crash.lua"
}

@test "replication: a part of that under mpiexec" {
    passes 8 "$ROOT/suites/replication/crash.lua" --engine mpiexec \
        --filter 'laplace: process *, at its call number 70'
}

@test "replication: each broken variant is found by the claim that is said" {
    passes 9 "$ROOT/suites/replication/broken.lua"
}

@test "replication: both processes of a rank die: unsupported, and no violation" {
    runs "$ROOT/suites/replication/lost.lua" --no-stacks
    cat "$BATS_TEST_TMPDIR/tap" "$BATS_TEST_TMPDIR/said"
    [ "$status" = 2 ]
    [ "$(grep -c '^not ok .* # unknown$' "$BATS_TEST_TMPDIR/tap")" = 4 ]
    [ "$(grep -c 'unsupported: both processes of rank [12] have died' "$BATS_TEST_TMPDIR/tap")" = 4 ]
    [ "$(grep -c 'err: replication: process .* have died, and its state with them' \
        "$BATS_TEST_TMPDIR/tap")" -ge 4 ]
}
