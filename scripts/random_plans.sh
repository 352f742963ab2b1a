#!/usr/bin/env bash
# make random-c3: all plans of suites/c3/random, and how they ended. A plan may ask for what does not
# happen (vacuous); anything else but a pass fails. Takes about half an hour on 2 cores.
# Usage: random_plans.sh BUILD_FOLDER [OPTION of faultline run ...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
tap=$(mktemp)
trap 'rm -f "$tap"' EXIT

status=0
"$build/faultline" run -j "$(nproc)" --out "$build/random-c3" "${@:2}" suites/c3/random >"$tap" ||
    status=$?
awk '/^(not )?ok / { shown = /^not ok/ && !/ # vacuous$/ } shown' "$tap" | head -200 >&2
passed=$(grep -c '^ok' "$tap") || true
vacuous=$(grep -c '^not ok.* # vacuous' "$tap") || true
failed=$(grep '^not ok' "$tap" | grep -cv ' # vacuous') || true
echo "$((passed + vacuous + failed)) plans: $passed passed, $vacuous vacuous, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ] && { [ "$status" = 0 ] || [ "$status" = 2 ]; }
