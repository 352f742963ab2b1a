#!/usr/bin/env bats
# What the driver says and does when something is wrong around it: the machine, the disk, the
# launcher, names, variables, a terminal that is gone.

bats_require_minimum_version 1.5.0
load driver_common

# A library under which the N-th fork of a process, and all after it, fail: FAIL_FORK_AT=N.
fork_fails() {
    cat >fork.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
static int forks;
pid_t fork(void)
{
    if (++forks < atoi(getenv("FAIL_FORK_AT")))
        return ((pid_t (*)(void))dlsym(RTLD_NEXT, "fork"))();
    errno = EAGAIN;
    return -1;
}
C
    gcc -shared -fPIC -o fork.so fork.c
    FAIL_FORK_AT=$1 LD_PRELOAD=$PWD/fork.so timeout -k 5 60 "$FAULTLINE" run s.lua
}

# The first fork is that which reads the scenario file.
@test "no process for a run: told, and the command ends" {
    scenario "good" '"ok"'
    scenario "good too" '"ok"'
    run -3 fork_fails 2
    [[ "$output" == *"faultline: cannot fork: "* ]]
    [[ "$output" == *"Bail out! cannot fork: "* ]]
    run -3 fork_fails 3
    [[ "$output" == *"not ok 1 - good # harness-error"* ]]
    [[ "$output" == *"cannot fork: "* ]]
}

@test "TAP that cannot be written: a message, and never status 0" {
    scenario "good" '"ok"'
    "$FAULTLINE" run s.lua >/dev/null
    for words in "run s.lua" "run --dry-run s.lua" "check faultline-out/latest/1" "list s.lua" \
        claims "claims H.orphan" "trace faultline-out/latest/1"; do
        # shellcheck disable=SC2086 # a list of words
        run -3 --separate-stderr sh -c '"$@" >/dev/full' sh "$FAULTLINE" $words
        [[ "$stderr" == *"faultline: cannot write standard output: "* ]]
    done
    for words in "run --tap /dev/full s.lua" "check --tap /dev/full faultline-out/latest/1"; do
        # shellcheck disable=SC2086
        run -3 "$FAULTLINE" $words
        [[ "$output" == *"ok 1 - good"* ]]
        [[ "$output" == *"faultline: cannot write /dev/full: "* ]]
    done
}

@test "the run without faults is shared by what is the same program, not by its name" {
    mkdir a b
    cp "$LIFE" a/p
    cp "$LIFE" b/p
    for where in a b; do
        for name in "./p" "../$where/p" "$PWD/$where/p"; do
            echo "scenario '$where $((++n))' { protocol = 'null', program = '$name', ranks = 2,
                claims = { 'H' }, plan = function(p) p:kill { rank = 1, event = 'collective' } end }"
        done >$where/s.lua
    done
    run "$FAULTLINE" run a b
    [ "$status" -eq 0 ]
    [ "$(ls faultline-out/latest/reference)" = "$(printf '1\n2')" ]
    grep -q '"program": "./p"' faultline-out/latest/reference/1/run.json
}

@test "a violation that is found without the plan's fault is not the one expected" {
    scenario "by itself" '"exit"' 'expect = { violates = "H.progress" },
        plan = function(p) p:kill { rank = 1, event = "send", nth = 99 } end'
    run -2 "$FAULTLINE" run s.lua
    [[ "$output" == *"not ok 1 - by itself # vacuous"* ]]
    [[ "$output" == *"a violation of H.progress is expected, and found; but not all of the plan"* ]]
    [[ "$output" == *"of the plan was never done: kill"* ]]
}

@test "a violation of another claim beside the expected one is told, and fails" {
    cat >s.lua <<'LUA'
scenario "two" {
  protocol = "blocking-no-barrier", program = "tally", ranks = 3,
  arguments = { "--slow-us", 10000 }, claims = { "B.empty", "H.result" },
  expect = { violates = "B.empty" },
  plan = function(p) p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 1 } } end,
}
LUA
    run -1 "$FAULTLINE" run s.lua
    [[ "$output" == *"not ok 1 - two # H.result"* ]]
    [[ "$output" == *"a violation of B.empty is expected, and found; but H.result is violated as well"* ]]
}

