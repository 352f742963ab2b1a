#!/usr/bin/env bash
# The tables of make study from BUILD_FOLDER/study/found.tsv: of each strategy over all campaigns,
# and over those in which a fault was needed; of each variant by strategy the run that found it
# (median; 0: the run without faults) and in how many of the campaigns, and by which claims.
# Usage: study_table.sh BUILD_FOLDER
set -euo pipefail
found=${1:?which build folder}/study/found.tsv

# at PART: that part of the way through the sorted numbers of standard input.
at() {
    sort -g | awk -v part="$1" '{ n[NR] = $1 } END { if (!NR) print "-"
        else { x = n[int((NR - 1) * part) + 1]; printf x == int(x) ? "%d\n" : "%.1f\n", x } }'
}

# chosen STRATEGY VARIANT COLUMN LEAST: of the campaigns that found something at run LEAST or later;
# VARIANT "": all.
chosen() {
    awk -F '\t' -v s="$1" -v v="$2" -v c="$3" -v least="$4" \
        '$2 == s && (v == "" || $1 == v) && $4 != "-" && $4 >= least { print $c }' "$found"
}

strategies=$(cut -f 2 "$found" | sort -u)
echo '| strategy | found | by the run without faults | else: runs, median | 90 % | seconds, median | 90 % |'
echo '|---|---|---|---|---|---|---|'
for s in $strategies; do
    all=$(awk -F '\t' -v s="$s" '$2 == s' "$found" | wc -l)
    any=$(chosen "$s" "" 4 0 | wc -l)
    echo "| $s | $any/$all | $((any - $(chosen "$s" "" 4 1 | wc -l)))" \
        "| $(chosen "$s" "" 4 1 | at 0.5) | $(chosen "$s" "" 4 1 | at 0.9)" \
        "| $(chosen "$s" "" 5 1 | at 0.5) | $(chosen "$s" "" 5 1 | at 0.9) |"
done
echo
echo "| variant | $(echo "$strategies" | paste -sd '|' | sed 's/|/ | /g') | by |"
echo "|---|$(for _ in $strategies; do printf -- '---|'; done)---|"
cut -f 1 "$found" | sort -u | while read -r v; do
    row="| \`$v\` |"
    for s in $strategies; do
        all=$(awk -F '\t' -v s="$s" -v v="$v" '$2 == s && $1 == v' "$found" | wc -l)
        row+=" $(chosen "$s" "$v" 4 0 | at 0.5) ($(chosen "$s" "$v" 4 0 | wc -l)/$all) |"
    done
    claims=$(awk -F '\t' -v v="$v" '$1 == v && $6 != "-" { print $6 }' "$found" | sort | uniq -c | sort -rn |
        awk '{ print $2 }' | paste -sd ',' | sed 's/,/, /g')
    echo "$row $claims |"
done
