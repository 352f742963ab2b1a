#!/usr/bin/env bats
# `faultline run --engine step`: the step engine in place of mpiexec.

bats_require_minimum_version 1.5.0

load driver_common

# step NAME PROTOCOL PROGRAM RANKS [FIELDS]: appends a scenario to s.lua.
step() {
    printf 'scenario "%s" { protocol = "%s", program = "%s", ranks = %d, engine = "step",
  claims = { "H", "I" }, %s }\n' "$1" "$2" "$3" "$4" "${5:-}" >>s.lua
}

@test "programs run to their end on the step engine, with and without a protocol" {
    for program in ring laplace; do
        for protocol in null blocking c3; do
            step "$program-$protocol" "$protocol" "$program" 4
        done
    done
    run "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^ok' <<<"$output")" -eq 6 ]
}

@test "the engine is a word of the scenario or of the command line, and no other is taken" {
    printf 'scenario "x" { protocol = "null", program = "ring", ranks = 2, engine = "setp" }\n' >s.lua
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *'"mpiexec" or "step"'* ]]
    run "$FAULTLINE" run --engine stpe s.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *"accepted: mpiexec, step"* ]]
}
