#!/usr/bin/env bash
# make valgrind: reads of what was never written, which AddressSanitizer does not see, in the command
# as it is built for users; and what is definitely lost. Its forked children are followed (drawing,
# the sandbox of scenarios), the programs it starts are not: then taps and protocols in ranks of their
# own, one of which dies. Exit status 1: valgrind has found something, or ranks did not recover.
# Usage: valgrind.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
out=$build/valgrind
rm -rf "$out"
mkdir -p "$out/OUT"
for name in h_loss c_1_1_ibarrier d_cells_all; do
    "$build/tests/pages/make_run" "oracles/golden/$name.txt" "$out/OUT/$name" 1 "$name" ||
        [ $? -le 2 ]
done

# Lua's own memory is one arena of the sandbox's process, which ends without giving it back.
looked_at() {
    valgrind --quiet --log-file="$out/log.%p" --leak-check=full --show-leak-kinds=definite \
        --errors-for-leak-kinds=definite "$build/faultline" "$@" >>"$out/said" 2>&1 || true
}

for run in "$out"/OUT/*; do
    looked_at check -v "$run"
    looked_at report --beside "$run" "$run"
    looked_at report --text "$run"
    looked_at trace --format columns "$run"
    looked_at trace --format json -o "$out/trace.json" "$run"
done
looked_at trace --format otf2 -o "$out/otf2" "$out/OUT/h_loss"
looked_at trace --format perfetto -o "$out/perfetto" "$out/OUT/h_loss"
looked_at list -v suites/storage/broken.lua
looked_at claims
looked_at run --out "$out/runs" --no-control suites/demo/breaks.lua
looked_at export -o "$out/packed" "$out/runs/latest/1"
looked_at replay --out "$out/runs" "$out/packed"

failed=0
LOGS=$out FAULTLINE_MPIEXEC=$PWD/tests/sanitise/valgrind_mpiexec.sh timeout -k 5 900 \
    "$build/faultline" run --out "$out/runs" --no-control --timeout 200 tests/sanitise/valgrind.lua |
    grep -E '^(not )?ok' || failed=1
if cat "$out"/log.* | grep -v 'valgrind ignores shmget' | head -100 | grep .; then
    exit 1
fi
[ "$failed" = 0 ] || exit 1
echo "valgrind has found nothing in $(find "$out" -name 'log.*' | wc -l) processes"
