#!/usr/bin/env bats
# The page of `make proof`: it says of what is stored what it is, and calls nothing complete that
# was not run, was ended early, or failed.

bats_require_minimum_version 1.5.0

setup() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    PAGE=$BATS_TEST_TMPDIR/proof/index
    mkdir -p "$BATS_TEST_TMPDIR/proof"
}

proof() {
    run "$REPO/scripts/proof.sh" "$BATS_TEST_TMPDIR"
    echo "$output"
    [ "$status" -eq 1 ] && [ -s "$PAGE.html" ]
}

# says SECTION STATE WORDS: so it stands on top of the page.
says() {
    grep "^| .* | \[$1\](#.*) | $2 | .*$3" "$PAGE.md"
}

# coverage_of LAST: every suite keeps its promise; of one the end is LAST.
coverage_of() {
    local suite tap folder=$BATS_TEST_TMPDIR/proof/coverage
    mkdir -p "$folder"
    for suite in $(cd "$REPO" && grep -l '^cover' suites/*/*.lua); do
        tap=${suite#suites/}
        tap=$folder/$(tr / - <<<"${tap%.lua}").tap
        printf 'ok 1 - one\nok 2 - %s covers what it promises\n# coverage of 1 run\n' "$suite" \
            >"$tap"
    done
    echo "$1" >>"$tap"
    LAST=$tap
}

@test "what was not run is said, each with its target" {
    proof
    for target in mutants proof-traces fuzz; do
        grep "not complete | .make $target. was not run here" "$PAGE.md"
    done
    says Coverage "not complete" " were not run"
}

@test "coverage holds if all suites keep their promises, not if one was not run or fails" {
    coverage_of "# holes: none"
    proof
    says Coverage holds ", 0 do not, 0 were not run"
    rm "$LAST"
    proof
    says Coverage "not complete" ", 0 do not, 1 were not run"
    for last in "Bail out! interrupted by SIGTERM" "not ok 3 - another"; do
        coverage_of "$last"
        proof
        says Coverage "not complete" ", 1 do not, 0 were not run"
    done
    grep '^- \*\*Failed\*\*: another' "$PAGE.md"
    coverage_of "# holes: none"
    sed -i 2d "$LAST"
    proof
    says Coverage "not complete" ", 1 do not, 0 were not run"
}

@test "folders of programs that the list of transparency has nothing of are named" {
    proof
    for folder in $(sed -n '/^folders="/,/"$/p' "$REPO/scripts/transparency.sh" |
        sed 's/folders=//' | tr -d '"'); do
        grep -q "^$folder " "$REPO/injectors/transparency.txt" ||
            grep "^Folders not gone through yet: .*$folder" "$PAGE.md"
    done
}

@test "a mutant that survived, and one of which nothing is known, are named above the matrix" {
    local name=blocking-no-barrier sum
    mkdir -p "$BATS_TEST_TMPDIR/mutants/results"
    echo x >"$BATS_TEST_TMPDIR/mutants/list"
    sum=$(sha256sum "$REPO/suites/protocols/blocking/broken/no-barrier.patch")
    jq -nc --arg mutant "$name" --arg sum "${sum:0:16}" '{$mutant, $sum, kind: "protocol", why: "",
        patch: "suites/protocols/blocking/broken/no-barrier.patch", state: "ran", runs: 3,
        seconds: 1, targets: ["B.empty"], found: {}, of: "abc1234", at: "2026-01-01T00:00Z"}' \
        >"$BATS_TEST_TMPDIR/mutants/results/$name.json"
    proof
    says Mutants "not complete" "0 of .* caught, 1 survived, "
    grep "^\*\*Survived\*\*: .$name.$" "$PAGE.md"
    grep "^\*\*Not run, or changed since\*\*: .*blocking-short-write" "$PAGE.md"
    grep "^- 1 results of .abc1234., 2026" "$PAGE.md"
}

@test "in a browser it is HTML: words, tables and code, and nothing that a text put there" {
    mkdir -p "$BATS_TEST_TMPDIR/fuzz"
    # shellcheck disable=SC2016 # as it stands
    printf 'trace\t5\t7\t1\tFOUND: <script>`x`**y**</script>\n' >"$BATS_TEST_TMPDIR/fuzz/statistics"
    proof
    says "Bad input" "not complete" "0 of"
    grep -F '<td>FOUND: &lt;script&gt;<code>x</code><strong>y</strong>&lt;/script&gt;</td>' "$PAGE.html"
    grep -F '<h2 id="bad-input">Bad input</h2>' "$PAGE.html"
    grep -F 'href="#bad-input"' "$PAGE.html"
}
