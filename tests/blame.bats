#!/usr/bin/env bats
# Whose doing it was: what others do to a run (signals, limits, a machine without room) is never a
# violation; what a rank does itself, or has done to another, is.

bats_require_minimum_version 1.5.0
load driver_common

child_of() {
    tr ' ' '\n' <"/proc/$1/task/$1/children" | sed -n "${2:-1}p"
}

# The processes of the job that is under way: where a signal can go to.
process_of() {
    local job launcher proxy
    job=$(child_of "$DRIVER")
    launcher=$(child_of "$job")
    proxy=$(child_of "$launcher")
    case $1 in
        rank) cat faultline-out/latest/1/store/pid.1 ;;
        parent) child_of "$proxy" 2 ;;
        proxy) echo "$proxy" ;;
        launcher) echo "$launcher" ;;
    esac
}

# A program that goes on until it is ended is under way, and WHO gets SIGNAL; what came of it is in
# `tap` and $status.
send() {
    rm -rf faultline-out s.lua
    scenario "goes on" '"spin"' "timeout = ${3:-600}"
    env --default-signal=INT,TERM "$FAULTLINE" run s.lua >tap 2>err 3>&- &
    DRIVER=$!
    wait_until started pid.0 pid.1
    kill "-$2" "$(process_of "$1")"
    status=0
    wait "$DRIVER" || status=$?
    all_gone
}

# harness_error TEXT: that is what came of it, and it is told so.
harness_error() {
    [ "$status" -eq 3 ] || { cat tap err; return 1; }
    grep -q "^not ok 1 - goes on # harness-error" tap
    grep -qF -- "$1" tap || { cat tap; return 1; }
}

@test "a rank that somebody kills, or ends by a signal: a harness error, which says so" {
    local signal
    for signal in KILL TERM INT; do
        send rank "$signal"
        harness_error "rank 1 was ended by SIG$signal from outside the plan: neither Faultline nor a"
    done
}

@test "a signal to the parent of a rank: a harness error, which says who sent it" {
    send parent TERM
    harness_error "rank 1 was ended by SIGTERM from outside the plan: sent by process $$ ("
    send parent KILL
    harness_error "the launcher ended while ranks were running, and none had failed ("
}

@test "a signal to the launcher or its proxy: a harness error" {
    send launcher INT
    harness_error "by SIGINT from outside the plan: sent by the launcher's process "
    send launcher KILL
    harness_error "mpiexec.hydra was ended by SIGKILL)"
    send proxy KILL
    harness_error "the launcher ended while ranks were running, and none had failed ("
}

@test "a launcher that is told to end waits to be told again: its job is ended" {
    scenario "deaf" '"handler"' 'timeout = 600'
    env --default-signal=INT,TERM "$FAULTLINE" run s.lua >tap 2>err 3>&- &
    DRIVER=$!
    wait_until started pid.0 pid.1
    kill -INT "$(process_of launcher)"
    status=0
    wait "$DRIVER" || status=$?
    [ "$status" -eq 3 ]
    grep -q "was sent SIGINT from outside the plan, by the launcher's process" tap
    all_gone
}

@test "a rank whose connection to the launcher breaks off waits for its end: a harness error" {
    scenario "cut off" '"lost-launcher"' 'timeout = 4'
    run -3 "$FAULTLINE" run s.lua
    [[ "$output" == *"not ok 1 - cut off # harness-error"* ]]
    [[ "$output" == *"the launcher of rank 0 (process "*") was stopped from outside the plan"* ]]
    all_gone
}

@test "a process of the job that is stopped from outside: a harness error at the time limit" {
    local who
    for who in rank launcher; do
        send "$who" STOP 10 # the signal must come before that, on a busy machine too
        harness_error " was stopped from outside the plan"
    done
}

