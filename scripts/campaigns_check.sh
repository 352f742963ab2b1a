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
clean systematic.json
must systematic.json "it is complete" '.complete and (.subjects | all(.complete))'

# The number of the run that found it, of each seed; 0: the survey did, without any fault.
found_at() {
    jq -r '[.groups[] | select(.verdict == "violation") | .first] | min // empty' "$@"
}

claims_of() {
    jq -r '.groups[] | select(.verdict == "violation") | .claim' "$@" | sort | uniq -c |
        sort -rn | awk '{ printf "%s%s", NR > 1 ? " " : "", $2 }'
}

printf '%-32s %-8s %-7s %-5s %s\n' variant found median most claims
for patch in suites/protocols/*/broken/*.patch; do
    protocol=${patch#suites/protocols/}
    variant=${protocol%%/*}-$(basename "$patch" .patch)
    files=()
    for ((seed = 1; seed <= ${SEEDS:-10}; seed++)); do
        [ ! -e "$out/broken/$variant.$seed.json" ] || files+=("$out/broken/$variant.$seed.json")
    done
    if [ "${#files[@]}" -eq 0 ]; then
        wrong "$variant: no campaign over it"
        continue
    fi
    at=$(for file in "${files[@]}"; do found_at "$file"; done | sort -n)
    count=$(printf '%s' "$at" | grep -c . || true)
    [ "$count" -eq "${SEEDS:-10}" ] || wrong "$variant: found $count times of ${SEEDS:-10}"
    printf '%-32s %-8s %-7s %-5s %s\n' "$variant" "$count/${#files[@]}" \
        "$(printf '%s\n' "$at" | awk '{ a[NR] = $1 } END { print NR ? a[int((NR + 1) / 2)] : "-" }')" \
        "$(printf '%s\n' "$at" | tail -1)" "$(claims_of "${files[@]}")"
done
exit $bad
