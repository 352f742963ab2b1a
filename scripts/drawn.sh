#!/usr/bin/env bash
# make drawn: programs drawn from seeds, under each protocol, on the step engine, with deaths
# (suites/drawn/programs.lua, rare.lua, lines.lua, tokens.lua and others.lua; where ranks live on also deaths.lua and
# worlds.lua).
# Prints what did not pass with the seed of its chunk, and how many of each protocol passed, and in how
# many something was not brought about, as where a rank never came to the place of its death
# (vacuous). Exit status 1: some did not pass.
# JOBS: how many at once (default two for each processor: the ranks of two jobs may share one while
# another is idle).
# Usage: drawn.sh BUILD_FOLDER [PROGRAMS_OF_EACH_PROTOCOL [FIRST_SEED [OPTION of run ...]]]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
programs=${2:-10000}
first=${3:-1}
of_a_chunk=$(sed -n 's/^local PROGRAMS = \([0-9]*\).*/\1/p' suites/drawn/programs.lua)
[ -n "$of_a_chunk" ] || {
    echo "drawn.sh: suites/drawn/programs.lua does not say how many programs it draws" >&2
    exit 3
}
out=$(mktemp -d "${TMPDIR:-/tmp}/faultline-drawn.XXXXXX")
trap 'rm -rf "$out"' EXIT

for ((seed = first, done = 0; done < programs; seed++, done += of_a_chunk)); do
    status=0
    "$build/faultline" run -v --engine step --seed "$seed" --no-control --no-stacks --out "$out/runs" \
        --jobs "${JOBS:-$((2 * $(nproc)))}" \
        "${@:4}" suites/drawn/programs.lua suites/drawn/rare.lua \
        suites/drawn/lines.lua suites/drawn/tokens.lua suites/drawn/others.lua suites/drawn/deaths.lua \
        suites/drawn/worlds.lua >"$out/tap" || status=$?
    # What ended without its results is no result of programs.
    if [ "$status" -gt 2 ] || ! grep -q '^1\.\.' "$out/tap"; then
        echo "drawn.sh: seed $seed: faultline run ended with status $status" >&2
        tail -n 5 "$out/tap" >&2
        exit 3
    fi
    if [ "$status" = 1 ]; then
        echo "seed $seed:"
        awk '/^(not )?ok / { shown = /^not ok/ && !/ # vacuous$/ } shown' "$out/tap"
    fi
    sed -nE 's/^((not )?ok) [0-9]+ - ([^:]+): [^#]*/\3 \1/p' "$out/tap" >>"$out/all"
    rm -rf "$out/runs"
done
awk '{ kind = /# vacuous$/ ? "vacuous" : $2 == "ok" ? "passed" : "failed"
       count[kind]++; of[$1 " " kind]++; names[$1] }
     END { for (name in names)
               printf "%-16s %d passed, %d vacuous, %d failed\n", name, of[name " passed"],
                      of[name " vacuous"], of[name " failed"] | "sort"
           close("sort")
           exit count["passed"] == 0 || count["failed"] > 0 }' "$out/all"
