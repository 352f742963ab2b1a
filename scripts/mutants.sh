#!/usr/bin/env bash
# make mutants: builds and runs every mutant, a patch that breaks a protocol or Faultline itself in
# one way, and prints which claim or test caught it. A result is kept with the sum of its patch, and
# one that is there is not made again, so that what was interrupted goes on.
# Usage: mutants.sh BUILD_FOLDER [-j N] [GLOB | FILE.patch]...
#     GLOB     only mutants of such names (c3-*, oracles-*)
#     FILE     this patch, wherever it is
# Results in BUILD_FOLDER/mutants/results, a line of JSON each; mutants_check.sh judges them.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/mutants/common.bash

build=$1 jobs=1
shift
if [ "${1:-}" = -j ]; then
    jobs=$2
    shift 2
fi
out=$build/mutants
list=$out/list

# chosen PATCH: is it one of those asked for?
chosen() {
    local name pattern
    [ "${#wanted[@]}" -gt 0 ] || return 0
    name=$(mutant_name "$1")
    for pattern in "${wanted[@]}"; do
        # shellcheck disable=SC2053 # a pattern it is to be
        [[ $name != $pattern ]] || return 0
    done
    return 1
}

wanted=() named=()
for word in "$@"; do
    case $word in
    *.patch) named+=("$word") ;;
    *) wanted+=("$word") ;;
    esac
done

mkdir -p "$out/results"
exec 9>"$out/lock"
flock -n 9 || {
    echo "mutants.sh: another one is at work in $out; -j N runs N at once" >&2
    exit 75
}
: >"$list"
if [ "${#named[@]}" -gt 0 ]; then
    printf '%s\n' "${named[@]}" >"$list"
fi
if [ "${#named[@]}" -eq 0 ] || [ "${#wanted[@]}" -gt 0 ]; then
    mutant_patches | sort | while read -r patch; do
        ! chosen "$patch" || echo "$patch"
    done >>"$list"
fi
[ -s "$list" ] || {
    echo "mutants.sh: no mutant is called $*" >&2
    exit 64
}
own=false
mutant_table <"$list" >"$list.table"
# What has no result yet, or one of another version of the patch, or could not be run.
mapfile -t due < <(mutant_results "$build" <"$list.table" |
    jq -r 'select(.state == ("not run", "changed", "error")) | .patch')
echo "# $(wc -l <"$list") mutants, ${#due[@]} to be run"
if [ "${#due[@]}" -gt 0 ]; then
    for patch in "${due[@]}"; do
        [ "$(mutant_kind "$patch")" = protocol ] || own=true
    done
    ! $own || scripts/mutants/base.sh "$build"
    printf '%s\0' "${due[@]}" | xargs -0 -n 1 -P "$jobs" scripts/mutants/one.sh "$build"
fi
mutant_results "$build" <"$list.table" >"$out/selected.jsonl"
exec scripts/mutants_check.sh "$build" "$out/selected.jsonl"
