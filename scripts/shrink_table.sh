#!/usr/bin/env bash
# shrink_table.sh BUILD [PATTERN]: each scenario of suites/c3/broken.lua with ten steps mixed in
# that do not matter, made to fail, and shrunk; against the size of what was written by hand. Takes
# minutes. Exit status 1: one is larger than 1.5 times that, or was not shrunk at all. ENGINE (step):
# what runs the ranks; JOBS (2): runs at once; BUDGET (60): seconds each.
set -euo pipefail
build=$(realpath "$1")
pattern=${2:-}
here=$(cd "$(dirname "$0")/.." && pwd)
suite=$here/suites/c3/broken.lua
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat "$here/scripts/shrink_padding.lua" "$suite" >"$work/padded.lua"
cd "$work"
bad=0
SEEDS=5

# row FORMAT...: a line of the table.
row() { printf '%-22s %-14s %5s %7s %6s %6s %6s %5s %6s %6s  %s\n' "$@"; }

# by_hand NAME: size of the plan.
by_hand() {
    "$build/faultline" list -v --filter "$1" "$suite" | sed -n 's/.*plan: .* size //p'
}

# fails NAME CLAIM: a run of it that violates the claim, with the first seed that shows it, in
# $work/out/latest/1.
fails() {
    local seed
    for ((seed = 1; seed <= SEEDS; seed++)); do
        timeout 120 "$build/faultline" run --engine "${ENGINE:-step}" --out out --seed "$seed" --filter "$1" padded.lua \
            >/dev/null 2>&1 || true
        jq -e --arg claim "$2" 'any(.findings[]; .claim == $claim and .verdict == "violation")' \
            out/latest/1/verdict.json >/dev/null 2>&1 && return 0
    done
    return 1
}

# shrink_one NAME CLAIM
shrink_one() {
    local name=$1 claim=$2 hand json
    hand=$(by_hand "$name")
    if ! fails "$name" "$claim"; then
        row "${name%%:*}" "$claim" "$hand" - - - - - - - "does not fail so with the padding"
        bad=1
        return
    fi
    rm -rf shrunk
    {
        time timeout 600 "$build/faultline" shrink --out shrunk -j "${JOBS:-2}" \
            --budget "${BUDGET:-60}" out/latest/1 >said 2>&1 || true
    } 2>spent
    json=$(echo shrunk/*/shrink.json)
    if [ ! -e "$json" ]; then
        row "${name%%:*}" "$claim" "$hand" - - - - - - - "$(grep -m1 'runs:\|faultline:' said)"
        bad=1
        return
    fi
    # shellcheck disable=SC2046 # a row of words
    row "${name%%:*}" "$claim" "$hand" $(jq -r --argjson hand "$hand" '[.before.size, .after.size,
        ([.after.size / ([$hand, 1] | max) * 100 | round / 100][0]), .runs, (.seconds | round),
        "\(.after.failures)/\(.after.runs)"] | join(" ")' "$json") "$(cat spent)" \
        "$(jq -r 'if .claim != "'"$claim"'" then .claim else "" end +
            if .complete then "" else " not the smallest: " + .stopped end +
            if .expects then "" else " no test" end' "$json")"
    jq -e --argjson hand "$hand" '.after.size <= 1.5 * $hand' "$json" >/dev/null || bad=1
}

TIMEFORMAT='%0U+%0S'
row variant claim hand padded shrunk ratio runs s fails cpu ''
"$build/faultline" list "$suite" >scenarios
while read -r name && read -r _ && read -r _ claim && read -r _; do
    [[ $name != *"$pattern"* ]] || shrink_one "$name" "$claim" </dev/null
done <scenarios
exit $bad
