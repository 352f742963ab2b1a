#!/usr/bin/env bash
# One mutant: builds it, runs what its head names, and leaves a line of JSON. Its targets are claims
# that scenarios are to find violated ("Claims:", "Scenarios: FILE [FILTER]"), or tests that are to
# fail ("Tests: unit/NAME", "Tests: NAME.bats [FILTER]"; what is wrong with an oracle of Faultline's
# own claims says which, "Claims:").
# The same is run without the mutant first: what fails then as well says nothing (control).
# Usage: one.sh BUILD_FOLDER PATCH
# MUTANTS_MORE: tests for what those of the head do not find (all unit tests).
set -euo pipefail
. scripts/mutants/common.bash
build=$1 patch=$2
name=$(mutant_name "$patch") kind=$(mutant_kind "$patch")
out=$build/mutants
work=$out/tried/$name
rounds=3           # how often scenarios are run until the targets are found
scenario_limit=600 # seconds, against hanging
test_limit=900
runs=0
declare -A found=() # claim or test → number of the run that found it first
begun=$SECONDS

# finish STATE [WHY]: leaves the result, and ends.
finish() {
    local which
    for which in "${!found[@]}"; do
        printf '%s\t%s\n' "$which" "${found[$which]}"
    done | jq -Rnc --arg mutant "$name" --arg kind "$kind" --arg patch "$patch" --arg state "$1" \
        --arg sum "$(mutant_table <<<"$patch" | cut -f2)" --arg why "${2:-}" --arg targets "${targets[*]:-}" \
        --argjson runs "$runs" --argjson seconds $((SECONDS - begun)) \
        --arg of "$(git describe --always --dirty 2>/dev/null || true)" --arg at "$(date -u +%FT%RZ)" '
        {mutant: $mutant, kind: $kind, patch: $patch, sum: $sum, state: $state, why: $why,
         targets: ($targets | split(" ")), runs: $runs, seconds: $seconds, of: $of, at: $at,
         found: ([inputs | split("\t") | {key: .[0], value: (.[1] | tonumber)}] | from_entries)}' \
        >"$out/results/$name.new"
    mv "$out/results/$name.new" "$out/results/$name.json"
    rm -rf "$work"
    jq -r '"# \(.mutant): \(.state), \(.found | keys | join(" ")) in \(.runs) runs"' \
        "$out/results/$name.json"
    exit 0
}

all_found() {
    local target
    for target in "${targets[@]}"; do
        [ -n "${found[$target]:-}" ] || return 1
    done
}

rm -rf "$work"
mkdir -p "$work" "$out/control"

# --- a mutant of a protocol ----------------------------------------------------------------------

