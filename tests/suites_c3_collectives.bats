#!/usr/bin/env bats
# The suites of C3's collectives: arrangements against a line, the broken variants, and the figures
# of the paper as they are printed.

bats_require_minimum_version 1.5.0

setup() {
    ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=$(cd "$ROOT" && realpath "${BUILD:-build}")
    FAULTLINE=$BUILD/faultline
}

# passes COUNT FILE [OPTION...]: all scenarios pass, and they are so many.
passes() {
    local count=$1 passed status=0
    timeout -k 10 600 "$FAULTLINE" run -j 2 --out "$BATS_TEST_TMPDIR/out" "${@:3}" "$2" \
        >"$BATS_TEST_TMPDIR/tap" 2>"$BATS_TEST_TMPDIR/said" || status=$?
    grep -A 30 '^not ok' "$BATS_TEST_TMPDIR/tap" | head -200 || true
    cat "$BATS_TEST_TMPDIR/said"
    passed=$(grep -c '^ok' "$BATS_TEST_TMPDIR/tap") || true
    echo "exit status $status, $passed of $count pass"
    [ "$status" = 0 ] && [ "$passed" = "$count" ]
}

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
    passes 10 "$ROOT/suites/c3/as_published.lua"
}
