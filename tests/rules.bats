#!/usr/bin/env bats
# Rules in real jobs: a rank is stopped and goes on, and calls are told apart by the function that
# makes them.

bats_require_minimum_version 1.5.0
load driver_common

# plan NAME WHAT 'function body': appends a scenario of tests/mpi/taps/rules_life.c.
plan() {
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = 2, arguments = { "%s" },
  claims = { "H.progress" }, plan = function(p) %s end }\n' \
        "$1" "$BUILD/tests/mpi/rules_life" "$2" "$3" >>s.lua
}

# traced PATTERN: how many lines of the trace of the first run match.
traced() {
    "$FAULTLINE" trace faultline-out/latest/1 | grep -cE "$1"
}

@test "a rank is stopped by another one, and goes on when that says so" {
    plan "stop" stopped 'p:stop { rank = 1, at = { rank = 0, event = "phase", name = "stop" },
        release = { rank = 0, event = "phase", name = "go" } }'
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(traced stopped)" -eq 1 ] && [ "$(traced continued)" -eq 1 ]
}

@test "a rank that stops itself" {
    plan "stop" stopped 'p:stop { rank = 1, event = "phase", name = "here",
        release = { rank = 0, event = "phase", name = "go" } }'
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(traced stopped)" -eq 1 ] && [ "$(traced continued)" -eq 1 ]
}

@test "for some time, and by a step of the plan" {
    plan "time" waits 'p:stop { rank = 1, at = { rank = 0, event = "phase" }, ms = 1000 }'
    plan "step" stopped 'local s = p:stop { rank = 1, at = { rank = 0, event = "phase" } }
        p:release(s, { rank = 0, event = "phase", name = "go" })'
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "what is held until a rank is blocked is let go then" {
    plan "hold" sends 'p:hold { from = 0, to = 1, release = { state = { { rank = 1, blocked = "MPI_Recv" } } } }'
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "nobody lets it go: the job is let go on, and the run is vacuous" {
    plan "waits" waits 'p:stop { rank = 1, at = { rank = 0, event = "phase", name = "stop" } }'
    plan "polls" polls 'p:stop { rank = 1, at = { rank = 0, event = "phase", name = "stop" } }'
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 2 ]
    [ "$(grep -c "^not ok .* # vacuous" <<<"$output")" -eq 2 ]
    grep -q "step 1 of the plan was undone: stop victims=1" <<<"$output"
    grep -q "let go because the job could not go on otherwise" <<<"$output"
}

@test "unless it only tries" {
    plan "waits" waits 'p:stop { rank = 1, attempt = true,
        at = { rank = 0, event = "phase", name = "stop" } }'
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "a rank that is stopped can be killed" {
    plan "kill" stopped 'p:stop { rank = 1, at = { rank = 0, event = "phase", name = "stop" } }
        p:kill { rank = 1, at = { rank = 0, event = "phase", name = "go" } }'
    sed -i 's/claims = {/max_incarnations = 1, claims = {/' s.lua
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    grep -q "rank 1 was killed by step 2 of the plan" <<<"$output"
    grep -q 'faults: { asked: "2", installed: "2" }' <<<"$output"
}

@test "a call inside a function, inside one that was inlined, and far below one" {
    plan "plain" sends 'p:await { rank = 0, event = "send", within = "in_a_function" }
        p:await { rank = 0, event = "send", within = "in_an_inline_function" }
        p:await { rank = 0, event = "send", within = "far_above" }'
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 0 ]
    "$FAULTLINE" trace faultline-out/latest/1 >trace
    grep -B 1 "awaited" trace
    [ "$(grep -B 1 awaited trace | grep -c "tag 2")" -eq 1 ]
    [ "$(grep -B 1 awaited trace | grep -c "tag 3")" -eq 1 ]
    [ "$(grep -B 1 awaited trace | grep -c "tag 4")" -eq 1 ]
}

# refused_within FUNCTION TEXT: before anything is launched, with this text.
refused_within() {
    plan "plain" sends "p:await { rank = 0, event = \"send\", within = \"$1\" }"
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *"$2"* ]]
    [ ! -e faultline-out ]
}

@test "a function that does not exist is refused, with the name that is near" {
    refused_within in_a_fucntion 'within: function "in_a_fucntion" is neither in '
    [[ "$output" == *'did you mean "in_a_function"?'* ]]
}

@test "a function whose end the symbol tables do not give is refused" {
    refused_within of_no_size 'within: the symbol tables give the beginning of function "of_no_size" and not its end'
}

@test "a vacuous run says what was missing" {
    plan "plain" sends ''
    sed -i 's/claims = { "H.progress" }/claims = { "B.empty" }/' s.lua
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 2 ]
    [[ "$output" == *'- "B.empty could not be judged: in this run there was not what it needs'* ]]
}

@test "a rank that is stopped as soon as there is one, and nobody lets it go" {
    plan "start" waits 'p:stop { rank = 1 }'
    run timeout 100 "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 2 ]
    grep -q "let go because the job could not go on otherwise" <<<"$output"
}
