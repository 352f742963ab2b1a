#!/usr/bin/env bash
# make proof: one page, BUILD_FOLDER/proof/index.html and index.md, of what tells whether a verdict
# of Faultline can be believed: mutants, hand-made traces, planted violations, what suites covered,
# mutated input, transparency. It takes what is stored of the long targets and says of each when it
# was run, and what was not; exit status 1 unless all is whole.
# Usage: proof.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/mutants/common.bash
build=$1
out=$build/proof
results=$out/mutants.jsonl # of each patch there is
listed=injectors/transparency.txt
code=(harness injectors oracles suites) # what results are results of
fence='```'
mkdir -p "$out"

# result STATE WORDS: the line on top of the page of the section that is being written.
result() {
    printf '| %s | [%s](#%s) | %s | %s |\n' "$doubt" "$section" \
        "$(tr 'A-Z ' 'a-z-' <<<"$section")" "$1" "$2" >>"$out/summary"
    [ "$1" = holds ] || echo "proof: $section: $2" >>"$out/missing"
}

# is_there FILE TARGET
is_there() {
    [ ! -s "$1" ] || return 0
    result "not complete" "\`make $2\` was not run here"
    return 1
}

holds_if() {
    if "$@"; then echo holds; else echo "not complete"; fi
}

# count PATTERN FILE
count() {
    grep -cE "$1" "$2" || true
}

# when FILE...: from when to when they are, and whether the code is still the same.
when() {
    local first last commits
    first=$(stat -c %Y "$@" | sort -n | head -1)
    last=$(stat -c %Y "$@" | sort -n | tail -1)
    commits=$(git rev-list --count --since="@$last" HEAD -- "${code[@]}" 2>/dev/null || echo '?')
    echo "Run from $(date -u -d "@$first" '+%F %R') to $(date -u -d "@$last" '+%F %R UTC');" \
        "commits that touched the code since then: $commits."
    echo
}

quoted() {
    printf '%s\n%s\n%s\n' "$fence" "$1" "$fence"
}

# --- mutants -------------------------------------------------------------------------------------

