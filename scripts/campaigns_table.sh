#!/usr/bin/env bash
# After how many runs of a random campaign each broken variant was found, as the table of
# suites/campaign/README.md, from what campaigns.sh has left in BUILD_FOLDER/campaigns/broken. A
# variant over which there was no campaign has no row.
# Usage: campaigns_table.sh BUILD_FOLDER; SEEDS (10): of the first so many seeds.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1/campaigns/broken

# Of all campaigns over a variant: how many found something, the median and the highest number of the
# run that did (0: the survey did, without any fault), and the claims, the most frequent first.
# shellcheck disable=SC2016 # names of jq's own
summary='
  [inputs | { variant: input_filename | sub(".*/"; "") | sub("[.][0-9]+[.]json$"; ""),
              groups: [.groups[] | select(.verdict == "violation")] }]
  | group_by(.variant)[] | .[0].variant as $variant | map(.groups) as $found
  | [$found[] | map(.first) | min | select(. != null)] | sort as $at
  | [$found[][].claim] | group_by(.) | sort_by(-length, .[0]) | map(.[0]) | join(", ") as $claims
  | "| `\($variant)` | \($at | length)/\($found | length) | \($at[(($at | length) - 1) / 2 | floor] // "-")"
    + " | \($at[-1] // "-") | \($claims) |"'

files=()
for variant in $(scripts/variants.sh); do
    for ((seed = 1; seed <= ${SEEDS:-10}; seed++)); do
        [ ! -e "$out/$variant.$seed.json" ] || files+=("$out/$variant.$seed.json")
    done
done
echo '| variant | found | median run | highest | by |'
echo '|---|---|---|---|---|'
[ "${#files[@]}" -eq 0 ] || jq -rn "$summary" "${files[@]}"
