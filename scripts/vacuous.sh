#!/usr/bin/env bash
# How many runs of random campaigns over what is right come to nothing (vacuous: a fault that was
# asked for did not come about), with two builds in turn: before and after a change of how plans are
# drawn. Prints a line for each campaign, its subjects, and the sums.
# Usage: vacuous.sh BUILD_BEFORE BUILD_AFTER; SEEDS (2), RUNS (90) of each campaign.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# count FILE VERDICT
count() { jq ".verdicts.\"$2\"" "$1"; }

# by_subject FOLDER: how many runs of each protocol and program came to nothing.
by_subject() {
    # shellcheck disable=SC2016 # names of jq's own
    jq -rs --slurpfile whole "$1/campaign.json" '
        [.[] | select(.kind == "run")
             | { of: ($whole[0].subjects[.subject - 1].identity | "\(.protocol) \(.program)"),
                 vacuous: (.verdict == "vacuous") }]
        | group_by(.of)[]
        | "  \(.[0].of): \(map(select(.vacuous)) | length) of \(length)"' "$1/campaign.jsonl"
}

declare -A runs=([before]=0 [after]=0) vacuous=([before]=0 [after]=0)

# one NAME BUILD SEED
one() {
    "$2/faultline" campaign -j "$(nproc)" --strategy random --seed "$3" --runs "${RUNS:-90}" \
        --out "$out/$1" suites/campaign/correct.lua >"$out/tap" 2>&1 || true
    local json=$out/$1/latest/campaign.json
    printf '%-7s seed %d: %d runs, %d pass, %d vacuous, %d violations, %d errors\n' "$1" "$3" \
        "$(jq .runs "$json")" "$(count "$json" pass)" "$(count "$json" vacuous)" \
        "$(count "$json" violation)" "$(count "$json" harness-error)"
    by_subject "$out/$1/latest"
    runs[$1]=$((${runs[$1]} + $(jq .runs "$json")))
    vacuous[$1]=$((${vacuous[$1]} + $(count "$json" vacuous)))
}

for seed in $(seq "${SEEDS:-2}"); do
    one before "$1" "$seed"
    one after "$2" "$seed"
done
for name in before after; do
    echo "$name: $((100 * ${vacuous[$name]} / ${runs[$name]})) of 100 runs vacuous"
done
