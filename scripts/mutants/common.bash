# What the scripts of `make mutants` share: where the patches are, and what their heads say.
# shellcheck shell=bash

# Mutants of protocols, those that suites use as well (broken/) and all others (mutants/); and of
# Faultline itself.
mutant_patches() {
    find suites/protocols -path '*/broken/*.patch' -o -path '*/mutants/*.patch'
    find tests/mutants -mindepth 2 -name '*.patch'
}

# Mutants of protocols for `make hunt`.
hunted_patches() {
    find suites/protocols -path '*/hunt/*.patch'
}

# mutant_name PATCH: PROTOCOL-VARIANT as the suites call it, AREA-MISTAKE of Faultline's own.
mutant_name() {
    local folder=${1%/*} patch=${1##*/}
    case ${folder##*/} in broken | mutants | hunt) folder=${folder%/*} ;; esac
    echo "${folder##*/}-${patch%.patch}"
}

mutant_kind() {
    case $1 in
    suites/protocols/*) echo protocol ;;
    *) echo harness ;;
    esac
}

# mutant_says PATCH WORD: the lines "WORD: ..." of its head, without the word.
mutant_says() {
    sed -n "s/^$2: *//p" "$1"
}

# protocol_claims PROTOCOL: what it is judged by: family H, and what one of its mutants is for. A probe
# of C3 may complete a synchronous send (its README.md).
protocol_claims() {
    {
        mutant_claims | grep '^H\.' | if [ "$1" = c3 ]; then grep -vxF H.synchronous; else cat; fi
        find "suites/protocols/$1" -name '*.patch' -exec sed -n 's/^Claims: *//p' {} + |
            tr -d , | tr ' ' '\n'
    } | sort -u
}

# mutant_table < PATCHES: name, sum and patch of each, with tabs in between.
mutant_table() {
    local sum patch
    xargs -r sha256sum | while read -r sum patch; do
        printf '%s\t%s\t%s\n' "$(mutant_name "$patch")" "${sum:0:16}" "$patch"
    done
}

# mutant_results BUILD_FOLDER < TABLE: a line of JSON for each: its result. Where there is none its
# state is "not run"; where there is one of another version of the patch, "changed".
mutant_results() {
    jq -Rnc --slurpfile results <(find "$1/mutants/results" -name '*.json' -exec cat {} + 2>/dev/null) '
        INDEX($results[]; .mutant) as $results
        | inputs | split("\t") as [$mutant, $sum, $patch] | $results[$mutant]
        | if . and .sum == $sum then .
          else {$mutant, $patch, state: (if . then "changed" else "not run" end), why: "",
                kind: (if $patch | startswith("suites/") then "protocol" else "harness" end),
                targets: [], found: {}, runs: 0, seconds: 0}
          end'
}

# Claims that mutants are to be caught by: those about Faultline itself by mutants of their oracles.
# Coverage cannot be violated.
mutant_claims() {
    tr '\n' ' ' <oracles/claims.def | grep -o 'CLAIM( *[A-Z0-9_]*, *"[^"]*"' |
        sed 's/.*"\(.*\)"/\1/' | grep -v '\.cell\.'
}
