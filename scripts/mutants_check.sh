#!/usr/bin/env bash
# make mutants-check: what the stored results of mutants come to. The matrix mutant × claim, on
# standard output and as BUILD_FOLDER/mutants/mutants.md. Exit status 1 if a mutant survived, does not
# apply or does not build; and, where all are judged, if one has no result of its patch as it is, or a
# claim has fewer than three mutants that it caught.
# Usage: mutants_check.sh BUILD_FOLDER [RESULTS.jsonl]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/mutants/common.bash
build=$1
out=$build/mutants
least=3 # mutants that each claim must have caught
all=false
results=${2:-}
bad=0

wrong() {
    echo "mutants-check: $*" >&2
    bad=1
}

if [ -z "$results" ]; then
    all=true
    results=$out/all.jsonl
    mkdir -p "$out"
    mutant_patches | sort | mutant_table | mutant_results "$build" >"$out/all.jsonl"
fi
[ -s "$results" ] || {
    wrong "no results below $out: make mutants"
    exit 1
}

claims=$(mutant_claims)
jq -rs --arg claims "$claims" --argjson least "$least" -f scripts/mutants/matrix.jq "$results" \
    >"$out/mutants.md"
cat "$out/mutants.md"

while IFS=$'\t' read -r mutant what; do
    wrong "$mutant: $what"
done < <(jq -r '
    if .state != "ran" then "\(.mutant)\t\([.state, .why | gsub("\\s+"; " ") | select(. != "")] | join(": "))"
    elif .found == {} then "\(.mutant)\tsurvived \(.runs) runs"
    else empty end' "$results")
if $all; then
    while read -r claim count; do
        wrong "$claim has caught $count mutants, fewer than $least"
    done < <(jq -rs --arg claims "$claims" --argjson least "$least" '
        [.[] | . as $one | .targets[] | select($one.found[.])]
        | group_by(.) | (map({key: .[0], value: length}) | from_entries) as $caught
        | $claims | split("\n")[] | . as $claim
        | ($caught[$claim] // 0) | select(. < $least) | "\($claim) \(.)"' \
        "$results")
fi
exit $bad
