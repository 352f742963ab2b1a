#!/usr/bin/env bats
# Runs that another version of Faultline has stored: judged as they were then, or refused with the file,
# the version that it has and the one that is accepted (tests/formats/README.md).

bats_require_minimum_version 1.5.0
load driver_common

# old_run: in `old`, the run of an older Faultline.
old_run() {
    mkdir old
    tar --zstd -xf "$BATS_TEST_DIRNAME/formats/run.tar.zst" -C old
}

@test "a run that an older Faultline stored: judged with the same witness, drawn, printed, packed" {
    old_run
    run -1 "$FAULTLINE" check old
    [[ $output == *"not ok 1 - without its barriers a checkpoint is no cut # B.empty"* ]]
    # What it found then stands in its verdict.json.
    local found
    found=$(jq -r '.findings[0].witness | join(", ")' old/verdict.json)
    [ "$found" != "" ]
    witness=$(sed -n 's/^  witness: \[ \(.*\) \]$/\1/p' <<<"$output" | tr -d '"')
    [ "$witness" = "$found" ]
    run -0 "$FAULTLINE" trace old
    [ "$(wc -l <<<"$output")" -gt 500 ]
    run -0 "$FAULTLINE" trace --format columns old
    run -0 "$FAULTLINE" report --output page.html old
    grep -q 'B.empty' page.html
    run -0 "$FAULTLINE" export --output packed.tar.zst old
    mkdir again && tar --zstd -xf packed.tar.zst -C again
    run -1 "$FAULTLINE" check again
    [[ $output == *"witness: "*"${found%%,*}"* ]]
}

@test "run again, it is told that Faultline, protocol and program are others; it is made smaller all the same" {
    old_run
    run "$FAULTLINE" replay old
    [ "$status" -ne 64 ]
    [[ $output == *"# Faultline is not what it was when the run was recorded"* ]]
    [[ $output == *"# the protocol blocking-no-barrier is not what it was when the run was recorded"* ]]
    [[ $output == *": B.empty initiator,other before"* ]]
    run -0 "$FAULTLINE" shrink old
    grep -q 'claims = { "B.empty" }' faultline-out/*/shrunk.lua
}

# set_version FILE OFFSET NUMBER: the 4 bytes there.
set_version() {
    # shellcheck disable=SC2059 # the escape is made by printf
    printf "\\$(printf %o "$3")\\0\\0\\0" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# refuses STATUS WORDS VERB...: each verb, given the run, ends so and says WORDS.
refuses() {
    local status_of=$1 words=$2 verb
    shift 2
    for verb in "$@"; do
        # shellcheck disable=SC2086 # a verb with its options
        run "-$status_of" "$FAULTLINE" $verb old
        [[ $output == *"$words"* ]] || {
            echo "$verb: $output"
            return 1
        }
    done
}

@test "a stored run, its traces and decisions of other versions are refused by name" {
    local traces="old/trace/r1.0.trace: trace of version 9; this Faultline reads version 1"
    old_run
    set_version old/trace/r1.0.trace 8 9
    refuses 64 "$traces" trace "trace --format json" "trace --format columns" shrink
    refuses 3 "$traces" check
    "$FAULTLINE" report --output page.html old # what is known without the traces, and why it is not more
    grep -q "$traces" page.html
    set_version old/trace/r1.0.trace 8 1
    set_version old/decisions 8 77
    refuses 64 "decisions is of version 77, this command reads 2" replay
    set_version old/decisions 8 2
    sed -i 's/"version": 2,/"version": 1,/' old/run.json
    refuses 64 "run.json: is of version 1, this command reads 2: stored by faultline 0.1, and this is" \
        check report replay shrink export
    sed -i 's/"version": 1,/"version": 3,/; s/"faultline": "0.1"/"faultline": "9.9"/' old/run.json
    refuses 64 "is of version 3, this command reads 2: stored by faultline 9.9" check report replay \
        shrink export
}

# numbers FILE MACRO: what a file of rows MACRO(NAME, ...) numbers, in its order.
numbers() {
    grep -o "^$2([A-Za-z_0-9]*" "$REPO/harness/trace/$1" | sed "s/.*(/${1%.def} /"
}

@test "what traces of version 1 number has the number that it had: calls and notes are added at the end alone" {
    [[ $(grep 'define TRACE_VERSION' "$REPO/harness/trace/record.h") == *" 1u" ]]
    numbers calls.def CALL >now
    numbers notes.def 'NOTE\(_APART\)\{0,1\}' >>now
    local kind
    for kind in calls notes; do
        grep "^$kind " "$BATS_TEST_DIRNAME/formats/numbers.txt" >then
        grep "^$kind " now | head -n "$(wc -l <then)" | diff - then
    done
}
