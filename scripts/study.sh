#!/usr/bin/env bash
# make study: how soon each strategy of campaigns finds each broken variant, on the step engine. One
# line for each campaign in BUILD_FOLDER/study/found.tsv: variant, strategy, seed, run that found it
# (0: the survey, without a fault; -: none), seconds, claim. What stands there is not run again, so
# it may be interrupted and go on. study_table.sh makes the tables. Hours for all of it.
# Usage: study.sh BUILD_FOLDER; FIRST (1) to SEEDS (20), MOST (200) runs and BUDGET (60s) of each campaign,
# STRATEGIES, VARIANTS (all): names with spaces between.
set -euo pipefail
build=$(cd "${1:?which build folder}" && pwd)
cd "$(dirname "$0")/.."
found=$build/study/found.tsv
mkdir -p "$build/study"
touch "$found"
variants=${VARIANTS:-$(scripts/variants.sh)}

# one VARIANT STRATEGY SEED: its line.
one() {
    local out=$build/study/run json status=0
    rm -rf "$out"
    "$build/faultline" campaign --engine step --strategy "$2" --seed "$3" --until-failure \
        --runs "${MOST:-200}" --budget "${BUDGET:-60s}" --replays 0 --out "$out" --filter "$1" \
        suites/campaign/broken.lua >"$build/study/tap" || status=$?
    [ "$status" -lt 3 ] || return "$status"
    json=$(find "$out" -maxdepth 2 -name campaign.json | head -1)
    # shellcheck disable=SC2016 # names of jq's own
    jq -r --arg variant "$1" --arg strategy "$2" --arg seed "$3" '
        ([.groups[] | select(.verdict == "violation")] | sort_by(.first)[0]) as $group
        | [$variant, $strategy, $seed, ($group.first // "-" | tostring), (.seconds | tostring),
           ($group.claim // "-")] | join("\t")' "$json" >>"$found"
    rm -rf "$out"
}

for seed in $(seq "${FIRST:-1}" "${SEEDS:-20}"); do
    for variant in $variants; do
        for strategy in ${STRATEGIES:-random pct swarm systematic}; do
            grep -q "^$variant	$strategy	$seed	" "$found" || one "$variant" "$strategy" "$seed"
        done
    done
done
