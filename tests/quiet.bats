#!/usr/bin/env bats
# The quiet end: liveness is judged when the faults have stopped. The job (tests/mpi/taps/quiet_life.c) is
# never at rest, so nothing but the quiet ends what a plan keeps for ever.

bats_require_minimum_version 1.5.0

setup() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    FAULTLINE=$BUILD/faultline
    unset FAULTLINE_RUN FAULTLINE_RANK FAULTLINE_RANKS FAULTLINE_OUT
    cd "$BATS_TEST_TMPDIR" || return 1
}

# play PLAN [FIELDS]: one run; the body of its plan function.
play() {
    printf 'scenario "play" { protocol = "null", program = "%s", ranks = 3, timeout = 3,
  claims = { "H.progress" }, %s plan = function(p) %s end }\n' \
        "$BUILD/tests/mpi/quiet_life" "${2:-}" "$1" >s.lua
    run timeout -k 10 120 "$FAULTLINE" run --out out s.lua
    echo "$output"
}

@test "a message that would be kept for ever is let go when the time for faults is over: vacuous" {
    play 'p:hold { from = 2, to = 1 }'
    [ "$status" -eq 2 ]
    [[ "$output" == *"was undone"* ]]
    [[ "$output" == *"the time for faults was over"* ]]
}

@test "of an attempt that is what it shows" {
    play 'p:hold { from = 2, to = 1, attempt = true }'
    [ "$status" -eq 0 ]
}

@test "a rank that would be stopped for ever goes on" {
    play 'p:stop { rank = 2, event = "send", attempt = true }'
    [ "$status" -eq 0 ]
}

@test "what is not yet complete is let go too: two of three messages" {
    play 'p:hold { event = "send", rank = 2, count = 3 }'
    [ "$status" -eq 2 ]
    [[ "$output" == *"only 1 of 3 came"* ]]
}

@test "a jitter that makes the job slow without end stops" {
    play 'p:jitter { ms = 60000 }'
    [ "$status" -eq 0 ]
}

@test "a poll that is answered no for ever is answered as it is" {
    play 'p:answer { rank = 1, call = "MPI_Iprobe", answer = false, times = 1000000 }'
    [ "$status" -eq 2 ]
    [[ "$output" == *"was never done"* ]]
}

@test "a plan says when its faults stop: what is kept goes then, as by a release" {
    play 'local held = p:hold { from = 2, to = 1, after = "start" }
          p:quiet { rank = 0, event = "send", nth = 20, after = held }'
    [ "$status" -eq 0 ]
}

@test "and nothing is done after that" {
    play 'p:kill { rank = 0, event = "call", call = "MPI_Finalize", after = "start" }
          p:quiet { rank = 0, event = "send", nth = 1, after = "start" }'
    [ "$status" -eq 2 ]
    [[ "$output" == *"was never done"*"kill"* ]]
    [[ "$output" != *"2 incarnations"* ]]
}

@test "a job that does not end without faults either is found" {
    play 'p:hold { from = 2, to = 1 }' 'arguments = { "for-ever" },'
    [ "$status" -eq 1 ]
    [[ "$output" == *"# H.progress"* ]]
    [[ "$output" == *"still running 3 s after the faults stopped"* ]]
}

@test "one whose faults are all over has its time from then on" {
    play 'p:hold { from = 2, to = 1, ms = 10 }' 'arguments = { "for-ever" },'
    [ "$status" -eq 1 ]
    [[ "$output" == *"still running 3 s after the faults stopped"* ]]
}
