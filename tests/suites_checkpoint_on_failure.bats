#!/usr/bin/env bats
# The suite of checkpoint on failure over ULFM.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "checkpoint on failure: ranks die in 218 ways, the others save and leave, and the job is started again" {
    passes 218 "$ROOT/suites/checkpoint_on_failure/crash.lua"
    # Nothing is lost in silence.
    grep -q 'more than one rank has died: back to what was saved before' \
        "$BATS_TEST_TMPDIR"/out/latest/*/output/*
}

@test "checkpoint on failure: each broken variant is found by the claim that is said" {
    passes 7 "$ROOT/suites/checkpoint_on_failure/broken.lua"
}

@test "survivors that leave fail the job where it may not be started again" {
    printf '%s\n' 'scenario "once" { protocol = "checkpoint_on_failure", program = "ring", ranks = 2,' \
        '  engine = "step", survivors = true, arguments = { "--iterations", 6 }, claims = { "H.progress" },' \
        '  plan = function(p) p:kill { rank = 1, call = "MPI_Recv", nth = 4 } end }' \
        >"$BATS_TEST_TMPDIR/once.lua"
    runs "$BATS_TEST_TMPDIR/once.lua"
    [ "$status" = 1 ]
    grep -q 'rank 0 exited with status 75, not by a fault of the plan' "$BATS_TEST_TMPDIR/tap"
    sed -i 's/survivors = true/survivors = true, max_incarnations = 2/' "$BATS_TEST_TMPDIR/once.lua"
    passes 1 "$BATS_TEST_TMPDIR/once.lua"
}
