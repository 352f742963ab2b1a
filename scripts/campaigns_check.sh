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

# Of all campaigns over a variant: how many found something, the median and the highest number of the
# run that did (0: the survey did, without any fault), and the claims, the most frequent first.
# shellcheck disable=SC2016 # names of jq's own
summary='
  [.[] | [.groups[] | select(.verdict == "violation")]] as $found
  | [$found[] | map(.first) | min | select(. != null)] | sort as $at
  | [$found[][].claim] | group_by(.) | sort_by(-length, .[0]) | map(.[0]) | join(" ") as $claims
  | "\($at | length) \($at[(($at | length) - 1) / 2 | floor] // "-") \($at[-1] // "-") \($claims)"'

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
    read -r count median most claims < <(jq -rs "$summary" "${files[@]}")
    [ "$count" -eq "${SEEDS:-10}" ] || wrong "$variant: found $count times of ${SEEDS:-10}"
    printf '%-32s %-8s %-7s %-5s %s\n' "$variant" "$count/${#files[@]}" "$median" "$most" "$claims"
done
exit $bad
