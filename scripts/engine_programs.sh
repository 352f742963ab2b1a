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
of_a_job=25
steps=20
work=$(mktemp -d "$build/engine-programs.XXXXXX")
trap 'rm -rf "$work"' EXIT

# said ENGINE PROGRAM SEED SEEDS RANKS: the lines of all ranks, sorted, in $work/ENGINE; fails where
# the run does.
said() {
    local status=0
    printf 'scenario "drawn" { protocol = "null", program = "%s", ranks = %d, engine = "%s",
  arguments = { "%d", "%d", "%d" }, claims = { "H.progress", "I.legal" } }\n' \
        "$build/tests/mpi/$2" "$5" "$1" "$3" "$4" "$steps" >"$work/s.lua"
    rm -rf "$work/out"
    "$build/faultline" run --keep --seed "$3" --timeout 300 --no-stacks --no-control \
        --out "$work/out" "$work/s.lua" >"$work/tap" 2>&1 || status=$?
    sort "$work"/out/latest/1/output/r*.out >"$work/$1"
    [ "$status" = 0 ] || [ "$status" = 2 ] # vacuous: no messages for I.legal
}

equal=0 different=0 native=0

# compare PROGRAM SEED SEEDS RANKS. A line is RANK SEED ...: where any differs, each seed is looked at
# by itself.
compare() {
    local seed why=''
    if ! said mpiexec "$@"; then
        why='MPICH gives up'
    elif ! said step "$@"; then
        why="the step engine: $(grep -m1 '^    - ' "$work/tap")"
    elif ! cmp -s "$work/step" "$work/mpiexec"; then
        why="the ranks say something else: $(diff "$work/step" "$work/mpiexec" | sed -n 2p)"
    elif [ "$(cut -d' ' -f2 "$work/step" | sort -u | wc -l)" != "$3" ]; then
        why='not all of the programs have run'
    else
        equal=$((equal + $3))
        return
    fi
    if [ "$3" -gt 1 ]; then
        for ((seed = $2; seed < $2 + $3; seed++)); do
            compare "$1" "$seed" 1 "$4"
        done
        return
    fi
    echo "$1, seed $2, $4 ranks: $why"
    case $why in MPICH*) native=$((native + 1)) ;; *) different=$((different + 1)) ;; esac
}

for ((seed = first; seed < first + programs / 2; seed += of_a_job)); do
    seeds=$((first + programs / 2 - seed < of_a_job ? first + programs / 2 - seed : of_a_job))
    for program in engine_messages engine_random; do
        compare "$program" "$seed" "$seeds" "$((2 + seed / of_a_job % 3))"
    done
done
echo "$equal programs are equal on both engines, $different are not, with $native MPICH gives up"
[ "$different" = 0 ]
