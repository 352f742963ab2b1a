#!/usr/bin/env bats
# The page of `make proof`: it says of what is stored what it is, and calls nothing complete that was
# not run, was ended early, or failed.

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

# coverage_of LAST: every suite keeps its promise, and then comes LAST.
coverage_of() {
    {
        echo "ok 1 - one"
        (cd "$REPO" && grep -l '^cover' suites/*/*.lua) | sed 's/.*/ok 2 - & covers what it promises/'
        printf '# coverage of 1 run\n#   H.loss 1 situations\n%s\n' "$1"
    } >"$BATS_TEST_TMPDIR/proof/run.tap"
}

@test "what was not run is said, each with its target" {
    proof
    for target in mutants proof-traces proof-coverage fuzz; do
        grep "not complete | .make $target. was not run here" "$PAGE.md"
    done
}

@test "coverage holds if all suites keep their promises, not if one is missing or it was ended early" {
    coverage_of "# holes: none"
    proof
    says Coverage holds "; 0 of"
    sed -i 2d "$BATS_TEST_TMPDIR/proof/run.tap"
    proof
    says Coverage "not complete"
    coverage_of "Bail out! interrupted by SIGTERM"
    proof
    says Coverage "not complete"
    grep 'Not finished.*: interrupted' "$PAGE.md"
    coverage_of "not ok 3 - another"
    proof
    says Coverage "not complete" "1 of"
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
