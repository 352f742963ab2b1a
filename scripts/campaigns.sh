#!/usr/bin/env bash
# make campaigns: the long campaigns of this repository, into BUILD_FOLDER/campaigns. What has been
# finished is left alone, what was interrupted goes on. Takes hours; campaigns_check.sh judges what
# came of it. A protocol is gone over systematically if it has a canary.
# Usage: campaigns.sh BUILD_FOLDER [random | systematic | broken]...
# RUNS (2000) of the random campaign, SEEDS (10) of each broken variant, MOST (400) runs for each.
# JOBS (as many as there are cores) runs at once.
set -euo pipefail
cd "$(dirname "$0")/.."
faultline=$1/faultline
out=$1/campaigns
shift
jobs=${JOBS:-$(nproc)}

# campaign NAME OPTION...: OUT/NAME.json in the end, and the TAP beside it.
campaign() {
    local name=$1 folder=$out/runs/$1 begun status=0
    shift
    [ ! -e "$out/$name.json" ] || return 0
    mkdir -p "$folder" "$out/$(dirname "$name")"
    begun=$(find "$folder" -maxdepth 2 -name campaign.json -printf '%h\n' | sort | tail -1)
    if [ -n "$begun" ]; then
        set -- --resume "$begun"
    fi
    "$faultline" campaign -j "$jobs" --out "$folder" "$@" >"$out/$name.tap" || status=$?
    [ "$status" -lt 4 ] || return "$status"
    cp "$(find "$folder" -maxdepth 2 -name campaign.json | sort | tail -1)" "$out/$name.json"
    echo "$name: exit status $status"
}

random() {
    campaign random --strategy random --seed 2026 --runs "${RUNS:-2000}" suites/campaign/correct.lua
}

systematic() {
    local canary protocol
    for canary in suites/protocols/*/canary.lua; do
        protocol=$(basename "$(dirname "$canary")")
        campaign "systematic/$protocol" --strategy systematic --filter "all of it: $protocol" \
            suites/campaign/systematic.lua
    done
}

broken() {
    local seed variant
    for seed in $(seq "${SEEDS:-10}"); do
        for variant in $(scripts/variants.sh); do
            campaign "broken/$variant.$seed" --strategy random --seed "$seed" --until-failure \
                --runs "${MOST:-400}" --replays 1 --filter "$variant" suites/campaign/broken.lua
        done
    done
}

for what in "${@:-random}"; do
    case $what in
    random | systematic | broken) "$what" ;;
    *)
        echo "campaigns.sh: no campaign \"$what\"; accepted: random, systematic, broken" >&2
        exit 64
        ;;
    esac
done