# Results are taken from one build folder to another: what they say of themselves counts.
mutants_when() {
    jq -rs '[.[] | select(.state != "not run")] | group_by(.of)[]
        | "- \(length) results of "
          + (if (.[0].of // "") == "" then "an earlier state of the code, not written down"
             else "`\(.[0].of)`, \(map(.at) | min) to \(map(.at) | max)" end)' "$results"
    echo
}

# Those that speak against Faultline, by name, before any table.
mutants_against() {
    local what names
    while IFS=$'\t' read -r what names; do
        [ -z "$names" ] || printf '**%s**: %s\n\n' "$what" "$names"
    done < <(jq -rs '
        def names(f): [.[] | select(f) | "`" + .mutant + "`"] | join(", ");
        ["Survived", names(.state == "ran" and .found == {})],
        ["Not run, or changed since", names(.state == "not run" or .state == "changed")],
        ["Cannot be judged", names(.state | . != "ran" and . != "not run" and . != "changed")]
        | @tsv' "$results")
}

mutants() {
    cat <<'END'
Small patches, each of which breaks a protocol, or Faultline itself, in one way. Each is built
and run as users run things; so is the same without it, which must pass. What then violates a
claim, or fails a test, has caught it. `make mutants`; the patches are below
`suites/protocols/*/broken`, `suites/protocols/*/mutants` and `tests/mutants`.

END
    is_there "$build/mutants/list" mutants || return 0
    mutant_patches | sort | mutant_table | mutant_results "$build" >"$results"
    scripts/mutants_check.sh "$build" >"$out/mutants.txt" 2>"$out/mutants.err" || true
    result "$(holds_if [ ! -s "$out/mutants.err" ])" "$(jq -rs '
        "\([.[] | select(.found != {})] | length) of \(length) caught,"
        + " \([.[] | select(.state == "ran" and .found == {})] | length) survived,"
        + " \([.[] | select(.state != "ran")] | length) not run"' "$results"), $(count \
            'fewer than' "$out/mutants.err") claims with fewer than three that are for them"
    mutants_when
    mutants_against
    awk '/fewer than/ { print $2, "(" $5 ")" }' "$out/mutants.err" |
        awk '{ printf "%s%s", (NR > 1 ? ", " : "**Fewer than three**: "), $0 } END { print "\n" }'
    sed '/^# /d; s/^#/##/' "$out/mutants.txt"
}

# --- traces --------------------------------------------------------------------------------------

goldens() {
    local rejected accepted
    rejected=$(grep -lE '^expect violation' oracles/golden/*.txt | wc -l)
    accepted=$(($(find oracles/golden -name '*.txt' | wc -l) - rejected))
    result holds "$rejected that must be rejected, $accepted near misses that must not"
    cat <<'END'
Traces as text in `oracles/golden`, each with the verdict and the witness it must get. The
unit test `golden`, in every `make test`, judges them; it fails where a claim has none of
either kind. By claim, those that must be rejected:
END
    sed -n 's/^expect violation *\([A-Z][^ ]*\).*/\1/p' oracles/golden/*.txt | sort | uniq -c |
        awk '{ printf "%s%s %d", (NR > 1 ? ", " : ""), $2, $1 } END { print "." }'
}

planted() {
    local file=$out/traces.txt
    cat <<'END'
Runs of drawn shape are made with exactly k violations of one kind: exactly k must be reported, and
nothing else. And in correct ones no alarm may be raised. `make proof-traces`.

END
    is_there "$file" proof-traces || return 0
    result "$(holds_if [ "$(count '^not ok' "$file")" = 0 ])" \
        "$(awk '/^ok .* right runs.*: no alarm$/ { n += $4 } END { print n + 0 }' "$file") right runs,$(
        ) no alarm; planted: $(count '^ok .* planted' "$file") tests, $(count '^not ok' "$file") of all fail"
    when "$file"
    quoted "$(cat "$file")"
}

# --- coverage ------------------------------------------------------------------------------------

# One suite: a line of the table.
suite_row() {
    local tap=$1 suite=$2 state
    state=$(holds_if [ "$(count '^(not ok|Bail out)' "$tap")/$(count "$promise" "$tap")" = 0/1 ])
    echo "| \`$suite\` | $state | $(count '^(not )?ok' "$tap") | $(count '^not ok' "$tap") |" \
        "$(date -u -r "$tap" '+%F %R') |"
}

coverage() {
    local folder=$out/coverage promise='^ok .* covers what it promises' suite tap suites kept
    cat <<'END'
Suites say by `cover { ... }` which situations they must bring about: claims, the cells of the
papers' figures that are possible, faults by role and phase. Each is run as a whole; a situation
that never arose fails it, as does whatever does not pass. `make proof-coverage`.

END
    mapfile -t suites < <(grep -l '^cover' suites/*/*.lua)
    : >"$out/rows"
    : >"$out/seen"
    for suite in "${suites[@]}"; do
        tap=${suite#suites/}
        tap=$folder/$(tr / - <<<"${tap%.lua}").tap
        if [ -s "$tap" ]; then
            suite_row "$tap" "$suite" >>"$out/rows"
            {
                printf '\n### %s\n\n' "$suite"
                sed -n 's/^not ok [0-9]* - /- **Failed**: /p' "$tap"
                quoted "$(sed -n '/^# coverage of/,$s/^# //p' "$tap")"
            } >>"$out/seen"
        else
            echo "| \`$suite\` | not run | | | |" >>"$out/rows"
        fi
    done
    kept=$(count '\| holds \|' "$out/rows")
    result "$(holds_if [ "$kept" = ${#suites[@]} ])" "$kept of ${#suites[@]} suites bring about$(
        ) what they promise, $(count '\| not complete \|' "$out/rows") do not,$(
        ) $(count '\| not run \|' "$out/rows") were not run"
    echo "| suite | state | tests | failed | run |"
    echo "|---|---|--:|--:|---|"
    cat "$out/rows" "$out/seen"
}

# --- bad input -----------------------------------------------------------------------------------

fuzzing() {
    local file=$build/fuzz/statistics targets clean='nothing found$'
    targets=$(find tests/fuzz -name '*.c' | wc -l)
    cat <<'END'
Everything that is read (traces, plans, scenarios, journals, decisions), mutated by libFuzzer with
ASan and UBSan. `make fuzz`. Inputs that once found something are kept and run in every `make test`:
END
    echo "$(find tests/fuzz/corpus -name 'crash-*' | wc -l)."
    echo
    is_there "$file" fuzz || return 0
    result "$(holds_if [ "$(count "$clean" "$file")" = "$targets" ])" \
        "$(awk -F'\t' '{ n += $2; s += $4 } END { printf "%d inputs in %d s", n, s }' "$file")$(
        ), $(count "$clean" "$file") of $targets targets without a finding"
    when "$file"
    echo "| target | inputs | branches covered | seconds | what came of it |"
    echo "|---|--:|--:|--:|---|"
    sed 's/\t/ | /g; s/^/| /; s/$/ |/' "$file"
}

# --- transparency --------------------------------------------------------------------------------

# verdicts WORD: how many of the list
verdicts() {
    cut -f2 "$listed" | cut -d' ' -f1 | grep -cx "$1" || true
}

# Folders that `make transparency` goes through and the list has nothing of.
folders_left() {
    sed -n '/^folders="/,/"$/p' scripts/transparency.sh | sed 's/folders=//' | tr -d '"' | tr ' ' '\n' |
        sed '/^$/d' | sort -u | comm -23 - <(cut -d' ' -f1 "$listed" | sort -u)
}

# The list of the repository; what was run here is held against it by the script itself.
programs() {
    local here=$build/transparency/results ran=0 left
    left=$(folders_left | paste -sd' ')
    [ ! -s "$here" ] || ran=$(wc -l <"$here")
    result "$(holds_if [ "$(verdicts different)/$left" = 0/ ])" \
        "$(verdicts same) of $(wc -l <"$listed") the same, $(verdicts different) different,$(
        ) $(verdicts varies) not comparable, $(verdicts not-run) not run;$(
        ) folders not gone through: $(wc -w <<<"$left")"
    cat <<'END'
The test programs of the MPICH source package, which know nothing of Faultline, natively and
under the taps with at most 4 ranks: exit status and sorted output must be the same. Where two
native runs already differ that proves nothing (*varies*). `make transparency`; the list is
END
    echo "\`$listed\`. $ran of its runs were made in this build folder, the others earlier."
    echo
    echo "| folder | same | varies | different | not run |"
    echo "|---|--:|--:|--:|--:|"
    awk -F'\t' '{ split($1, part, " "); split($2, word, " "); seen[part[1]]; n[part[1], word[1]]++ }
        END { for (folder in seen) printf "| %s | %d | %d | %d | %d |\n", folder, n[folder, "same"],
              n[folder, "varies"], n[folder, "different"], n[folder, "not-run"] }' "$listed" | sort
    echo
    [ -z "$left" ] || printf 'Folders not gone through yet: %s.\n\n' "$left"
    echo "All that are not the same:"
    echo
    awk -F'\t' '$2 != "same" { printf "- `%s`: %s\n", $1, $2 }' "$listed"
}

# --- the page ------------------------------------------------------------------------------------

limits() {
    cat <<'END'
- A mutant that is caught shows that one mistake is seen, not that all are.
- Mutants and hand-made traces have the same authors as the oracles; MPICH's programs have not.
- One MPI library (MPICH), one machine, few ranks; a plan may need other timing elsewhere.
- What is stored stands until it is made again, also when the code has changed since: each
  part says of when it is.
END
}

# write SECTION DOUBT FUNCTION
write() {
    section=$1 doubt=$2
    printf '\n## %s\n\n' "$1"
    "$3"
}

: >"$out/missing"
: >"$out/summary"
{
    write Mutants "an oracle, or Faultline, does not see what is wrong" mutants
    write "Hand-made traces" "an oracle is wrong in a case that nobody ran" goldens
    write "Planted violations" "alarms where nothing is wrong; not all is counted" planted
    write Coverage "it passes because nothing happened" coverage
    write "Bad input" "a damaged or hostile file misleads or ends it" fuzzing
    write Transparency "the taps change what the program does" programs
    write "What this does not show" "" limits
} >"$out/body"
{
    echo "# Who tests the tester"
    echo
    echo "Why a verdict of Faultline can be believed, and where not: what is stored of long runs,"
    echo "on $(date -u '+%F %R UTC'), at $(git describe --always --dirty 2>/dev/null || echo '?')."
    echo
    echo "| what might be wrong | how it is tried | state | what came of it |"
    echo "|---|---|---|---|"
    cat "$out/summary" "$out/body"
} >"$out/index.md"
# One file that asks for nothing else. Columns: in a narrower text pandoc would give tables widths.
pandoc --from gfm --to html5 --standalone --template scripts/proof/page.html --no-highlight \
    --columns 10000 --lua-filter scripts/proof/filter.lua --include-in-header reports/page/html/page.css \
    --output "$out/index.html" "$out/index.md"
echo "$out/index.html"
cat "$out/missing" >&2
[ ! -s "$out/missing" ]
