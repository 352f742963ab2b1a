#!/usr/bin/env bash
# The tables of make study from BUILD_FOLDER/study/found.tsv: of each strategy over all campaigns,
# and of each variant by strategy, the run that found it (median).
# Usage: study_table.sh BUILD_FOLDER
set -euo pipefail
found=${1:?which build folder}/study/found.tsv

# at PART: that part of the way through the sorted numbers of standard input.
at() {
    sort -g | awk -v part="$1" '{ n[NR] = $1 } END { print NR ? n[int((NR - 1) * part) + 1] : "-" }'
}

# chosen STRATEGY VARIANT COLUMN: of the campaigns that found something; VARIANT "": all.
chosen() {
    awk -F '\t' -v s="$1" -v v="$2" -v c="$3" '$2 == s && (v == "" || $1 == v) && $4 != "-" { print $c }' "$found"
}

strategies=$(cut -f 2 "$found" | sort -u)
echo '| strategy | found | runs, median | runs, 90 % | seconds, median | seconds, 90 % |'
echo '|---|---|---|---|---|---|'
for s in $strategies; do
    all=$(awk -F '\t' -v s="$s" '$2 == s' "$found" | wc -l)
    echo "| $s | $(chosen "$s" "" 4 | wc -l)/$all | $(chosen "$s" "" 4 | at 0.5) | $(chosen "$s" "" 4 | at 0.9)" \
        "| $(chosen "$s" "" 5 | at 0.5) | $(chosen "$s" "" 5 | at 0.9) |"
done
echo
echo "| variant | $(echo "$strategies" | paste -sd '|' | sed 's/|/ | /g') | by |"
echo "|---|$(for _ in $strategies; do printf -- '---|'; done)---|"
cut -f 1 "$found" | sort -u | while read -r v; do
    row="| \`$v\` |"
    for s in $strategies; do
        all=$(awk -F '\t' -v s="$s" -v v="$v" '$2 == s && $1 == v' "$found" | wc -l)
        row+=" $(chosen "$s" "$v" 4 | at 0.5) ($(chosen "$s" "$v" 4 | wc -l)/$all) |"
    done
    claims=$(awk -F '\t' -v v="$v" '$1 == v && $6 != "-" { print $6 }' "$found" | sort | uniq -c | sort -rn |
        awk '{ print $2 }' | paste -sd ',' | sed 's/,/, /g')
    echo "$row $claims |"
done
