#!/usr/bin/env bash
# make ulfm-product: which cells of "kind of call, role, when the other died, how the call ended" the
# runs of suites/ulfm/product.lua on the step engine have seen, each under a number of seeds (those that
# are steered under five times as many), and which of those that can be they have not. Exit status 1: a
# claim was violated, a run came to nothing, or a cell was seen that cannot be. See product/. Minutes a
# seed.
# Usage: product.sh BUILD [SEEDS]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
seeds=${2:-3}
out=$(mktemp -d "${TMPDIR:-/tmp}/faultline-product.XXXXXX")
trap 'rm -rf "$out"' EXIT

# runs FILTER SEEDS: their cells. Folders of runs are taken away part by part: a seed's are half a gigabyte.
runs() {
    local seed part status run parts=8
    for ((seed = 1; seed <= $2; seed++)); do
        for ((part = 1; part <= parts; part++)); do
            status=0
            "$build/faultline" run --keep --no-control --no-stacks --confirm 0 --seed "$seed" \
                --shard "$part/$parts" --out "$out/runs" --filter "$1" suites/ulfm/product.lua \
                >"$out/tap" || status=$?
            if [ "$status" -ne 0 ] && [ "$status" -ne 2 ]; then
                grep -A 12 '^not ok' "$out/tap" | head -60 >&2
                exit 1
            fi
            for run in "$out"/runs/latest/[0-9]*; do
                "$build/faultline" trace --format json "$run" |
                    lua5.4 scripts/ulfm/product/read.lua >>"$out/cells"
            done
            rm -rf "$out/runs"
        done
    done
}

runs '*: death *' "$seeds"
runs '*, steered: *' $((5 * seeds))
sort -u "$out/cells" | lua5.4 scripts/ulfm/product/table.lua scripts/ulfm/product