@test "a signal that a rank sends to itself, or to another, is the program's doing" {
    scenario "itself" '"kill-self"'
    scenario "another" '"term-other"'
    run -1 "$FAULTLINE" run -j 2 s.lua
    [[ "$output" == *"not ok 1 - itself # H.progress"* ]]
    [[ "$output" == *"rank 1 was ended by SIGKILL, not by a fault of the plan"* ]]
    [[ "$output" == *"not ok 2 - another # H.progress"* ]]
    [[ "$output" == *"rank 0 was ended by SIGTERM, not by a fault of the plan"* ]]
    # Nobody waits there for a signal that was to come from outside. When a signal of another rank comes
    # is not imposed (faultline(1), replay).
    run -0 "$FAULTLINE" replay faultline-out/latest/1
}

@test "MPI_Abort with code 0 is an abort" {
    scenario "gives up" '"abort-0"'
    run -1 "$FAULTLINE" run s.lua
    [[ "$output" == *"not ok 1 - gives up # H.progress"* ]]
    [[ "$output" == *"rank 1 aborted the job (MPI_Abort, or an MPI error that is fatal)"* ]]
    [[ "$output" == *"rank 1 aborted the job; the last call it recorded is MPI_Abort: r1#0:e"* ]]
}

# fingerprints N: of the runs, each once, after their number.
fingerprints() {
    jq -r .fingerprint faultline-out/latest/[1-9]*/verdict.json | sort | uniq -c | sed 's/^ *//'
}

@test "a fatal MPI error is told as what it is, each time the same" {
    scenario "overrun" '"overrun"'
    run -1 "$FAULTLINE" run --no-stacks -j 4 --repeat 8 s.lua
    [ "$(grep -c "rank 1 aborted the job (MPI_Abort, or an MPI error that is fatal)\"$" \
        <<<"$output")" -ge 8 ]
    [ "$(fingerprints)" = "8 H.progress MPI_Recv start" ]
}

@test "a fatal MPI error of all ranks at once has one fingerprint, whoever is first" {
    scenario "overrun" '"overrun-both"'
    run -1 "$FAULTLINE" run --no-stacks -j 4 --repeat 8 s.lua
    [ "$(fingerprints)" = "8 H.progress MPI_Recv start" ]
}

@test "limits of the shell are not the program's failure" {
    scenario "good" '"ok"'
    run -3 sh -c "ulimit -f 64; '$FAULTLINE' run s.lua"
    [[ "$output" == *"was ended by SIGXFSZ: it came to the limit of ulimit -f"* ]]
    run -3 sh -c "ulimit -f 8; '$FAULTLINE' run s.lua"
    [[ "$output" == *"cannot create board "*": File too large"* ]]
    run -3 sh -c "ulimit -n 24; '$FAULTLINE' run s.lua"
    [[ "$output" == *"not ok 1 - good # harness-error"* ]]
    run -0 sh -c "ulimit -n 256; '$FAULTLINE' run s.lua"
}

# A library under which the parent of rank 1 cannot fork.
make_fork_fail() {
    cat >fork.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
pid_t fork(void)
{
    const char *rank = getenv("PMI_RANK");
    if (strcmp(program_invocation_short_name, "faultline-rank") != 0 || strcmp(rank, "1") != 0)
        return ((pid_t (*)(void))dlsym(RTLD_NEXT, "fork"))();
    errno = EAGAIN;
    return -1;
}
C
    gcc -shared -fPIC -o fork.so fork.c
}

@test "a rank that cannot be started for want of processes: a harness error, and soon" {
    scenario "good" '"ok"' 'timeout = 600'
    make_fork_fail
    run -3 env LD_PRELOAD="$PWD/fork.so" "$FAULTLINE" run s.lua
    [[ "$output" == *"not ok 1 - good # harness-error"*"rank 1 could not be started"* ]]
}

@test "a store whose path leaves no room for files: refused before anything runs" {
    local long
    scenario "good" '"ok"'
    long=$PWD/$(printf 'd%.0s' {1..200})
    while [ "${#long}" -lt 3072 ]; do long=$long/$(printf 'd%.0s' {1..200}); done
    run -3 "$FAULTLINE" run --out "$long" s.lua
    [[ "$output" == *"the path of a run folder may have 3072 bytes, for the files of a checkpoint"* ]]
    [ ! -e "$(find . -name r0.0.trace)" ]
}

