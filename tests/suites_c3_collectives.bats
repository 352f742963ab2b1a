#!/usr/bin/env bats
# The suites of C3's collectives: arrangements against a line, the broken variants, and the figures
# of the paper as they are printed.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

# All of it is `make coverage-collectives`.
@test "c3: every possible arrangement of three ranks is forced, once for each category" {
    passes 9 "$ROOT/suites/c3/collectives_coverage.lua" --filter 'bcast: forced *, MPI_Bcast'
    passes 9 "$ROOT/suites/c3/collectives_coverage.lua" --filter 'gather: forced *, MPI_Gather'
    passes 7 "$ROOT/suites/c3/collectives_coverage.lua" --filter 'all: forced *, MPI_Allreduce'
    passes 3 "$ROOT/suites/c3/collectives_coverage.lua" --filter 'barrier: forced *'
}

@test "c3: each variant broken in its collectives is found by the claim that is said" {
    passes 8 "$ROOT/suites/c3/broken_collectives.lua"
}

@test "c3: where the printed figures break the paper's claims" {
    passes 11 "$ROOT/suites/c3/as_published.lua"
}
