#!/usr/bin/env bash
# make grid: which features of MPI have been seen at which place against a line, in which life and at
# which number of line, under which protocol: in the drawn programs, the long jobs, and the suites of
# the protocols, all on the step engine. See scripts/grid. Usage: grid.sh BUILD_FOLDER [CHUNKS]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
chunks=${2:-4}
out=$(mktemp -d "${TMPDIR:-/tmp}/faultline-grid.XXXXXX")
trap 'rm -rf "$out"' EXIT
: >"$out/cells"

# look OPTION...: what these runs have seen.
look() {
    local run protocol
    "$build/faultline" run --engine step --confirm 0 --keep --no-control --no-stacks --out "$out/runs" "$@" \
        >/dev/null || [ $? -le 2 ]
    for run in "$out"/runs/latest/[0-9]*; do
        protocol=$(sed -n 's/^ *"protocol": "\([a-z0-9_]*\)",$/\1/p' "$run/run.json" | head -n 1)
        "$build/faultline" trace --format json "$run" |
            lua5.4 scripts/grid/read.lua "$protocol" >>"$out/cells"
    done
    rm -rf "$out/runs"
}

for ((seed = 1; seed <= chunks; seed++)); do
    look --seed "$seed" suites/drawn/grid.lua
done
look suites/drawn/programs.lua
look suites/drawn/rare.lua
look --filter '*: 100 lines*' suites/drawn/long.lua
look suites/c3/cells.lua suites/c3/claims.lua suites/chandy_lamport/channels.lua \
    suites/cocheck/claims.lua
sort -u "$out/cells" | lua5.4 scripts/grid/table.lua scripts/grid
