#!/usr/bin/env bash
# make explore-published: goes through the schedules of suites/explore/published.lua, small programs of
# the shapes for which other model checkers have published their counts, and compares with what
# suites/explore/published.txt expects: runs, and how many of them violate H.progress. Prints a line
# for each. Exit status 1: one came to something else.
# Usage: explore_published.sh BUILD; ONLY (all): a part of the names; LONG=1: also those that take
# minutes; JOBS (as many as there are cores).
set -euo pipefail
build=$(cd "${1:?use: explore_published.sh BUILD}" && pwd)
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# count WHAT FILE: the sum of the runs whose outcome is WHAT.
count() {
    sed -n "s/^    - \"\([0-9]*\) runs: $1.*/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# explored NAME OPTIONS RUNS VIOLATED
explored() {
    local options=() code=0 runs violated
    [ "$2" = - ] || read -ra options <<<"$2"
    "$build/faultline" explore "${options[@]}" --jobs "${JOBS:-$(nproc)}" --out "$work/out" --filter "$1" \
        suites/explore/published.lua >"$work/tap" 2>&1 || code=$?
    rm -rf "$work/out"
    runs=$(sed -n 's/.*"complete: every schedule of .* ranks, \([0-9]*\) runs, .*/\1/p' "$work/tap")
    violated=$(count 'violation H.progress' "$work/tap")
    printf '%-30s %-10s %6s runs, %3s violate\n' "$1" "$2" "${runs:-?}" "$violated"
    if [ "$code" -gt 1 ] || [ "$runs" != "$3" ] || [ "$violated" != "$4" ]; then
        echo "  expected: $3 runs, $4 violate"
        cat "$work/tap"
        status=1
    fi
}

while IFS='|' read -r name options runs violated long; do
    case $name in '#'* | '') continue ;; *"${ONLY:-}"*) ;; *) continue ;; esac
    [ -z "$long" ] || [ -n "${LONG:-}" ] || continue
    explored "$name" "$options" "$runs" "$violated" </dev/null
done <suites/explore/published.txt
exit "$status"
