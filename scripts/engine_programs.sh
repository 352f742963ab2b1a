#!/usr/bin/env bash
# make engine-programs: programs drawn from seeds, on the step engine and on the MPI library: what
# the ranks say must be the same. Half of them send messages (tests/mpi/engine/engine_messages), half
# are collectives on random communicators (engine_random). A job runs many seeds, one after the other.
# Prints what differs, and how many are equal; exit status 1: not all.
# Usage: engine_programs.sh BUILD_FOLDER [PROGRAMS [FIRST_SEED]]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
programs=${2:-2000}
first=${3:-1}
of_a_job=50
steps=20
work=$(mktemp -d "$build/engine-programs.XXXXXX")
trap 'rm -rf "$work"' EXIT

# said ENGINE PROGRAM SEED SEEDS RANKS: the lines of all ranks, sorted.
said() {
    printf 'scenario "drawn" { protocol = "null", program = "%s", ranks = %d, engine = "%s",
  arguments = { "%d", "%d", "%d" }, claims = { "H.progress", "H.payload", "I.legal" } }\n' \
        "$build/tests/mpi/$2" "$5" "$1" "$3" "$4" "$steps" >"$work/s.lua"
    rm -rf "$work/out"
    "$build/faultline" run --keep --seed "$3" --timeout 300 --no-stacks --no-control \
        --out "$work/out" "$work/s.lua" >"$work/tap" 2>&1 ||
        grep -E '^not ok|^    - ' "$work/tap" >&2 || true
    sort "$work"/out/latest/1/output/r*.out
}

equal=0 different=0
for ((seed = first; seed < first + programs / 2; seed += of_a_job)); do
    seeds=$((first + programs / 2 - seed < of_a_job ? first + programs / 2 - seed : of_a_job))
    for program in engine_messages engine_random; do
        ranks=$((2 + seed / of_a_job % 3))
        said step "$program" "$seed" "$seeds" "$ranks" >"$work/step"
        said mpiexec "$program" "$seed" "$seeds" "$ranks" >"$work/mpiexec"
        # A line is RANK SEED ...: a seed differs where one of its lines does, or is missing.
        differ=$(diff "$work/step" "$work/mpiexec" | awk '/^[<>]/ { print $3 }' | sort -un | tr '\n' ' ')
        had=$(awk '{ print $2 }' "$work/mpiexec" | sort -u | wc -l)
        wrong=$(wc -w <<<"$differ")
        [ "$wrong" = 0 ] || echo "$program, $ranks ranks: different with seeds $differ"
        [ "$had" = "$seeds" ] || echo "$program, $ranks ranks, from seed $seed: $had of $seeds ran"
        equal=$((equal + had - wrong))
        different=$((different + seeds - had + wrong))
    done
done
echo "$equal programs are equal on both engines, $different are not"
[ "$different" = 0 ]
