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

@test "jobs end on the step engine as they end under mpiexec" {
    for how in exit abort segv deadlock no-finalize; do
        scenario "$how" "\"$how\""
    done
    run "$FAULTLINE" run --no-stacks --no-control s.lua
    grep -E '^(not )?ok|^  (verdict|end):|^    - "rank [0-9]+ [a-z]' <<<"$output" >mpiexec
    run "$FAULTLINE" run --no-stacks --no-control --engine step s.lua
    grep -E '^(not )?ok|^  (verdict|end):|^    - "rank [0-9]+ [a-z]' <<<"$output" >step
    diff mpiexec step
    [ "$(grep -c '^not ok' step)" -eq 5 ]
}

@test "a job that only polls is seen to have stalled, and what waits for the clock does not wait" {
    scenario poll '"poll"' 'timeout = 600'
    run "$FAULTLINE" run --no-stacks --no-control --confirm 0 --engine step s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"every live rank has only polled in vain"* ]]
}

@test "a job that polls more than that in all, and each time gets on, has not stalled" {
    step polls null "$BUILD/tests/mpi/engine_polls" 2
    run -0 "$FAULTLINE" run --no-control s.lua
}

@test "ranks that the plan kills are started again, and messages that it holds are let go" {
    # Under most seeds a fast rank runs past the missing barrier; under seed 2 it does.
    run "$FAULTLINE" run --engine step --seed 2 "$REPO/suites/demo" -v
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"not ok 1 - tally under a blocking checkpoint without its barriers # B.empty"* ]]
    [[ "$output" == *"ok 2 - laplace survives"* ]]
}

# MPI_Wtime was the MPI library's own, which counts from the full hour of the real clock: what a program
# did with its value was not the same in the next hour.
@test "every clock of a rank shows the engine's time" {
    run -0 "$FAULTLINE" exec --engine step -n 2 "$BUILD/tests/mpi/engine_clocks"
    [ "$(grep -c '^engine_clocks: rank [01] ok' <<<"$output")" -eq 2 ]
}

@test "the lives of a rank follow one another in virtual time" {
    run "$FAULTLINE" run --engine step --filter "ring: rank 0, before-send-request number 2" \
        "$REPO/suites/cocheck/crash.lua"
    echo "$output"
    [ "$status" -eq 0 ]
}

# traces DIR: of the first run there, as one sum.
traces() {
    (cd "$1/latest/1/trace" && sha256sum -- *)
}

@test "the same seed gives the same decisions and the same traces, byte for byte; another seed others" {
    step c3 c3 laplace 4
    for seed in 7 7 8; do
        "$FAULTLINE" run --seed "$seed" --out "out$((++n))" s.lua
    done
    cmp out1/latest/1/choices.0 out2/latest/1/choices.0
    [ "$(traces out1)" = "$(traces out2)" ]
    [ "$(traces out1)" != "$(traces out3)" ]
    # Of several rounds the first has the seed that is given.
    "$FAULTLINE" run --seed 7 --repeat 2 --out out4 s.lua
    [ "$(jq -r .seed out4/latest/1/run.json)" = 7 ]
    [ "$(jq -r .seed out4/latest/2/run.json)" != 7 ]
    [ "$(traces out4)" = "$(traces out1)" ]
}

@test "decisions that are given are followed, whatever the seed" {
    step c3 c3 laplace 4
    "$FAULTLINE" run --seed 7 --out out1 s.lua
    FAULTLINE_ENGINE_GIVEN=$PWD/out1/latest/1 \
        "$FAULTLINE" run --seed 8 --out out2 s.lua
    [ "$(traces out1)" = "$(traces out2)" ]
    mkdir bad
    echo "next 5 2" >bad/choices.0
    FAULTLINE_ENGINE_GIVEN=$PWD/bad run "$FAULTLINE" run --out out3 s.lua
    [ "$status" -eq 3 ]
    [[ "$output" == *"a line is no decision"* ]]
}

@test "each life of a job draws decisions of its own, and follows those that are given for it" {
    step lives null ring 3 'plan = function(p) p:kill { rank = 1, event = "send", nth = 4 } end'
    "$FAULTLINE" run --keep --seed 7 --out out1 s.lua
    [ "$(wc -l <out1/latest/1/choices.0)" -gt 10 ]
    run -1 diff -q <(head -n 10 out1/latest/1/choices.0) <(head -n 10 out1/latest/1/choices.1)
    FAULTLINE_ENGINE_GIVEN=$(readlink -f out1/latest/1) \
        "$FAULTLINE" run --keep --seed 8 --out out2 s.lua
    cmp out1/latest/1/choices.1 out2/latest/1/choices.1
    [ "$(traces out1)" = "$(traces out2)" ]
}

@test "what the engine does not do is unknown, by the name of the call" {
    step rest null "$BUILD/tests/mpi/taps_rest" 2
    run "$FAULTLINE" run s.lua
    echo "$output"
    [ "$status" -eq 2 ]
    [[ "$output" == *'verdict: "unknown"'* ]]
    [[ "$output" == *"the step engine does not do MPI_"* ]]
}

# MPI_Finalize waits for all ranks, as MPICH's does.
@test "a rank that is to die at another's last event has not ended before" {
    step last null ring 3 'plan = function(p)
      p:kill { rank = 2, at = { rank = 0, event = "result", name = "token" } } end'
    for seed in 1 2 3 4 5 6; do
        "$FAULTLINE" run --seed "$seed" --out "out$seed" s.lua
    done
}

@test "a rank that takes real time inside a call leaves the same traces: what is held stays held" {
    for ms in 0 3000; do
        printf 'scenario "slow" { protocol = "null", program = "%s", ranks = 3, engine = "step",
  arguments = { "%d" }, claims = { "H.progress", "I" }, plan = function(p)
    p:hold { rank = 0, event = "send", ms = 200 } end }\n' "$BUILD/tests/mpi/engine_slow" "$ms" >s.lua
        run -0 "$FAULTLINE" run --keep --out "out-$ms" s.lua
        (cd "out-$ms/latest/1/trace" && sha256sum -- *) >"sums-$ms"
    done
    [ "$(wc -l <sums-0)" -eq 3 ]
    diff sums-0 sums-3000
}
