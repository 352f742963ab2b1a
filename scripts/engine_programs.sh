#!/usr/bin/env bash
# make engine-programs: programs drawn from seeds, on the step engine and on the MPI library: what
# the ranks say must be the same. A tenth of them send messages and make collective calls on lasting
# communicators (suites/programs/drawn, 100 steps each), the others make collective calls on random
# ones (tests/mpi/engine/engine_random, 20 steps), of which a job runs many, one after the other.
# Prints what differs, and how many are equal; exit status 1: not all.
# Usage: engine_programs.sh BUILD_FOLDER [PROGRAMS [FIRST_SEED]]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
programs=${2:-2000}
first=${3:-1}
of_a_job=25
work=$(mktemp -d "$build/engine-programs.XXXXXX")
trap 'rm -rf "$work"' EXIT

# said ENGINE PROGRAM RANKS SEED ARGUMENTS: the lines of all ranks, sorted, in $work/ENGINE; fails
# where the run does.
said() {
    local status=0
    printf 'scenario "drawn" { protocol = "null", program = "%s", ranks = %d, engine = "%s",
  arguments = { %s }, claims = { "H.progress", "I.legal" } }\n' \
        "$build/$2" "$3" "$1" "$5" >"$work/s.lua"
    rm -rf "$work/out"
    "$build/faultline" run --keep --seed "$4" --timeout 300 --no-stacks --no-control \
        --out "$work/out" "$work/s.lua" >"$work/tap" 2>&1 || status=$?
    sed -n '/^[0-9]/p' "$work"/out/latest/1/output/r*.out | sort >"$work/$1"
    [ "$status" = 0 ] || [ "$status" = 2 ] # vacuous: no messages for I.legal
}

equal=0 different=0 native=0

# differs PROGRAM RANKS SEED ARGUMENTS LINES: on which of the engines what is wrong, in $why. A line is
# RANK NUMBER ..., and each rank has so many.
differs() {
    why=''
    if ! said mpiexec "${@:1:4}"; then
        why='MPICH gives up'
    elif ! said step "${@:1:4}"; then
        why="the step engine: $(grep -m1 '^    - ' "$work/tap")"
    elif ! cmp -s "$work/step" "$work/mpiexec"; then
        why="the ranks say something else: $(diff "$work/step" "$work/mpiexec" | sed -n 2p)"
    elif [ "$(cut -d' ' -f2 "$work/step" | sort -u | wc -l)" != "$5" ]; then
        why='not all of the program has run'
    fi
    [ -n "$why" ]
}

# count PROGRAM RANKS SEED PROGRAMS: of what was compared last.
count() {
    if [ -z "$why" ]; then
        equal=$((equal + $4))
        return
    fi
    echo "$1, seed $3, $2 ranks: $why"
    case $why in MPICH*) native=$((native + 1)) ;; *) different=$((different + 1)) ;; esac
}

# of_collectives SEED SEEDS RANKS: where any differs, each seed is looked at by itself.
of_collectives() {
    local program=tests/mpi/engine_random seed
    if ! differs "$program" "$3" "$1" "\"$1\", \"$2\", \"20\"" "$2" || [ "$2" = 1 ]; then
        count "$program" "$3" "$1" "$2"
        return
    fi
    for ((seed = $1; seed < $1 + $2; seed++)); do
        of_collectives "$seed" 1 "$3"
    done
}

of_messages() {
    differs programs/drawn "$2" "$1" "\"--seed\", $1, \"--iterations\", 100, \"--tell\", 10" 10 || true
    count programs/drawn "$2" "$1" 1
}

for ((seed = first; seed < first + programs / 10; seed++)); do
    of_messages "$seed" "$((2 + seed % 5))"
done
for ((seed = first; seed < first + programs * 9 / 10; seed += of_a_job)); do
    seeds=$((first + programs * 9 / 10 - seed))
    of_collectives "$seed" "$((seeds < of_a_job ? seeds : of_a_job))" "$((2 + seed / of_a_job % 3))"
done
echo "$equal programs are equal on both engines, $different are not, with $native MPICH gives up"
[ "$different" = 0 ]
