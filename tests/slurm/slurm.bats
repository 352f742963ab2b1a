#!/usr/bin/env bats
# faultline campaign --slurm on a cluster of this machine (tests/slurm): nodes that fail, tasks and
# the command killed in the middle; nothing is lost, and nothing made twice. SLURM_RUNS: how many
# runs the first test makes (24; `make slurm`: 1,000). BUILD: absolute.

bats_require_minimum_version 1.5.0
BUILD=${BUILD:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/build}
load ../driver_common
load cluster

RUNS=${SLURM_RUNS:-24}

setup_file() { start_cluster "$BATS_FILE_TMPDIR/c" 3; }
teardown_file() { stop_cluster; }

# subjects HOW...: two scenarios over campaign_life in s.lua. In tasks the third run and all later ones
# wait as long as there is a file `closed`: so a test can do what it likes in the middle.
subjects() {
    local how
    printf '#!/bin/sh\ncase $FAULTLINE_RUN in */slurm/*/[12]) ;;
    */slurm/*) while [ -e "%s/closed" ]; do sleep 0.05; done ;; esac\nexec "%s" "$@"\n' \
        "$PWD" "$BUILD/tests/mpi/campaign_life" >gate
    chmod +x gate
    for how in "$@"; do
        printf 'scenario "%s" { protocol = "null", program = "./gate", ranks = 2, claims = { "H" },
            arguments = { "%s", "%s" }, timeout = 600 }\n' "$how" "${how%-*}" "$how"
    done >s.lua
    touch closed
}

# are_down NODE...: Slurm has given them up.
are_down() {
    local node
    for node in "$@"; do
        [[ "$(sinfo -h -n "$node" -o %T)" == down* ]] || return 1
    done
}

# campaign OPTION...: begun, its number in DRIVER; TAP in the file tap.
campaign() {
    env --default-signal=INT "$FAULTLINE" campaign --slurm --replays 0 "$@" >tap 2>err 3>&- &
    DRIVER=$!
}

# Slurm lets a task wait for two minutes before it begins again; a test does not.
hurry() {
    local id
    for id in $(squeue -h -t pending -o %i); do
        scontrol update "JobId=$id" StartTime=now || true
    done
} >/dev/null 2>&1

# ends STATUS: it does.
ends() {
    local status=0
    while kill -0 "$DRIVER" 2>/dev/null; do
        hurry
        sleep 1
    done
    wait "$DRIVER" || status=$?
    cat tap err
    [ "$status" = "$1" ]
}

folder() { readlink -f faultline-out/latest; }

# The runs that tasks have written down so far.
written() {
    cat "$(folder)"/slurm/*/[0-9]*/campaign.jsonl | grep '"kind":"run"' | sort -u | wc -l
}
some_are_written() { [ "$(written)" -ge "$1" ]; }

# Every plan of the campaign once, in subjects' turns, under a number of its own; nothing is left of
# the tasks; a page.
all_is_there() {
    local plans
    plans=$(jq -r 'select(.kind == "run") | "\(.subject) \(.index)"' "$(folder)/campaign.jsonl" | sort)
    diff <(echo "$plans") <(for ((i = 0; i < RUNS; i++)); do echo "$((i % 2 + 1)) $((i / 2))"; done | sort)
    diff <(jq -r 'select(.kind == "run").number' "$(folder)/campaign.jsonl" | sort -n) <(seq "$RUNS")
    [ "$(jq .runs "$(folder)/campaign.json")" = "$RUNS" ]
    [ "$(jq '.verdicts."harness-error"' "$(folder)/campaign.json")" = 0 ]
    [ ! -e "$(folder)/slurm" ] && [ ! -e "$(folder)/slurm.json" ]
    [ -s "$(folder)/index.html" ]
    grep -q "^# page: " tap
    [ -z "$(squeue -h)" ]
}

@test "a node fails in the middle, and the daemon of another: nothing is lost or doubled" {
    subjects right relapse
    campaign --tasks 3 --engine step --runs "$RUNS" s.lua
    wait_until some_are_written 6
    lose_node n1
    lose_daemon n2
    wait_until are_down n1 n2 # Slurm begins their tasks again; the one on n2 still goes on
    rm closed
    ends 1 # the violations of "relapse"
    all_is_there
    # As one campaign on one machine finds it.
    run -1 "$FAULTLINE" campaign --engine step --runs "$RUNS" --replays 0 --out alone s.lua
    of() {
        jq -r 'select(.kind == "run") | "\(.subject) \(.index) \(.plan) \(.verdict) \(.fingerprint)"' \
            "$1/campaign.jsonl" | sort
    }
    diff <(of "$(folder)") <(of alone/latest)
    # The violation that is shown was kept where it is said to be.
    run -1 "$FAULTLINE" check "$(sed -n 's/^  repro: "faultline replay \(.*\)"$/\1/p' tap | head -n 1)"
}

@test "the command is killed: its tasks go on, and --resume takes over what they have made" {
    RUNS=8
    start_nodes 3
    subjects right-one right-two
    campaign --tasks 2 --runs "$RUNS" s.lua # under mpiexec
    wait_until some_are_written 4
    kill -9 "$DRIVER"
    ends 137
    rm closed
    campaign --tasks 2 --resume "$(folder)"
    ends 0
    all_is_there
}

@test "Ctrl-C cancels the tasks, and the campaign goes on later with as many as one likes" {
    RUNS=10
    start_nodes 3
    subjects right-one right-two
    campaign --tasks 2 --engine step --runs "$RUNS" s.lua
    wait_until some_are_written 4
    kill -INT "$DRIVER"
    ends 130
    grep -q '^Bail out! not complete: interrupted by SIGINT' tap
    rm closed
    campaign --tasks 3 --resume "$(folder)"
    ends 0
    all_is_there
}

@test "--until-failure ends the tasks at the first failure" {
    subjects relapse-one relapse-two
    campaign --tasks 2 --engine step --until-failure s.lua
    rm closed
    ends 1
    grep -q '^# not complete: stopped at the first failure' tap
    [ -z "$(squeue -h)" ]
    [ ! -e "$(folder)/slurm" ]
}

@test "tasks that can do nothing end the campaign, and it is said where to look" {
    subjects right-one right-two
    campaign --tasks 2 --engine step --runs 4 s.lua
    wait_until test -s tap
    rm s.lua # this process has read it
    ends 3
    grep -q 'is over, has brought no run, and its task 1 did not come to its end: see .*/slurm/1/1.out' err
}

@test "where Slurm does not answer it is said before anything is run, and doctor knows, too" {
    subjects right-one right-two
    "$FAULTLINE" doctor | grep '^ok    Slurm  *it answers: '
    sed '/^SlurmctldPort=/s/=.*/=1/' "$SLURM_CONF" >other.conf
    SLURM_CONF=$PWD/other.conf run -64 "$FAULTLINE" campaign --slurm s.lua
    echo "$output"
    [[ "$output" == *'--slurm: Slurm does not answer: scontrol exited with status '* ]]
    SLURM_CONF=$PWD/other.conf "$FAULTLINE" doctor | grep '^note  Slurm  .*Slurm does not answer: '
    [ ! -e faultline-out ]
}
