#!/usr/bin/env bash
# make proof: one page, BUILD_FOLDER/proof/index.md, of what tells whether a verdict of Faultline can
# be believed: mutants, planted violations, what a suite covered, fuzzing, transparency. It takes what
# is stored of the long targets, and says which was never run; exit status 1 then.
# Usage: proof.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
page=$build/proof/index.md
transparency=injectors/transparency.txt
mkdir -p "$build/proof"

lacks() {
    echo "**Missing**: $1"
}

# From the first heading of the matrix on: its own title is this section's.
mutants() {
    if [ ! -s "$build/mutants/mutants.md" ]; then
        lacks "\`make mutants\` was not run here."
    else
        scripts/mutants_check.sh "$build" >/dev/null 2>"$build/proof/mutants.err" ||
            lacks "what \`make mutants-check\` says:" &&
            sed 's/^/- /' "$build/proof/mutants.err"
        echo
        sed '/^# /d; s/^#/##/' "$build/mutants/mutants.md"
    fi
}

stored() {
    if [ -s "$1" ]; then
        echo '```'
        cat "$1"
        echo '```'
    else
        lacks "\`make $2\` was not run here."
    fi
}

goldens() {
    local rejected accepted
    rejected=$(grep -lE '^expect violation' oracles/golden/*.txt | wc -l)
    accepted=$(($(find oracles/golden -name '*.txt' | wc -l) - rejected))
    echo "$rejected hand-made traces that must be rejected, $accepted that must not; the unit test"
    echo "\`golden\` judges them, and fails where a claim has none of either."
}

fuzzing() {
    if [ ! -s "$build/fuzz/statistics" ]; then
        lacks "\`make fuzz\` was not run here."
        return
    fi
    echo "| target | inputs | branches covered | seconds | what came of it |"
    echo "|---|--:|--:|--:|---|"
    sed 's/\t/ | /g; s/^/| /; s/$/ |/' "$build/fuzz/statistics"
    echo
    echo "Inputs that found something, once, and are run in every \`make test\`:"
    echo "$(find tests/fuzz/corpus -name 'crash-*' | wc -l)."
}

# The list of the repository; what was run here is held against it by the script itself.
programs() {
    local verdict
    if [ -s "$build/transparency/results" ]; then
        echo "Run here: $(wc -l <"$build/transparency/results") of $(grep -c . "$transparency")."
    else
        lacks "\`make transparency\` was not run here; this is the list of the repository."
    fi
    echo
    echo "| verdict | programs |"
    echo "|---|--:|"
    for verdict in same varies different not-run; do
        echo "| $verdict | $(cut -f2 "$transparency" | grep -c "^$verdict") |"
    done
    echo
    awk -F'\t' '$2 != "same" { printf "- `%s`: %s\n", $1, $2 }' "$transparency"
}

section() {
    echo
    echo "## $1"
    echo
}

write_page() {
    echo "# Who tests the tester"
    echo
    echo "Of $(git describe --always --dirty 2>/dev/null || echo 'a tree without git')."
    section "Mutants: what breaks is found"
    mutants
    section "Hand-made traces"
    goldens
    section "Traces drawn at random, with and without planted violations"
    stored "$build/proof/traces.txt" proof-traces
    section "Coverage: what the suites brought about"
    stored "$build/proof/coverage.txt" proof-coverage
    section "Bad input"
    fuzzing
    section "Transparency: programs that were not written for Faultline"
    programs
}

write_page >"$page"
echo "$page"
grep -F '**Missing**' "$page" >&2 || exit 0
exit 1