# shelve LIBRARY WIRE SHELF: the library in the place of the protocol and of each of its variants, so
# that a situation made for another variant can be the one for this. (Reference runs use others.)
shelve() {
    local as variant
    local names=("$protocol")
    for variant in "suites/protocols/$protocol/broken/"*.patch; do
        names+=("$protocol-$(basename "$variant" .patch)")
    done
    mkdir -p "$3"
    ln -sf "$(realpath "$build/protocols")"/* "$3/"
    for as in "${names[@]}"; do
        cp --remove-destination "$1" "$3/lib$as.so" # what belongs to a library is looked for beside it
        [ ! -e "$2" ] || ln -sf "$(realpath "$2")" "$3/$as.wire.lua"
    done
}

runs_of() {
    find "$1/latest/" -mindepth 2 -maxdepth 2 -name verdict.json -printf '%h\n' | sort -V
}

# No claim at all is violated.
is_clean() {
    local status=0
    "$build/faultline" check --claims "${claims//$'\n'/,}" "$1" >"$work/check.tap" 2>&1 || status=$?
    [[ $status = [023] ]] # other than 1: it could not judge, and each claim is asked for by itself
}

# violated FOLDER: the claims that its runs violate, each with the number of the run. Each run is
# judged by all claims of the protocol, whatever its scenario asks for. H.progress is judged with each,
# so that it is looked which of them is said to be violated.
violated() {
    local run number=0 claim
    while read -r run; do
        number=$((number + 1))
        ! is_clean "$run" || continue
        for claim in $claims; do
            "$build/faultline" check --claims "$claim" "$run" >"$work/check.tap" 2>&1 || true
            ! grep -q 'verdict: "violation"' "$work/check.tap" ||
                ! grep -q "^not ok .* # $claim\$\|^ *- \"$claim violation: " "$work/check.tap" ||
                echo "$claim $number"
        done
    done < <(runs_of "$1")
}

# scenarios SHELF FOLDER FILE [FILTER]
scenarios() {
    local status=0
    FAULTLINE_PROTOCOLS=$1 timeout -k 10 "$scenario_limit" nice -n 5 "$build/faultline" run --keep --no-control --out "$2" \
        ${4:+--filter "$4"} "$3" >"$2.tap" 2>"$2.said" || status=$?
    [ "$status" -le 2 ] || finish error "$3 ends with status $status: $(tail -c 300 "$2.said")"
}

# The protocol as it should be, in the mutant's place: nothing may be violated. Once for all mutants.
control_scenarios() {
    local folder stored claim
    folder=$work/control
    stored=$out/control/$(tr -c 'a-zA-Z0-9\n' _ <<<"$protocol $*")
    [ ! -e "$stored" ] || return 0
    shelve "$build/protocols/lib$protocol.so" "$build/protocols/$protocol.wire.lua" "$work/right"
    scenarios "$work/right" "$folder" "$@"
    claim=$(violated "$folder" | head -1)
    [ -z "$claim" ] || finish control-failed "without the mutant $* finds ${claim% *}"
    rm -rf "$folder"
    touch "$stored"
}

run_protocol() {
    local round line file filter claim at library
    protocol=$(cut -d/ -f3 <<<"$patch")
    claims=$(protocol_claims "$protocol")
    case $patch in
    */broken/*) library=$build/protocols/lib$name.so ;;
    *) library=$build/mutants/protocols/lib$name.so ;;
    esac
    read -ra targets < <(mutant_says "$patch" Claims | tr -d ,)
    mapfile -t lines < <(mutant_says "$patch" Scenarios)
    if [ "${#targets[@]}" -eq 0 ] || [ "${#lines[@]}" -eq 0 ]; then
        finish error "its head names no claims and scenarios"
    fi
    make -s BUILD="$build" "$library" >"$work/build.log" 2>&1 ||
        finish does-not-build "$(tail -c 300 "$work/build.log")"
    shelve "$library" "$build/broken/$name/suites/protocols/$protocol/wire.lua" "$work/shelf"
    for ((round = 1; round <= rounds; round++)); do
        for line in "${lines[@]}"; do
            read -r file filter <<<"$line"
            [ "$round" -gt 1 ] || control_scenarios "$file" "$filter"
            scenarios "$work/shelf" "$work/run" "$file" "$filter"
            while read -r claim at; do
                [ -n "${found[$claim]:-}" ] || found[$claim]=$((runs + at))
            done < <(violated "$work/run")
            runs=$((runs + $(runs_of "$work/run" | wc -l)))
            rm -rf "$work/run"
            ! all_found || finish ran
        done
    done
    finish ran
}

# --- a mutant of Faultline itself ----------------------------------------------------------------

# run_test TREE TEST [FILTER]: does it fail? What it needs is built first.
test_fails() {
    local tree=$1 test=$2 filter=${3:-} status=0 log=$work/test.log
    case $test in
    unit/*)
        make -s -C "$tree" BUILD=build "build/tests/${test#unit/}.t" >"$work/build.log" 2>&1 ||
            finish does-not-build "$(tail -c 300 "$work/build.log")"
        (cd "$tree" && timeout -k 10 "$test_limit" nice -n 5 "build/tests/${test#unit/}.t") \
            >"$log" 2>&1 || status=$?
        ;;
    *.bats)
        make -s -C "$tree" BUILD=build test-programs >"$work/build.log" 2>&1 ||
            finish does-not-build "$(tail -c 300 "$work/build.log")"
        (cd "$tree" && BUILD=build timeout -k 10 "$test_limit" \
            nice -n 5 bats ${filter:+-f "$filter"} "tests/$test") >"$log" 2>&1 || status=$?
        ! grep -q '^1\.\.0$' "$log" || finish error "tests/$test has no test \"$filter\""
        ;;
    *) finish error "no test is called $test" ;;
    esac
    runs=$((runs + 1))
    [ "$status" -ne 0 ]
}

# Without the mutant, once for each test.
control_test() {
    local stored
    stored=$out/control/$(tr -c 'a-zA-Z0-9\n' _ <<<"$*")
    exec 8>"$out/control.lock"
    flock 8 # one at a time builds there
    [ ! -e "$stored" ] || {
        exec 8>&-
        return 0
    }
    ! test_fails "$out/base" "$@" || finish control-failed "without the mutant $* fails: $(tail -c 300 "$work/test.log")"
    runs=0
    touch "$stored"
    exec 8>&-
}

# try TEST [FILTER]
try() {
    ! test_fails "$work/tree" "$@" || found[$1]=$runs
}

# What is linked, most of its bytes, is shared with the base: a linker does not write into a file that
# is there.
copy_base() {
    mkdir "$work/tree"
    tar -C "$out/base" --format=posix --exclude='./build/tests/*.t' --exclude=./build/fuzz -cf - . |
        tar -C "$work/tree" -xf -
    cp -al "$out"/base/build/tests/*.t "$work/tree/build/tests/"
    cp -al "$out/base/build/fuzz" "$work/tree/build/"
}

run_harness() {
    local line test filter claim oracle_of
    mapfile -t lines < <(mutant_says "$patch" Tests)
    read -ra oracle_of < <(mutant_says "$patch" Claims | tr -d ,) || true
    [ "${#lines[@]}" -gt 0 ] || finish error "its head names no tests"
    read -r test filter <<<"${lines[0]}"
    targets=("$test" "${oracle_of[@]}")
    for line in "${lines[@]}"; do
        read -r test filter <<<"$line"
        control_test "$test" "$filter"
    done
    copy_base
    patch -s -p1 -F0 -d "$work/tree" <"$patch" >"$work/patch.log" 2>&1 ||
        finish does-not-apply "$(tail -c 300 "$work/patch.log")"
    for line in "${lines[@]}"; do
        read -r test filter <<<"$line"
        try "$test" "$filter"
        [ "${#found[@]}" -gt 0 ] || continue
        for claim in "${oracle_of[@]}"; do
            found[$claim]=$runs
        done
        finish ran
    done
    for test in ${MUTANTS_MORE-$(find tests/unit -name '*.c' -printf 'unit/%f\n' | sort)}; do
        try "${test%.c}"
        [ "${#found[@]}" -eq 0 ] || finish ran
    done
    finish ran
}

targets=()
patch --dry-run -s -p1 -F0 <"$patch" >"$work/patch.log" 2>&1 ||
    finish does-not-apply "$(tail -c 300 "$work/patch.log")"
"run_$kind"