@test "a run without faults that fails is told of, also where all passes" {
    echo "scenario 'needs it' { protocol = 'null', program = '$LIFE', ranks = 2,
        arguments = { 'second-life' }, claims = { 'H' },
        plan = function(p) p:kill { rank = 1, call = 'MPI_Comm_size' } end }" >s.lua
    run -0 "$FAULTLINE" run s.lua
    [[ "$output" == *"ok 1 - needs it"* ]]
    local said="# not compared with a run without faults (H.result, H.loss): the run without faults did"
    [[ "$output" == *"$said not finish: faultline check faultline-out/"*"/reference/1"* ]]
    run -0 "$FAULTLINE" check faultline-out/latest/1
    [[ "$output" == *"$said not finish: "* ]]
}

@test "names that are no UTF-8" {
    local odd=$'caf\xe9'
    mkdir "$odd"
    cp "$LIFE" "$odd/life"
    {
        printf 'scenario "good" { protocol = "null", program = "./%s/life", ranks = 2,' "$odd"
        printf 'arguments = { "ok", "\xff" }, environment = { ODD = "\xfe" }, claims = { "H" } }\n'
        printf 'scenario "bad" { protocol = "null", program = "./%s/life", ranks = 2,' "$odd"
        printf 'arguments = { "exit" }, claims = { "H" } }\n'
    } >"$odd/s.lua"
    run -1 "$FAULTLINE" run --out "$odd/out" "$odd/s.lua"
    [[ "$output" == *"ok 1 - good"*"not ok 2 - bad # H.progress"* ]]
    run -0 "$FAULTLINE" check "$odd/out/latest/1"
    run -1 "$FAULTLINE" run --out "$odd/out" --last-failed "$odd/s.lua"
    [[ "$output" == *"1..1"*"not ok 1 - bad"* ]]
}

@test "check goes on after a run that it cannot read" {
    scenario "one" '"ok"'
    scenario "two" '"exit"'
    scenario "three" '"ok"'
    run -1 "$FAULTLINE" run s.lua
    cp -rL faultline-out/latest/2 broken
    echo nonsense >broken/run.json
    run -64 "$FAULTLINE" check faultline-out/latest/1 broken faultline-out/latest/3
    [[ "$output" == *"1..3"*"ok 1 - one"*"not ok 2 - broken # harness-error"*"ok 3 - three"* ]]
    [[ "$output" == *"broken/run.json:1: "* ]]
    run -64 "$FAULTLINE" check nothing faultline-out/latest/2
    [[ "$output" == *"not ok 1 - nothing"*"not ok 2 - two # H.progress"* ]]
}

@test "what fails on a full disk is not the program's fault" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    scenario "no room" '"fill"'
    mkdir faultline-out
    run timeout 60 unshare -m sh -c "mount -t tmpfs -o size=8m none faultline-out &&
        '$FAULTLINE' run s.lua; echo status \$?"
    [[ "$output" == *"not ok 1 - no room # harness-error"* ]]
    [[ "$output" == *"rank 1 exited with status 7"*"but the disk of faultline-out/"*" is full"* ]]
    [[ "$output" == *"status 3" ]]
}

@test "what fails where MPI has no room for its shared memory is not the program's fault" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    scenario "no room" '"ok"'
    leave_memory
    run timeout 60 unshare -m sh -c "mount -t tmpfs -o size=6m none /dev/shm &&
        '$FAULTLINE' run s.lua; echo status \$?"
    [[ "$output" == *"not ok 1 - no room # harness-error"* ]]
    [[ "$output" == *"but /dev/shm has no room for 2 ranks in MPI_Init"* ]]
    [[ "$output" == *"status 3" ]]
}

