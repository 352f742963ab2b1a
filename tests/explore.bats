#!/usr/bin/env bats
# `faultline explore`: every schedule of a small job, on the step engine.

bats_require_minimum_version 1.5.0

load driver_common

# explored WHAT RANKS [OPTION...]: explores a job of explore_order; its output is in $output.
explored() {
    local what=$1 ranks=$2
    shift 2
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = %d, arguments = { "%s" },
  claims = { "H.progress", "I" } }\n' "$what" "$BUILD/tests/mpi/explore_order" "$ranks" "$what" >s.lua
    run "$FAULTLINE" explore "$@" s.lua
    echo "$output"
}

# outcomes: how many different ones were printed.
outcomes() {
    grep -c '^    - "[0-9]* runs: ' <<<"$output"
}

@test "every order in which a wildcard can take messages is an outcome, and none is run twice" {
    explored order 4
    [ "$status" -eq 0 ]
    [[ "$output" == *'complete: every schedule of 4 ranks, 6 runs'* ]]
    [ "$(outcomes)" -eq 6 ]
}

@test "requests that complete together, and a poll that finds nothing, have all their outcomes" {
    explored some 3
    [ "$status" -eq 0 ]
    # The first alone, the second alone, or both: then one of them or both are told.
    [ "$(outcomes)" -eq 3 ]
    explored poll 2
    [ "$status" -eq 0 ]
    [ "$(outcomes)" -eq 3 ]
}

@test "a job in which nothing depends on the schedule is run once" {
    explored none 3
    [ "$status" -eq 0 ]
    [[ "$output" == *'complete: every schedule of 3 ranks, 1 runs'* ]]
}

@test "a deadlock that one schedule has is found, with the run that shows it" {
    explored race 3
    [ "$status" -eq 1 ]
    [ "$(outcomes)" -eq 2 ]
    folder=$(sed -n 's/.*violation .*faultline report \([^"]*\)".*/\1/p' <<<"$output")
    run "$FAULTLINE" check "$folder"
    [ "$status" -eq 1 ]
    run "$FAULTLINE" replay "$folder"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"replayed 1/1"* ]]
}

@test "a rank that is killed is started again in every schedule" {
    printf 'scenario "killed" { protocol = "blocking", program = "ring", ranks = 2, claims = { "B", "H" },
  arguments = { "--iterations", 12 }, plan = function(p)
    p:kill { rank = 1, event = "phase", name = "blocking:mid-write", nth = 1 } end }\n' >s.lua
    run "$FAULTLINE" explore --runs 10 s.lua
    echo "$output"
    [ "$status" -eq 2 ]
    [[ "$output" == *"not complete: 10 runs"* ]]
    [[ "$output" == *"10 runs: pass"* ]]
}

@test "what cannot be explored is refused by name" {
    printf 'scenario "held" { protocol = "null", program = "ring", ranks = 2, plan = function(p)
    p:kill { rank = 1, at = { rank = 0, event = "result", name = "token" } } end }\n' >s.lua
    run "$FAULTLINE" explore s.lua
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *'step 1 of "held"'* ]]
    run "$FAULTLINE" explore --runs 0 s.lua
    [ "$status" -eq 64 ]
}
