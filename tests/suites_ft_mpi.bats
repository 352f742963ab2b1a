#!/usr/bin/env bats
# The suite of FT-MPI's modes over ULFM.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "ft_mpi: ranks die in 327 ways, and the others go on in the same mode" {
    passes 327 "$ROOT/suites/ft_mpi/crash.lua"
}

@test "ft_mpi: each broken variant is found by the claim that is said" {
    passes 13 "$ROOT/suites/ft_mpi/broken.lua"
}

@test "ft_mpi: a mode that there is not is refused, with those that there are" {
    printf '%s\n' 'scenario "none" { protocol = "ft_mpi", program = "regroup", ranks = 2,' \
        '  engine = "step", environment = { FT_MPI_MODE = "ignore" } }' >"$BATS_TEST_TMPDIR/none.lua"
    runs "$BATS_TEST_TMPDIR/none.lua"
    [ "$status" = 1 ]
    grep -qr "FT_MPI_MODE is 'ignore'; accepted: blank, shrink, replace" \
        "$BATS_TEST_TMPDIR"/out/latest/*/output
}
