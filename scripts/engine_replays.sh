#!/usr/bin/env bash
# make engine-replays: the first failure that a campaign on the step engine finds in each broken
# variant, replayed there TIMES times: every trace has to be the same, byte by byte. Prints each that
# was not, and a sum; exit status 1 if there is any. What is done stays in BUILD/engine-replays and is
# not done again.
# Usage: engine_replays.sh BUILD [TIMES (16)]; VARIANTS (all): names with spaces between.
set -euo pipefail
build=$(cd "${1:?use: engine_replays.sh BUILD [TIMES]}" && pwd)
times=${2:-16}
cd "$(dirname "$0")/.."
out=$build/engine-replays
mkdir -p "$out"
# Left out are those that send what is another number in each run: the program `arrangement` that of a
# process, CoCheck with processes in reserve the ports at which they listen.
variants=${VARIANTS:-$(scripts/variants.sh | grep -v '^c3-d-\|^c3-as-published$\|^cocheck-old-address$')}

# failing VARIANT: the folder of its first failure; nothing where none was found.
failing() {
    local status=0
    "$build/faultline" campaign --engine step --until-failure --seed 1 --runs 100 --budget 60s --replays 0 \
        --out "$out/$1" --filter "$1" suites/campaign/broken.lua >"$out/$1.tap" || status=$?
    [ "$status" -lt 3 ] || return "$status"
    jq -r --arg out "$out/$1/latest/" '[.groups[] | select(.verdict == "violation")] | sort_by(.first) | .[0].folder // empty | $out + .' \
        "$out/$1/latest/campaign.json"
}

for variant in $variants; do
    [ ! -e "$out/$variant.rate" ] || continue
    folder=$(failing "$variant")
    if [ -n "$folder" ]; then
        "$build/faultline" replay --repeat "$times" --out "$out/$variant/replays" "$folder" >"$out/$variant.tap" || true
        sed -n 's|^# .*: replayed \([0-9]*\)/\([0-9]*\).*|\1 \2|p' "$out/$variant.tap" | head -1 >"$out/$variant.rate"
    fi
    rm -rf "${out:?}/$variant"
done
same=0 asked=0
for variant in $variants; do
    if ! read -r own all <"$out/$variant.rate" 2>/dev/null; then
        echo "$variant: no failure was found to be replayed"
        continue
    fi
    [ "$own" = "$all" ] || echo "$variant: replayed $own/$all: $out/$variant.tap"
    same=$((same + own)) asked=$((asked + all))
done
echo "replayed the same, byte by byte: $same of $asked"
[ "$same" -eq "$asked" ]
