#!/bin/bash
# Whether `faultline explore` finds with its reduction what it finds in all orders: small jobs, each
# explored in both ways, must come to the same outcomes. Jobs that have too many orders must come, with
# the reduction, to all that their orders with few preemptions come to. An hour.
# Usage: explore_orders.sh BUILD; ONLY (all): a part of the names.
set -euo pipefail
build=$(cd "${1:?which build folder}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
status=0

# outcomes OPTION...: sorted, and the number of runs in $runs.
outcomes() {
    "$build/faultline" explore "$@" s.lua >out.tap || [ $? -eq 1 ]
    grep -q 'complete: every schedule' out.tap
    runs=$(sed -n 's/.*complete: .*, \([0-9]*\) runs, .*/\1/p' out.tap)
    sed -n 's/^    - "[0-9]* runs: \([^:]*\).*/\1/p' out.tap | tr -d '"' | sort
}

# same WHAT RANKS [PREEMPTIONS]: a job of tests/mpi/engine/explore_order.c.
same() {
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = %d, arguments = { "%s" },
  claims = { "H.progress", "I" } }\n' "$1" "$build/tests/mpi/explore_order" "$2" "$1" >s.lua
    compare "$1" "$2" "${3:-}"
}

# compare WHAT RANKS [PREEMPTIONS]: what s.lua comes to.
compare() {
    case $1 in *"${ONLY:-}"*) ;; *) return ;; esac
    outcomes >reduced
    local few=$runs columns=-3 orders='all orders'
    outcomes --all-orders ${3:+--preemptions "$3"} >all
    [ -z "${3:-}" ] || { columns=-13 orders="orders with at most $3 preemptions"; }
    comm "$columns" reduced all >differ
    if [ -s differ ]; then
        echo "not ok: $1 of $2 ranks: outcomes of $orders that differ from those with the reduction"
        cat differ
        status=1
    else
        echo "ok: $1 of $2 ranks: $(wc -l <reduced) outcomes, $few runs instead of $runs ($orders)"
    fi
}

# program NAME RANKS ARGUMENT...: one of the suites' programs, by itself.
program() {
    local name=$1 ranks=$2 arguments=
    shift 2
    [ $# -eq 0 ] || printf -v arguments '"%s", ' "$@"
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = %d, arguments = { %s },
  claims = { "H.progress", "I" } }\n' "$name" "$name" "$ranks" "$arguments" >s.lua
    compare "$name $*" "$ranks"
}

# survive WHAT RANKS: a job of explore_death.c, in which the last rank dies and others go on.
survive() {
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = %d, arguments = { "%s" },
  survivors = true, claims = { "H.progress", "I" }, plan = function(p)
    p:kill { rank = %d, event = "call", call = "MPI_Finalize" } end }\n' \
        "$1" "$build/tests/mpi/explore_death" "$2" "$1" $(($2 - 1)) >s.lua
    compare "$1, with a death," "$2"
}

same look 2
same poll 2
same some 2
same order 2
same list 2
same tags 2
same found 2
same each 3 1
same any 3 1
same met 3 1
same found 3 1
# It ends by itself since the plate is too small: the first rank to do so is told.
program laplace 2 --size 4
program survivors 2
program tally 2 --iterations 1
program neuron 2 --iterations 1 --size 16
program ring 2 --iterations 1 --size 1
survive given 2
survive leave 2
survive barrier 2
survive agree 2

exit "$status"
