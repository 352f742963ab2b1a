#!/bin/sh
# How fast `faultline check` judges a long trace (families H and I, 4 ranks), and in how much memory.
# Fails if it is fewer than 3 million records/s of one core, or if the longest trace takes more than
# 1.10 times the memory of the first.
#     scripts/bench_check.sh [BUILD] [RECORDS...]      default: build 1000000 10000000
# The last line is for programs: "check RECORDS_PER_SECOND PEAK_KIB_SHORT PEAK_KIB_LONG".
set -eu

build=${1:-build}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- 1000000 10000000
ranks=4
folder=$(mktemp -d "${TMPDIR:-/tmp}/faultline-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT INT TERM

# The run folder that `faultline check` expects.
mkdir -p "$folder/trace"
: >"$folder/plan"
cat >"$folder/run.json" <<JSON
{"version": 2, "number": 1, "seed": "1", "timeout_s": 60, "seconds": 1,
 "scenario": {"name": "a long trace", "file": "bench_check.sh", "line": 1, "protocol": "null",
   "program": "ring", "arguments": [], "environment": [], "ranks": $ranks,
   "claims": ["H", "I"], "cover": [], "max_incarnations": 0},
 "end": "finished", "end_text": "finished", "incarnations": 1, "steps": [],
 "rank_ends": [], "references": [], "reference_text": ""}
JSON

first_peak=
for records in "$@"; do
    rm -f "$folder"/trace/*.trace
    "$build/bench/make_trace" "$folder/trace" "$ranks" "$records"
    # shellcheck disable=SC2046 # two words on purpose
    set -- $(cat "$folder"/trace/*.trace | wc -c) "$@"
    count=$((($1 - ranks * 4096) / 64))
    shift
    if ! "$build/bench/measure" "$build/faultline" check "$folder" \
        >"$folder/tap" 2>"$folder/measured"; then
        cat "$folder/measured" >&2
        exit 1
    fi
    read -r seconds peak status <<MEASURED
$(tail -n 1 "$folder/measured")
MEASURED
    if [ "$status" != 0 ]; then
        cat "$folder/tap" "$folder/measured" >&2
        echo "bench_check.sh: the trace was not judged as a pass (exit status $status)" >&2
        exit 1
    fi
    rate=$(awk "BEGIN { printf \"%.0f\", $count / $seconds }")
    printf '%9d records  %7.3f s  %9d records/s  peak memory %6d KiB\n' \
        "$count" "$seconds" "$rate" "$peak"
    [ -n "$first_peak" ] || first_peak=$peak
done
echo "check $rate $first_peak $peak"
awk "BEGIN { exit !($rate >= 3000000 && $peak <= 1.10 * $first_peak) }" || {
    echo "bench_check.sh: missed: at least 3000000 records/s, memory at most 1.10 times the first" >&2
    exit 1
}