@test "a rank that is never a process of the program is not the program's fault" {
    printf '#!/bin/sh\nexit 127\n' >none
    chmod +x none
    echo 'scenario "none" { protocol = "null", program = "./none", ranks = 2 }' >s.lua
    run -3 "$FAULTLINE" run s.lua
    [[ "$output" == *"rank "?" could not be started"* ]]
}

@test "a launcher that starts each rank as a world of its own is not the program's fault" {
    cat >launcher <<'SH'
#!/bin/sh
shift 2 # -n 2
OMPI_COMM_WORLD_RANK=0 "$@" &
OMPI_COMM_WORLD_RANK=1 "$@"
wait
SH
    chmod +x launcher
    scenario "apart" '"ok"'
    run -3 env FAULTLINE_MPIEXEC="$PWD/launcher" "$FAULTLINE" run s.lua
    [[ "$output" == *"rank 0 saw a world of 1, asked for were 2"* ]]
}

@test "what the launcher says is shown when it does not start the job" {
    printf '#!/bin/sh\necho "boom: no host named nowhere" >&2\nexit 5\n' >launcher
    chmod +x launcher
    scenario "never" '"ok"'
    run -3 env FAULTLINE_MPIEXEC="$PWD/launcher" "$FAULTLINE" run s.lua
    [[ "$output" == *"rank 0 was never started ("*"launcher exited with status 5"* ]]
    [[ "$output" == *'- "launcher: boom: no host named nowhere"'* ]]
}

@test "FAULTLINE_HASH and FAULTLINE_RECORD: values that are not known are refused" {
    scenario "good" '"ok"'
    local setting
    for setting in FAULTLINE_HASH=ful FAULTLINE_RECORD=no; do
        run -64 env "$setting" "$FAULTLINE" run s.lua
        [[ "$output" == *"$setting is not known"* ]]
        run -64 env "$setting" "$FAULTLINE" exec -- true
        [[ "$output" == *"$setting is not known"* ]]
    done
    run -64 env FAULTLINE_HASH=ful "$FAULTLINE" run s.lua
    [[ "$output" == *'(did you mean "full"?); accepted: sample, full, none'* ]]
    run -64 env FAULTLINE_RECORD=2 "$FAULTLINE" run s.lua
    [[ "$output" == *"accepted: 0, 1"* ]]
    [ ! -e faultline-out ]
    for setting in FAULTLINE_HASH=none FAULTLINE_HASH= FAULTLINE_RECORD=1; do
        run -0 env "$setting" "$FAULTLINE" run s.lua
    done
    sed -i 's/ranks = 2/ranks = 2, environment = { FAULTLINE_HASH = "ful" }/' s.lua
    run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *"s.lua:1: scenario \"good\": FAULTLINE_HASH=ful is not known"* ]]
}

@test "FAULTLINE_LIBRARY and FAULTLINE_HELPERS: exec refuses what is no list of files or ranks" {
    local setting
    for setting in FAULTLINE_LIBRARY=/a/libx.so FAULTLINE_LIBRARY=libx.so: FAULTLINE_LIBRARY=a::b \
        FAULTLINE_HELPERS=x FAULTLINE_HELPERS=0, FAULTLINE_HELPERS=0:3 FAULTLINE_HELPERS=1024; do
        run -64 env "$setting" "$FAULTLINE" exec -- true
        [[ "$output" == *"$setting; accepted: "* ]]
    done
    [ ! -e faultline-out ]
    run -0 env FAULTLINE_LIBRARY=libx.so:liby.so.2 FAULTLINE_HELPERS=0,3 "$FAULTLINE" exec -- true
    run -0 env FAULTLINE_LIBRARY= FAULTLINE_HELPERS= "$FAULTLINE" exec -- true
}

