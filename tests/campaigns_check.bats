#!/usr/bin/env bats
# What the long campaigns are held against (make campaigns-check), with results made up here; and
# that there is a subject for everything they are to go over.

bats_require_minimum_version 1.5.0

setup() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    mkdir -p "$BATS_TEST_TMPDIR"/campaigns/{broken,systematic}
    cd "$BATS_TEST_TMPDIR" || return 1
}

variants() {
    "$REPO/scripts/variants.sh"
}

# right NAME: a campaign of 3 runs that found nothing.
right() {
    echo '{ "going": false, "complete": true, "runs": 3,
            "verdicts": { "pass": 2, "vacuous": 1, "violation": 0, "harness-error": 0 },
            "canaries": [ { "found": true } ], "groups": [], "subjects": [ { "complete": true } ] }' \
        >"campaigns/$1"
}

# found NAME RUN: one that found something in this run.
found() {
    echo '{ "groups": [ { "verdict": "violation", "claim": "C.late.log", "first": '"$2"' },
                        { "verdict": "violation", "claim": "H.loss", "first": 99 } ] }' \
        >"campaigns/$1"
}

results() {
    local variant protocol
    right random.json
    for protocol in blocking c3 chandy_lamport cocheck; do
        right "systematic/$protocol.json"
    done
    for variant in $(variants); do
        found "broken/$variant.1.json" 7
        found "broken/$variant.2.json" 3
        found "broken/$variant.3.json" 12
    done
}

judge() {
    RUNS=3 SEEDS=3 run "$REPO/scripts/campaigns_check.sh" "$BATS_TEST_TMPDIR"
    echo "$output"
}

@test "every broken variant has a subject, and every subject one of these" {
    "$BUILD/faultline" list "$REPO/suites/campaign/broken.lua" >listed
    diff <(variants) <(grep '^[a-z]' listed | sort)
}

@test "results that are as they must be, and the table" {
    results
    judge
    [ "$status" -eq 0 ]
    grep -qxF "| \`c3-log-all\` | 3/3 | 7 | 12 | C.late.log, H.loss |" <<<"$output"
}

# change FILE FILTER WORDS: with this change the check fails, and says so.
change() {
    mv "campaigns/$1" right
    jq "$2" right >"campaigns/$1"
    judge
    [ "$status" -eq 1 ]
    [[ "$output" == *"$3"* ]]
    mv right "campaigns/$1"
}

@test "each thing that is not so is told" {
    results
    change random.json '.verdicts.violation = 1' "random.json: not so: no violation"
    change random.json '.verdicts."harness-error" = 1' "random.json: not so: no error of the harness"
    change random.json '.runs = 2' "random.json: not so: 3 runs"
    change random.json '.going = true' "random.json: not so: it has ended"
    change random.json '.canaries[0].found = false' "random.json: not so: its canaries were found"
    change random.json '.canaries = []' "random.json: not so: its canaries were found"
    change systematic/c3.json '.complete = false' "c3.json: not so: it is complete"
    change systematic/blocking.json '.verdicts.pass = 0' "blocking.json: not so: runs passed"
    change broken/c3-log-all.2.json '.groups = []' "c3-log-all: found 2 times of 3"
}

@test "what is missing is told" {
    results
    rm campaigns/systematic/cocheck.json campaigns/broken/c3-log-all.*.json
    judge
    [ "$status" -eq 1 ]
    [[ "$output" == *"cocheck.json is missing"* ]]
    [[ "$output" == *"c3-log-all: no campaign over it"* ]]
}
