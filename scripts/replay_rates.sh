#!/usr/bin/env bash
# How often the failures of the broken variants come again when their decisions are imposed: each
# scenario of suites/blocking/broken.lua and suites/c3/broken.lua is run once, and its run replayed
# TIMES times, each in a fresh process. Takes minutes.
#
#     scripts/replay_rates.sh BUILD [TIMES]
set -euo pipefail

build=${1:?use: replay_rates.sh BUILD [TIMES]}
times=${2:-20}
out=$build/replay-rates
rm -rf "$out"

"$build/faultline" run --keep --out "$out/recorded" suites/blocking/broken.lua suites/c3/broken.lua >"$out.tap" ||
    true # what came of a run is what is to be repeated
mapfile -t runs < <(find "$out/recorded/latest/" -mindepth 2 -maxdepth 2 -name decisions -printf '%h\n' | sort -V)

status=0
"$build/faultline" replay --repeat "$times" -j "$(nproc)" --out "$out/replayed" "${runs[@]}" >"$out.replay.tap" ||
    status=$?
echo "replayed  of"
sed -n 's|^# .*/latest/*\([0-9]*\): replayed \([^ ,]*\)\(.*\)|\1 \2 \3|p' "$out.replay.tap" |
    while read -r number rate rest; do
        name=$(sed -n "s/^\(not \)\?ok $number - \(.*\)/\2/p" "$out.tap")
        printf '%-8s  %s%s\n' "$rate" "$name" "${rest:+  ($rest)}"
    done
exit "$status"
