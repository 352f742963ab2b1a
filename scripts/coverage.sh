#!/usr/bin/env bash
# make proof-coverage: every suite that says `cover { ... }` is run as a whole, and must bring about
# what it promises. Goes on where it was interrupted: BUILD_FOLDER/proof/coverage has what came of
# each that was run to its end; that is left alone, whatever it was.
# Usage: coverage.sh BUILD_FOLDER [SUITE.lua]...
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
out=$build/proof/coverage
interrupted=128 # an exit status from here on: a signal
bad=0
suites=("$@")
[ $# -gt 0 ] || mapfile -t suites < <(grep -l '^cover' suites/*/*.lua)
mkdir -p "$out"
for suite in "${suites[@]}"; do
    tap=${suite#suites/}
    tap=$out/$(tr / - <<<"${tap%.lua}").tap
    if [ ! -s "$tap" ]; then
        status=0
        "$build/faultline" run -j 2 --out "$out/runs" "$suite" >"$tap.new" || status=$?
        [ "$status" -lt "$interrupted" ] || exit "$status"
        mv "$tap.new" "$tap"
    fi
    sed -n '/^not ok/p; /covers what it promises/p' "$tap"
    ! grep -q '^not ok\|^Bail out' "$tap" || bad=1
done
exit $bad
