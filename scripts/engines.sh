#!/usr/bin/env bash
# make engines: scenarios under mpiexec and on the step engine must have the same result and verdict.
# MPICH has a habit of its own which message comes first; the step engine draws it from the seed. So
# where a scenario wants a mistake to be found, or a situation to come about, and under the first
# seed that does not happen, the next ones are tried, up to SEEDS (8); how many were needed is told.
# What differs otherwise must be known to scripts/engines_differ.txt, with its reason.
# Results are kept in BUILD/engines; what has one is left alone (remove the folder to begin anew).
# Exit status 1: something differs that the list does not know.
# Usage: engines.sh BUILD_FOLDER [SUITE.lua...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
shift
seeds=${SEEDS:-8}
list=$PWD/scripts/engines_differ.txt # FILE, tab, pattern of names, tab, verdicts on the step engine, tab, reason
work=${ENGINES_OUT:-$build/engines}
mkdir -p "$work"

# Protocols' own scenarios are no suites: the tests use them with other arguments.
suites=("$@")
# Nor are what campaigns run over, jobs whose ranks live on by ULFM, which mpiexec has not, and jobs
# that fail in some schedules alone.
[ $# -gt 0 ] || mapfile -t suites < <(find suites -name '*.lua' -not -path 'suites/protocols/*' \
    -not -path 'suites/campaign/*' -not -path 'suites/respawn/*' -not -path 'suites/ulfm/*' \
    -not -path 'suites/scmel/*' -not -path 'suites/camel/*' -not -path 'suites/pessimistic/*' \
    -not -path 'suites/teams/*' -not -path 'suites/explore/published.lua' \
    -not -path 'suites/explore/matching.lua' |
    sort)

# run ENGINE SEED RESULTS WORD...: "FILE  NAME  RESULT  VERDICT  WHY" of each scenario.
run() {
    local engine=$1 seed=$2 results=$3
    shift 3
    "$build/faultline" run -j 2 --engine "$engine" --seed "$seed" --no-stacks --no-control \
        --json "$work/json" --out "$work/out" "$@" >"$work/tap" 2>"$work/said" || true
    jq -r 'select(.name) | [.file, .name, .result, .verdict, .why[0] // "", .claim // ""] | @tsv' \
        "$work/json" >"$results.new"
    mv "$results.new" "$results"
    rm -rf "$work/out" "$work/json"
}

# How a scenario comes out under a seed of the step engine, as "RESULT VERDICT".
again() {
    run step "$3" "$work/again" --filter "$2" "$1"
    awk -F'\t' -v name="$2" '$2 == name { print $3, $4; exit }' "$work/again"
}

# known FILE NAME "RESULT VERDICT": the reason of the list; fails without one.
known() {
    local file pattern verdicts reason
    while IFS=$'\t' read -r file pattern verdicts reason; do
        # shellcheck disable=SC2053 # a pattern on purpose
        [[ $1 == "$file" && $2 == $pattern && $verdicts,pass, == *"${3##* },"* ]] &&
            echo "$reason" && return 0
    done <"$list"
    return 1
}

same=0 later=0 listed=0 bad=0

# What differs: is it a matter of the seed, or known?
look_at() {
    local file=$1 name=$2 wanted=$3 got=$4 why=$5 seed reason
    # "is expected, and ...": a mistake that was not found
    if [ "$wanted" = 'pass pass' ]; then
        case "$got|$why" in
        *vacuous* | *'is expected, and '*)
            for ((seed = 2; seed <= seeds; seed++)); do
                [ "$(again "$file" "$name" "$seed")" = "$wanted" ] || continue
                echo "seed $seed: $file: $name"
                later=$((later + 1))
                return
            done
            ;;
        esac
    fi
    if reason=$(known "$file" "$name" "$got"); then
        echo "known: $file: $name: mpiexec $wanted, step $got: $reason"
        listed=$((listed + 1))
    else
        echo "DIFFERENT: $file: $name: mpiexec $wanted, step $got: $why"
        bad=$((bad + 1))
    fi
}

for suite in "${suites[@]}"; do
    results=$work/$(tr / - <<<"${suite%.lua}")
    for engine in mpiexec step; do
        [ -e "$results.$engine" ] || run "$engine" 1 "$results.$engine" "$suite"
    done
    [ "$(cut -f1,2 "$results.mpiexec")" = "$(cut -f1,2 "$results.step")" ] ||
        { echo "DIFFERENT: $suite: other scenarios have run" && bad=$((bad + 1)) && continue; }
    # The separator is one that is no blank, so that empty fields stay.
    while IFS=$'\x1f' read -r file name result verdict _ _ _ _ stepped_result stepped_verdict why _; do
        if [ "$result $verdict" = "$stepped_result $stepped_verdict" ]; then
            same=$((same + 1))
        else
            look_at "$file" "$name" "$result $verdict" "$stepped_result $stepped_verdict" "$why"
        fi
    done < <(paste "$results.mpiexec" "$results.step" | tr '\t' '\037')
done
echo "$same scenarios the same, $later under a later seed, $listed known to differ, $bad different"
[ "$bad" = 0 ]
