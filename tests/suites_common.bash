# What the tests of the suites share: load it, and call suites_setup in setup().

suites_setup() {
    ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
    BUILD=$(cd "$ROOT" && realpath "${BUILD:-build}")
    FAULTLINE=$BUILD/faultline
    # For jobs without Faultline: ranks that wait give their processor to the others.
    IDLE=$BUILD/tests/idle.so
}

# runs FILE [OPTION...]: all scenarios, TAP in $BATS_TEST_TMPDIR/tap; $status is the command's.
runs() {
    status=0
    timeout -k 10 900 "$FAULTLINE" run -j 2 --out "$BATS_TEST_TMPDIR/out" "${@:2}" "$1" \
        >"$BATS_TEST_TMPDIR/tap" 2>"$BATS_TEST_TMPDIR/said" || status=$?
}

# passes COUNT FILE [OPTION...]: all scenarios pass, and they are so many.
passes() {
    local count=$1 passed
    runs "${@:2}"
    grep -A 30 '^not ok' "$BATS_TEST_TMPDIR/tap" | head -200 || true
    cat "$BATS_TEST_TMPDIR/said"
    passed=$(grep '^ok' "$BATS_TEST_TMPDIR/tap" | grep -vc 'covers what it promises') || true
    echo "exit status $status, $passed of $count pass"
    [ "$status" = 0 ] && [ "$passed" = "$count" ]
}

# unsupported PROTOCOL: in 44 runs two ranks die at once. Each run says that this is unsupported, but
# for a few in which the dead are not needed any more.
unsupported() {
    local passed silent tap=$BATS_TEST_TMPDIR/tap
    runs "$ROOT/suites/scmel/beyond/second.lua" --filter "$1, *" --no-control --no-stacks
    grep -A 12 '^not ok' "$tap" | grep -v -B 3 -A 9 '# unknown' | head -100 || true
    [ "$status" = 2 ]
    passed=$(grep -c '^ok' "$tap") || true
    silent=$(awk '/^(not )?ok/ { silent += fails; fails = /^not/ }
        /unsupported: rank .* died while others were down/ { fails = 0 }
        END { print silent + fails }' "$tap")
    echo "$passed of 44 pass, $silent of the others do not say unsupported"
    [ "$(grep -c '^not ok .* # unknown$' "$tap")" = $((44 - passed)) ]
    [ "$silent" = 0 ] && [ "$passed" -le 8 ]
}
