#!/usr/bin/env bash
# How often the failures of the broken variants come again when their decisions are imposed: each
# scenario that finds one is run once, and its run replayed TIMES times, each in a fresh process.
# Takes half an hour and goes on where it was interrupted, a file of scenarios at a time; what is
# done stays in BUILD/replay-rates.
# Usage: replay_rates.sh BUILD [TIMES (20)]; JOBS (as many as there are cores) at once.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:?use: replay_rates.sh BUILD [TIMES]}
times=${2:-20}
jobs=${JOBS:-$(nproc)}

# What a run came to is what is to be repeated, whatever it is: neither command's status is looked at.
replays() {
    local file=$1 out=$2
    rm -rf "$out"
    mkdir -p "$out"
    "$build/faultline" run --keep -j "$jobs" --out "$out/recorded" "$file" >"$out/tap" || true
    mapfile -t runs < <(find "$out/recorded/latest/" -mindepth 2 -maxdepth 2 -name decisions \
        -printf '%h\n' | sort -V)
    "$build/faultline" replay --repeat "$times" -j "$jobs" --out "$out/replayed" "${runs[@]}" \
        >"$out/replay.tap" || true
    rm -rf "$out/replayed"
    touch "$out/done"
}

# Of each run: the rate, and its name; another interval than that of a whole one is told with it.
rates() {
    sed -n 's|^# .*/latest/*\([0-9]*\): replayed \([^ ,]*\)\(.*\)|\1 \2 \3|p' "$1/replay.tap" |
        while read -r number rate rest; do
            name=$(sed -n "s/^\(not \)\?ok $number - \(.*\)/\2/p" "$1/tap")
            printf '%-8s  %s%s\n' "$rate" "$name" "${rest:+  ($rest)}"
        done
}

echo "replayed  of"
for file in suites/*/broken*.lua suites/c3/as_published.lua; do
    case $file in suites/campaign/*) continue ;; esac # subjects without plans
    out=$build/replay-rates/$(basename "$(dirname "$file")")-$(basename "$file" .lua)
    [ -e "$out/done" ] || replays "$file" "$out"
    rates "$out"
done | tee "$build/replay-rates.txt"
! grep -qv "^replayed\|^$times/$times " "$build/replay-rates.txt"
