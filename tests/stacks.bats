#!/usr/bin/env bats
# Where ranks stood: when they were killed, by themselves or from elsewhere, and at the events of the
# witness of what was found. Real jobs.

bats_require_minimum_version 1.5.0

load driver_common

RUN=faultline-out/latest/1

# stack HEADING: what stands below it in stacks.txt.
stack() {
    awk -v heading="$1" '$0 == heading { below = 1; next } /^[^ ]/ { below = 0 } below' \
        $RUN/stacks.txt
}

# killed STEP: a job whose rank 1 the step kills; its stacks are kept.
killed() {
    cat >s.lua <<END
scenario "killed" {
  protocol = "blocking", program = "laplace", ranks = 2, claims = { "H" },
  plan = function(p) $1 end,
}
END
    run timeout 120 "$FAULTLINE" run --keep s.lua
    echo "$output"
    [ "$status" -eq 0 ]
    cat $RUN/stacks.txt
    [ ! -e $RUN/snapshots ]
}

@test "a rank that dies at its own event" {
    killed 'p:kill { rank = 1, event = "phase", name = "blocking:mid-write", nth = 2 }'
    [[ "$(stack "r1#0, when it was killed")" == *" protocol_potential_checkpoint at blocking.c:"*" main at laplace.c:"* ]]
    run ! grep -q "^r0#0" $RUN/stacks.txt
    "$FAULTLINE" report $RUN
    grep -q 'data-stack="stack-killed-r1-0"' $RUN/report.html
}

@test "a rank that another one kills" {
    killed 'p:kill { rank = 1, at = { rank = 0, event = "checkpoint", epoch = 2 } }'
    [[ "$(stack "r1#0, when it was killed")" == *" main at laplace.c:"* ]]
}

@test "a rank that is killed inside a call" {
    killed 'p:kill { rank = 1, event = "recv", nth = 20, position = "inside" }'
    [[ "$(stack "r1#0, when it was killed")" == *" exchange_halos at laplace.c:"*" main at laplace.c:"* ]]
}

@test "of a run that passed they are read when its page is drawn, and only then" {
    cat >s.lua <<'END'
scenario "killed" {
  protocol = "blocking", program = "laplace", ranks = 2, claims = { "H" },
  plan = function(p) p:kill { rank = 1, event = "send", nth = 20 } end,
}
END
    timeout 120 "$FAULTLINE" run s.lua
    [ ! -e $RUN/stacks.txt ]
    [ -e $RUN/snapshots/r1.0.killed ]
    run "$FAULTLINE" report --text $RUN
    [[ "$output" == *"r1#0, when it was killed"*"laplace.c:"* ]]
    [ ! -e $RUN/snapshots ]
}

@test "what violates a claim is run again: the stacks at its witness, and nothing else is left" {
    timeout 120 "$FAULTLINE" run "$REPO/suites/demo/breaks.lua" && return 1
    [ ! -e $RUN/again ]
    jq -r '.findings[0].witness[]' $RUN/verdict.json >witness
    [ "$(wc -l <witness)" -ge 4 ]
    while read -r event; do
        echo "$event: $(stack "$event")"
        [[ "$(stack "$event")" == *" main at tally.c:"* ]]
    done <witness
    [[ "$(stack "$(sed -n 2p witness)")" == *" protocol_potential_checkpoint at blocking.c:"* ]]
    jq -e --arg event "$(head -1 witness)" '.stacks[$event] | length > 0 and
        (last | startswith("main at tally.c:"))' $RUN/verdict.json
    grep -q "main at tally.c:" $RUN/report.html
    grep -q '^    - "r1#0:e' $RUN/tap
    local stored
    stored=$(readlink -f faultline-out/latest)/1
    cp "$stored/stacks.txt" before
    timeout 120 "$FAULTLINE" replay "$stored"
    cmp before "$stored/stacks.txt" # a replay finds nothing to add
}

@test "what is confirmed under mpiexec keeps its stacks" {
    run -1 timeout 300 "$FAULTLINE" run --engine step --confirm 1 "$REPO/suites/demo/breaks.lua"
    [[ $output == *'mpiexec: "also on '*', 1/1"'* ]]
    jq -e '(.mpiexec | length > 0) and (.stacks | length > 0)' $RUN/verdict.json
}

@test "--no-stacks: none, until it is replayed" {
    FAULTLINE_NO_STACKS=1 timeout 120 "$FAULTLINE" run "$REPO/suites/demo/breaks.lua" && return 1
    local stored
    stored=$(readlink -f faultline-out/latest)/1
    [ ! -e "$stored/stacks.txt" ]
    timeout 120 "$FAULTLINE" replay "$stored"
    grep -q "main at tally.c:" "$stored/stacks.txt"
    grep -q "main at tally.c:" "$stored/report.html"
}

@test "of a thread outside of MPI it is only said that it is there, though another one is inside" {
    printf 'scenario "stuck" { protocol = "null", program = "%s", ranks = 2, claims = { "H.progress" } }' \
        "$BUILD/tests/mpi/stacks_thread" >s.lua
    run -1 timeout 120 "$FAULTLINE" run --no-control s.lua
    grep -q "stacks_thread.c" $RUN/stacks.txt
    [ "$(grep -c " other threads\? outside of MPI" $RUN/stacks.txt)" -eq 2 ]
    run ! grep -q sleep_on $RUN/stacks.txt
}