@test "a read-only /dev/shm is not the program's failure" {
    unshare -m true 2>/dev/null || skip "mounting is not allowed here"
    scenario "good" '"ok"'
    leave_memory
    run -3 unshare -m sh -c "mount --bind /dev/shm /dev/shm &&
        mount -o remount,ro,bind /dev/shm && '$FAULTLINE' run s.lua"
    [[ "$output" == *"inside MPI_Init of the MPI library"*"; but /dev/shm is read-only"* ]]
}

# killing_launcher PATTERN: of the first launch whose words match, a rank is killed before it has done
# anything; FAULTLINE_MPIEXEC names it.
killing_launcher() {
    cat >launcher <<SH
#!/bin/bash
case "\$*" in $1) ;; *) exec mpiexec "\$@" ;; esac
mkdir '$PWD/hit' 2>/dev/null || exec mpiexec "\$@"
child_of() { tr ' ' '\n' <"/proc/\$1/task/\$1/children" | sed -n "\$2p"; }
mpiexec "\$@" &
until rank=\$(child_of "\$(child_of "\$(child_of \$! 1)" 2)" 1 2>/dev/null) && [ -n "\$rank" ]; do :; done
kill -KILL "\$rank"
wait \$!
SH
    chmod +x launcher
    export FAULTLINE_MPIEXEC=$PWD/launcher
}

ring_scenario() {
    echo 'scenario "ring" { protocol = "null", program = "ring", ranks = 2,
        arguments = { "--iterations", "2" }, claims = { "H.progress" } }' >s.lua
}

# runs FILTER: of the campaign's journal.
runs() { jq -r "select(.kind == \"run\") | $1" faultline-out/latest/campaign.jsonl; }

@test "a canary that is hit from outside ends the campaign, and is run again when it goes on" {
    killing_launcher '*/canary/*'
    ring_scenario
    run -3 "$FAULTLINE" campaign --runs 1 s.lua
    [[ "$output" == *"a canary could not be run (faultline-out/"*"/canary/1); --resume runs it"* ]]
    grep -q "was ended by SIGKILL from outside the plan" faultline-out/latest/canary/1/run.json
    run "$FAULTLINE" campaign --resume faultline-out/latest
    [[ "$output" != *"a canary "* ]]
    [ "$(jq -r '.canaries[0].found' faultline-out/latest/campaign.json)" = true ]
    [ "$(runs .number | wc -l)" -eq 1 ]
}

@test "a run of a campaign that is hit from outside is a harness error, and all others are as ever" {
    ring_scenario
    "$FAULTLINE" campaign --strategy systematic --runs 3 s.lua >tap || true
    runs '.plan' >usual
    rm -rf faultline-out
    killing_launcher '*/2\ --watch*'
    run -3 "$FAULTLINE" campaign --strategy systematic --runs 3 s.lua
    [ -e hit ]
    cmp usual <(runs .plan)
    [ "$(runs 'select(.number == 2).verdict')" = harness-error ]
    [ "$(runs 'select(.verdict == "harness-error").number')" = 2 ]
}

@test "a replay that is hit from outside was not run, and is no other verdict" {
    scenario "bad end" '"exit"'
    run -1 "$FAULTLINE" run --no-stacks --no-control s.lua
    killing_launcher '*'
    run -3 "$FAULTLINE" replay --out replays --repeat 2 faultline-out/latest/1
    [ -e hit ]
    [[ "$output" == *"was ended by SIGKILL from outside the plan"* ]]
    [[ "$output" == *"replayed 1/"* ]]
}

@test "shrink does not count a run that is hit from outside" {
    scenario "bad end" '"exit"'
    run -1 "$FAULTLINE" run --no-stacks --no-control s.lua
    killing_launcher '*/runs/2\ --watch*'
    run -0 "$FAULTLINE" shrink --budget 600 --out shrunk faultline-out/latest/1
    [ -e hit ]
    [[ "$output" == *"ok 1 - bad end"* ]]
}
