#!/usr/bin/env bash
# steps.bash SCRIPT: runs what steps.lua made of a page, in the current folder, as a person would type
# it in one shell; TAP, with the seconds of each step. What is printed must be what the page says,
# where `...` stands for anything, and a command succeeds unless the page shows a line with "not ok".
# The first step that differs is the last.
set -u

steps=0
status=0 # of the command before: `$?` for the next one
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# matches PATTERN FILE
matches() {
    local pattern
    pattern=$(sed 's/[][*?\\(|)+@!]/\\&/g; s/\.\.\./*/g' <<<"$1")
    # shellcheck disable=SC2053 # a pattern on purpose
    [[ $(<"$2") == $pattern ]]
}

with_status() {
    return "$1"
}

# as_said EXPECTED: what was printed, and `status`
as_said() {
    [ -z "$1" ] || matches "$1" "$out" || return 1
    [ "$status" = 0 ] || [[ $1 == *"not ok"* ]]
}

# step: the command on standard input, what it prints on descriptor 3.
step() {
    local command expected began seconds
    command=$(cat)
    expected=$(cat <&3)
    exec 3<&-
    began=${EPOCHREALTIME/./}
    with_status "$status"
    eval "$command" >"$out" 2>&1 </dev/null
    status=$?
    seconds=$((${EPOCHREALTIME/./} - began))
    printf -v seconds '%d.%02d' $((seconds / 1000000)) $((seconds % 1000000 / 10000))
    steps=$((steps + 1))
    if as_said "$expected"; then
        echo "ok $steps - ${command%%$'\n'*} # $seconds s"
        return
    fi
    echo "not ok $steps - $command # $seconds s"
    printf 'exit status %s. The page says:\n%s\nprinted:\n%s\n' "$status" "$expected" "$(<"$out")" |
        sed 's/^/# /'
    exit 1
}

# write FILE: what is on standard input
write() {
    cat >"$1"
}

# shellcheck disable=SC1090,SC1091 # made of a page
. "$(realpath "$1")" # without a slash it would be looked for in PATH
echo "1..$steps"
[ "$steps" -gt 0 ]
