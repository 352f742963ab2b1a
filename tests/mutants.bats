#!/usr/bin/env bats
# Mutants: every patch applies and says what is to catch it; the tool tells what is caught, what
# survives and what does not apply; and what stored results are held against. All of them are run by
# `make mutants`.

bats_require_minimum_version 1.5.0

setup() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    . "$REPO/scripts/mutants/common.bash"
    cd "$REPO" || return 1
}

# Results of the tool go to a folder of their own; what is built is shared.
own_folder() {
    OWN=$BATS_TEST_TMPDIR/build
    mkdir -p "$OWN"
    ln -s "$BUILD"/* "$OWN/"
    rm -f "$OWN/mutants" "$OWN/broken"
    mkdir "$OWN/mutants"
}

# fixture NAME FROM TO: a patch of oracles/h_result in the folder of this test, for unit/golden.
fixture() {
    local changed=$BATS_TEST_TMPDIR/changed.c
    mkdir -p "$BATS_TEST_TMPDIR/fixture"
    sed "s|$2|$3|" oracles/history_claims/h_result.c >"$changed"
    run ! cmp -s oracles/history_claims/h_result.c "$changed"
    {
        printf 'For a test.\n\nTests: unit/golden\n\n'
        diff -u --label a/oracles/history_claims/h_result.c --label b/oracles/history_claims/h_result.c oracles/history_claims/h_result.c "$changed" || true
    } >"$BATS_TEST_TMPDIR/fixture/$1.patch"
}

# shell < COMMANDS: runs them in another shell. In a test, bats runs code of its own before each command,
# and that takes longer than the command.
shell() {
    CLAIMS=$BATS_TEST_TMPDIR/claims bash -euo pipefail -c '. scripts/mutants/common.bash; . /dev/stdin'
}

@test "every patch applies to the code as it is" {
    local patch bad=0
    while read -r patch; do
        patch --dry-run -s -p1 -F0 <"$patch" >"$BATS_TEST_TMPDIR/said" || {
            echo "$patch: $(cat "$BATS_TEST_TMPDIR/said")"
            bad=1
        }
    done < <(mutant_patches; hunted_patches)
    [ "$bad" -eq 0 ]
}

@test "mutants drawn from one seed are the same ones, apply, and change one line each" {
    local again patch
    mapfile -t sources < <(find suites/protocols/c3 -name '*.c' | sort)
    for again in first second; do
        mkdir "$BATS_TEST_TMPDIR/$again"
        lua5.4 scripts/mutants/draw.lua 7 60 "$BATS_TEST_TMPDIR/$again" "${sources[@]}"
    done
    diff -r "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
    [ "$(find "$BATS_TEST_TMPDIR/first" -name '*.patch' | wc -l)" -eq 60 ]
    for patch in "$BATS_TEST_TMPDIR"/first/*; do
        patch --dry-run -s -p1 -F0 <"$patch"
        [ "$(grep -c '^[-+] ' "$patch")" -eq 2 ]
    done
    lua5.4 scripts/mutants/draw.lua 8 60 "$BATS_TEST_TMPDIR/second" "${sources[@]}"
    run ! diff -r "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
    run -64 lua5.4 scripts/mutants/draw.lua 7 many "$BATS_TEST_TMPDIR/first" "${sources[@]}"
    run -64 env HUNT_DRAWN=some scripts/hunt.sh "$BUILD"
    [[ $output == *"HUNT_DRAWN=some"*"whole numbers are accepted"* ]]
}

@test "every mutant of the hunt says by which claim it is found, or why it survives" {
    shell <<"END"
    [ "$(hunted_patches | wc -l)" -ge 60 ]
    while read -r patch; do
        said=$(mutant_says "$patch" Found)
        for claim in ${said//,/}; do
            grep -q "\"$claim\"" oracles/claims.def ||
                { echo "$patch: $claim is no claim" && exit 1; }
        done
        [ -n "$said" ] || [ -n "$(mutant_says "$patch" Survives)" ] ||
            { echo "$patch says neither" && exit 1; }
    done < <(hunted_patches)
END
}

@test "every patch says what is to catch it, and that is there" {
    shell <<"END"
    bad=0
    mutant_claims >"$CLAIMS"
    while read -r patch; do
        if [ "$(mutant_kind "$patch")" = protocol ]; then
            grep -q '^Claims: ' "$patch" && grep -q '^Scenarios: ' "$patch" || { echo "$patch: no head"; bad=1; }
            for claim in $(mutant_says "$patch" Claims | tr -d ,); do
                grep -qx "$claim" "$CLAIMS" || { echo "$patch: $claim?"; bad=1; }
            done
            while read -r file _; do
                [ -e "$file" ] || { echo "$patch: $file?"; bad=1; }
            done < <(mutant_says "$patch" Scenarios)
        else
            grep -q '^Tests: ' "$patch" || { echo "$patch: no head"; bad=1; }
            while read -r test _; do
                [ -e "tests/$test" ] || compgen -G "tests/unit/*/${test#unit/}.c" >/dev/null ||
                    { echo "$patch: $test?"; bad=1; }
            done < <(mutant_says "$patch" Tests)
        fi
    done < <(mutant_patches)
    [ "$bad" -eq 0 ]
END
}

@test "names are different" {
    [ -z "$(mutant_patches | while read -r patch; do mutant_name "$patch"; done | sort | uniq -d)" ]
}

@test "three of Faultline: caught, surviving, not applying" {
    own_folder
    fixture turned 'VERDICT_VIOLATION' 'VERDICT_UNKNOWN'
    fixture nothing 'A member' 'A small member'
    fixture stale 'VERDICT_VIOLATION' 'VERDICT_UNKNOWN'
    sed -i 's/^-.*VERDICT_VIOLATION.*/-no such line/' "$BATS_TEST_TMPDIR/fixture/stale.patch"
    MUTANTS_MORE='' run scripts/mutants.sh "$OWN" "$BATS_TEST_TMPDIR"/fixture/*.patch
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *'| fixture-turned | caught | 1 | unit/golden | unit/golden |'* ]]
    [[ "$output" == *'| fixture-nothing | SURVIVED | 1 | unit/golden |  |'* ]]
    [[ "$output" == *'fixture-nothing: survived 1 runs'* ]]
    [[ "$output" == *'fixture-stale: does-not-apply: '* ]]
    grep -q '3 mutants: ' "$OWN/mutants/mutants.md"

    # What has a result is left alone.
    run scripts/mutants.sh "$OWN" "$BATS_TEST_TMPDIR"/fixture/turned.patch
    [[ "${lines[0]}" == '# 1 mutants, 0 to be run' ]]
    [ "$status" -eq 0 ]
}

@test "one of a protocol is caught by the claim that it is for" {
    own_folder
    run scripts/mutants.sh "$OWN" blocking-every-one-ahead
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *'| blocking-every-one-ahead | caught | 1 | **1** |'* ]]
}

@test "a name that no mutant has" {
    own_folder
    run -64 scripts/mutants.sh "$OWN" 'c4-*'
    [[ "$output" == *'no mutant is called c4-*'* ]]
}

# results: writes a result of each mutant into one file. The first five are caught by all claims, the
# others by one.
results() {
    mkdir "$OWN/mutants/results"
    shell <<<'mutant_patches | mutant_table' |
        jq -Rc --arg claims "$(mutant_claims)" '
        split("\t") as [$mutant, $sum, $patch] | ($claims | split("\n")) as $claims
        | (if input_line_number > 5 then $claims[:1] else $claims end) as $targets
        | {$mutant, $patch, $sum, kind: "protocol", state: "ran", why: "", $targets,
           runs: 2, seconds: 1, found: ($targets | map({key: ., value: 1}) | from_entries)}' \
            >"$OWN/mutants/results/all.json"
}

# no_barrier FILTER: changes one of the results.
no_barrier() {
    local file=$OWN/mutants/results/all.json
    jq -c "if .mutant == \"blocking-no-barrier\" then $1 else . end" "$file" >"$file.new"
    mv "$file.new" "$file"
}

@test "what all stored results must come to" {
    own_folder
    results
    run -0 scripts/mutants_check.sh "$OWN"

    no_barrier '.found = {}'
    run -1 scripts/mutants_check.sh "$OWN"
    [[ "$output" == *'blocking-no-barrier: survived 2 runs'* ]]
    no_barrier '.state = "does-not-build"'
    run -1 scripts/mutants_check.sh "$OWN"
    [[ "$output" == *'blocking-no-barrier: does-not-build'* ]]
    no_barrier '.state = "ran" | .targets = ["H.order"] | .found = {"H.loss": 1}'
    run -0 scripts/mutants_check.sh "$OWN"
    [[ "$output" == *'| blocking-no-barrier | caught by another | 2 |'* ]]
    no_barrier '.sum = "other"'
    run -1 scripts/mutants_check.sh "$OWN"
    [[ "$output" == *'blocking-no-barrier: changed'* ]]
    no_barrier 'empty'
    run -1 scripts/mutants_check.sh "$OWN"
    [[ "$output" == *'blocking-no-barrier: not run'* ]]
}

@test "a claim that only two mutants were for and have been caught by" {
    own_folder
    results
    jq -c 'if input_line_number > 2 then .targets -= ["B.empty"] else . end' \
        "$OWN/mutants/results/all.json" >"$BATS_TEST_TMPDIR/two"
    mv "$BATS_TEST_TMPDIR/two" "$OWN/mutants/results/all.json"
    run -1 scripts/mutants_check.sh "$OWN"
    [[ "$output" == *'B.empty has caught 2 mutants, fewer than 3'* ]]
}
