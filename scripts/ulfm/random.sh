#!/bin/sh
# random.sh ROOT [I/N]: what `make random-ulfm` runs: the plans of suites/ulfm/random with Open MPI 5, or
# every N-th, the I-th of them, and how many passed. Exit status 1 where one failed that known.txt
# does not know. `make test-ulfm` has built for it (BUILD: the folder of the build).
# About a second of processor time a plan; their runs that failed are in BUILD/random.
set -eu
cd "$(dirname "$0")/../.."
root=$1
shard=${2:-1/1}
out=$BUILD/random
suite=suites/ulfm/random/plans.lua
[ -x "$BUILD/faultline" ] || {
    echo "random.sh: there is no $BUILD/faultline: make test-ulfm builds it" >&2
    exit 1
}
mkdir -p "$out"
tap=$out/$(echo "$shard" | tr / -).tap
scripts/ulfm/inside.sh "$root" "$BUILD/faultline" run --engine mpiexec --timeout 20 --no-control \
    --shard "$shard" --out "$out" "$suite" >"$tap" || [ $? -le 3 ]
[ "$(grep -cE '^(not )?ok ' "$tap")" = "$(sed -n 's/^1\.\.//p' "$tap")" ] || {
    echo "random.sh: not every plan was run: $tap" >&2
    exit 1
}
lua5.4 scripts/ulfm/known.lua "$suite" "$tap"
