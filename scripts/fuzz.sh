#!/usr/bin/env bash
# make fuzz: each fuzz target for so many seconds; what covers more stays in BUILD/fuzz/found and is
# where the next time begins. A finding is left in BUILD/fuzz/findings, and fails.
# BUILD/fuzz/statistics says what it came to, a line a target, for `make proof`.
# Usage: fuzz.sh BUILD_FOLDER [TARGET ...]    FUZZ_SECONDS: of each, 600
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
seconds=${FUZZ_SECONDS:-600}
input_limit_s=120
if [ $# = 0 ]; then
    for target in tests/fuzz/*.c; do
        target=${target##*/}
        set -- "$@" "${target%.c}"
    done
fi
mkdir -p "$build/fuzz/findings"
bad=0

# Of the last report of libFuzzer: "#2097152 DONE cov: 90 ft: 103 corp: 16/144b ..."
figure() {
    grep -oE "$1" "$log" | tail -1 | grep -oE '[0-9]+' | head -1
}

for target in "$@"; do
    log=$build/fuzz/$target.log
    found=$build/fuzz/found/$target
    seeds=("tests/fuzz/corpus/$target")
    [ "$target" != golden ] || seeds+=(oracles/golden)
    mkdir -p "$found"
    status=0
    "$build/fuzz/$target" -max_total_time="$seconds" -timeout="$input_limit_s" -max_len=16384 \
        -print_final_stats=1 -artifact_prefix="$build/fuzz/findings/$target-" \
        "$found" "${seeds[@]}" >"$log" 2>&1 || status=$?
    verdict="nothing found"
    [ "$status" = 0 ] || verdict="FOUND: $(grep -m1 -E 'SUMMARY|runtime error' "$log" | cut -c1-120)"
    sed -i "/^$target	/d" "$build/fuzz/statistics" 2>/dev/null || true
    printf '%s\t%s\t%s\t%s\t%s\n' "$target" "$(figure 'number_of_executed_units: [0-9]+')" \
        "$(figure 'cov: [0-9]+')" "$seconds" "$verdict" | tee -a "$build/fuzz/statistics"
    [ "$status" = 0 ] || bad=1
done
exit $bad