@test "FAULTLINE_RECORD=0 is told as what it is" {
    scenario "good" '"ok"'
    run -64 env FAULTLINE_RECORD=0 "$FAULTLINE" run s.lua
    [[ "$output" == *"FAULTLINE_RECORD=0: nothing would be recorded, and nothing could be judged"* ]]
    run -0 env FAULTLINE_RECORD=0 "$FAULTLINE" exec -- mpiexec -n 1 "$LIFE" ok
    [[ "$output" == *"faultline: nothing was recorded, as FAULTLINE_RECORD=0 asks for"* ]]
}

@test "trace: what is out of range is told, with what there is" {
    scenario "good" '"ok"'
    "$FAULTLINE" run s.lua
    local trace=("$FAULTLINE" trace faultline-out/latest/1)
    run -64 "${trace[@]}" --rank 2
    [[ "$output" == *"--rank 2: the run has ranks 0 to 1"* ]]
    run -64 "${trace[@]}" --incarnation 1
    [[ "$output" == *"--incarnation 1: the run has incarnations 0 to 0"* ]]
    run -64 "${trace[@]}" --from 100000
    [[ "$output" == *"--from 100000: the longest trace of the run has events 0 to "* ]]
    run -64 "${trace[@]}" --from 5 --to 4
    [[ "$output" == *"--from 5 is after --to 4"* ]]
    for bad in 0 -1 x 1x "" 99999999999999999999; do
        run -64 "${trace[@]}" --limit "$bad"
        [[ "$output" == *"--limit: \"$bad\" is not a whole number from 1 to "* ]]
    done
    run -64 "${trace[@]}" --level wrie
    [[ "$output" == *'--level: there is no "wrie" (did you mean "wire"?); accepted: app, wire, self'* ]]
    run -64 "${trace[@]}" --kind snd
    [[ "$output" == *'did you mean "send"?); accepted: '*collective* ]]
    run -0 "${trace[@]}" --rank 1 --incarnation 0 --from 0 --to 4 --limit 1
}

# exec_begin SIGNAL COMMAND...: under exec in the background until both ranks live; then the signal.
exec_ends() {
    local signal=$1 status=0
    shift
    env --default-signal=INT,TERM,HUP "$FAULTLINE" exec --trace "t$signal" -- "$@" 2>err 3>&- &
    DRIVER=$!
    wait_until test -s pid.0 -a -s pid.1
    kill "-$signal" "$DRIVER"
    wait "$DRIVER" || status=$?
    [ "$status" -ne 0 ]
    all_gone
    grep -q "2 traces in" err
    rm pid.*
}

@test "exec passes signals on, and nothing is left of the job" {
    for signal in TERM INT HUP; do
        exec_ends "$signal" mpiexec -n 2 "$LIFE" spin
    done
}

@test "exec: nothing is left either of a command that does not end its own children" {
    exec_ends TERM sh -c "mpiexec -n 2 '$LIFE' spin; exit 7"
}

@test "exec leaves alone what a command that ends by itself leaves running" {
    run -0 "$FAULTLINE" exec -- sh -c 'sleep 600 >/dev/null 2>&1 3>&- & echo $! >sleeper'
    kill "$(cat sleeper)"
}

# Several processes of a job may write one at the same moment.
@test "an error message is written in one piece" {
    run -64 strace -o calls -e trace=write "$FAULTLINE" run none.lua
    [ "$(grep -c '^write(2, ' calls)" -eq 1 ]
}

