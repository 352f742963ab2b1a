#!/usr/bin/env bash
# make explore-suites: goes through the schedules of the small jobs of suites/explore, each for
# BUDGET, and prints what it came to as a table: what suites/explore/README.md shows. A search that
# is not complete goes on where it stopped when this is called again, if nothing has been built anew.
# Exit status 1 if a run was no pass.
# Usage: explore_suites.sh BUILD; BUDGET (60s), JOBS (as many as there are cores), ONLY (all): a part
# of the names.
set -euo pipefail
build=$(cd "${1:?use: explore_suites.sh BUILD}" && pwd)
cd "$(dirname "$0")/.."
out=$build/explore-suites
status=0
mkdir -p "$out"

# explored NAME OPTION...: a row of the table.
explored() {
    local name=$1 folder=$out/${1//[^a-z0-9]/-}${*:2}
    shift
    folder=${folder// /}
    local code=0 resume=()
    [ ! -e "$folder/latest/1/state" ] || resume=(--resume "$folder/latest")
    "$build/faultline" explore "$@" "${resume[@]}" --jobs "${JOBS:-$(nproc)}" --budget "${BUDGET:-60s}" \
        --out "$folder" --filter "$name" suites/explore/small.lua >"$folder.tap" || code=$?
    [ "$code" -eq 0 ] || [ "$code" -eq 2 ] || status=1
    echo "| $name | ${*:-none} | $(sed -n 's/^  explored: "\(.*\)"$/\1/p' "$folder.tap") |" \
        "$(sed -n 's/^    - "\([0-9]* runs: [^,]*\).*/\1/p' "$folder.tap" | paste -sd ';') |"
}

echo '| job | options | explored | runs that were judged |'
echo '|---|---|---|---|'
while read -r name; do
    case $name in *"${ONLY:-}"*) ;; *) continue ;; esac
    explored "$name"
    explored "$name" --crashes 1
    case $name in
    respawn*) explored "$name" --crashes 2 ;;
    scmel* | camel* | teams*) ;; # losses are refused where others survive
    *) explored "$name" --crashes 1 --losses ;;
    esac
done < <(sed -n 's/^job("\([^"]*\)".*/\1/p' suites/explore/small.lua)
exit "$status"
