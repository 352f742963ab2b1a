#!/usr/bin/env bash
# make campaigns-check: what the stored campaigns must have come to, and the table of the broken
# variants. One line a thing that is not so; exit status 1 if there is any.
# Usage: campaigns_check.sh BUILD_FOLDER; RUNS (2000), SEEDS (10): as campaigns.sh was given them.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1/campaigns
bad=0

wrong() {
    echo "campaigns-check: $*" >&2
    bad=1
}

# must FILE WHAT FILTER: the filter of jq is true of the file.
must() {
    if [ ! -e "$out/$1" ]; then
        wrong "$out/$1 is missing: make campaigns"
    elif ! jq -e "$3" "$out/$1" >/dev/null; then
        wrong "$out/$1: not so: $2"
    fi
}

# clean FILE: a campaign over what is right.
clean() {
    must "$1" "it has ended" '.going | not'
    must "$1" "no violation" '.verdicts.violation == 0'
    must "$1" "no error of the harness" '.verdicts."harness-error" == 0'
    must "$1" "runs passed" '.verdicts.pass > 0'
    must "$1" "its canaries were found" '.canaries | length > 0 and all(.found)'
}

clean random.json
must random.json "${RUNS:-2000} runs" ".runs >= ${RUNS:-2000}"
for canary in suites/protocols/*/canary.lua; do
    protocol=$(basename "$(dirname "$canary")")
    clean "systematic/$protocol.json"
    must "systematic/$protocol.json" "it is complete" '.complete and (.subjects | all(.complete))'
done

table=$(scripts/campaigns_table.sh "$1")
echo "$table"
declare -A found # in how many campaigns each variant was
while read -r variant times _; do
    found[$variant]=${times%/*}
done < <(tr -d '`|' <<<"$table")
for variant in $(scripts/variants.sh); do
    if [ -z "${found[$variant]:-}" ]; then
        wrong "$variant: no campaign over it"
    elif [ "${found[$variant]}" -ne "${SEEDS:-10}" ]; then
        wrong "$variant: found ${found[$variant]} times of ${SEEDS:-10}"
    fi
done
exit $bad