@test "exec inside a job refuses a folder with the traces of another job" {
    run -0 mpiexec -n 2 "$FAULTLINE" exec --trace here -- "$LIFE" ok
    cksum here/trace/* >before
    # What they say goes to a file: MPICH's mpiexec may die of SIGPIPE where all end soon, ahead of them,
    # and lose it.
    # shellcheck disable=SC2016 # expanded by that shell
    run mpiexec -n 2 sh -c '"$@" 2>>said' sh "$FAULTLINE" exec --trace here -- "$LIFE" ok
    [ "$status" -ne 0 ]
    timeout 60 sh -c 'until grep -q "here holds traces of another job already; --trace names a new folder" said
        do sleep 0.1; done'
    cksum here/trace/* | cmp - before
}

# Whoever reads TAP from a line that a program or a path has made would believe it.
@test "a name with newlines and escapes makes no line of TAP and steers no terminal" {
    scenario "killed" '"forged-phase"' 'plan = function(p)
        p:kill { rank = 1, event = "call", call = "MPI_Barrier" } end'
    run "$FAULTLINE" run --keep --out $'out\nok 8 - forged' --tap t.tap s.lua
    [[ "$output" == *'# runs in out\x0aok 8 - forged/'* ]]
    [[ "$output" == *'x\x0aok 7 - forged\x1b[2J'* ]]
    [ "$(grep -acE '^(not )?ok' t.tap)" = 1 ]
    run ! grep -a $'\033' t.tap
    [[ "$output" != *$'\033'* ]]
    run "$FAULTLINE" replay --out $'again\nok 9 - forged' "$(echo out*/latest/1)"
    [[ "$output" == *'# runs in again\x0aok 9 - forged/'* ]]
    run -64 "$FAULTLINE" run $'none\033[2J.lua'
    [[ "$output" == *'none\x1b[2J.lua'* ]]
}

@test "help and version that cannot be written: a message, and never status 0" {
    for words in --help help --version "run --help" "trace --help" "exec --help" "claims --usage"; do
        # shellcheck disable=SC2086 # a list of words
        run -3 --separate-stderr sh -c '"$@" >/dev/full' sh "$FAULTLINE" $words
        [[ "$stderr" == *"faultline: cannot write standard output: No space left"* ]]
        # shellcheck disable=SC2086
        run -0 "$FAULTLINE" $words
    done
    run -64 "$FAULTLINE" run --nonsense
}

# What a reader takes for this run's is of this run, and whole.
@test "a file of results is not there before it is whole: none while it runs, none after a kill" {
    local form file
    scenario "lives" '"spin"' 'timeout = 3600'
    mkdir results
    for form in junit json github gitlab; do
        echo "of an earlier run" >"results/$form"
    done
    "$FAULTLINE" run --junit results/junit --json results/json --github results/github \
        --gitlab results/gitlab s.lua >tap 2>&1 &
    DRIVER=$!
    wait_until started pid.0 pid.1
    for form in junit json github gitlab; do
        [ ! -e "results/$form" ]
    done
    kill -9 "$DRIVER"
    wait "$DRIVER" || true
    wait_until all_gone
    wait_until test -s faultline-out/latest/1/tap # the last that is written of it
    for form in junit json github gitlab; do
        [ ! -e "results/$form" ]
    done
    rm -r results s.lua
    mkdir results
    scenario "good" '"ok"'
    run -0 "$FAULTLINE" run --junit results/junit --json results/json --github results/github \
        --gitlab results/gitlab s.lua
    [ "$(ls results)" = $'github\ngitlab\njson\njunit' ]
    xmllint --noout results/junit
    jq -e . results/json results/gitlab
    run -3 "$FAULTLINE" run --junit nowhere/junit s.lua
    [[ "$output" == *nowhere/junit*"No such file"* ]]
    # What is no file is written into, all of it, when all is over.
    mkfifo fifo
    cat fifo >got &
    run -0 "$FAULTLINE" run --junit fifo s.lua
    wait $!
    xmllint --noout got
    [ -p fifo ]
}

@test "an archive that is refused leaves nothing behind, and latest where it was" {
    local before
    scenario "good" '"ok"'
    "$FAULTLINE" run --keep s.lua
    before=$(readlink faultline-out/latest)
    "$FAULTLINE" export -o packed faultline-out/latest/1
    head -c 300 packed >half
    echo nonsense >nonsense
    for file in half nonsense; do
        run -64 "$FAULTLINE" replay "$file"
        [ "$(readlink faultline-out/latest)" = "$before" ]
        [ "$(ls faultline-out)" = "$before"$'\nlatest' ]
    done
}
