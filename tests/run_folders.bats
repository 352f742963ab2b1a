#!/usr/bin/env bats
# Runs on the step engine are made in memory (jobs/run_folder.h).

bats_require_minimum_version 1.5.0

load driver_common

# subject SCRIPT [HOW]: a scenario over campaign_life whose runs, before they begin, write into `places`
# where their folder is, and run a piece of shell.
subject() {
    cat >s.lua <<EOF
scenario "subject" { protocol = "null", program = "$BUILD/tests/mpi/campaign_life", ranks = 2,
  arguments = { "${2:-right}" }, engine = "step", claims = { "H" },
  setup = { "sh", "-c", [[readlink -f "\$FAULTLINE_FILES" >>"$PWD/places"; $1]] } }
EOF
}

campaign() {
    "$FAULTLINE" campaign --strategy systematic --runs 6 --replays 0 "$@" s.lua
}

# The folder of the first command that made runs in memory.
in_memory() {
    grep -o -m 1 '^/dev/shm/faultline-runs-[^/]*' places
}

@test "what passes is never on the disk, and nothing is left in memory" {
    subject true
    campaign
    [ "$(grep -c '^/dev/shm/faultline-runs-' places)" -eq 6 ]
    [ ! -e "$(in_memory)" ]
    [ -z "$(find faultline-out/latest/ -name '[0-9]*' -path '*/latest/[0-9]*')" ]
}

@test "what is kept is a folder on the disk, whole" {
    subject true relapse
    run -1 campaign --until-failure --runs 100
    grep -q '^/dev/shm/faultline-runs-' places
    [ ! -e "$(in_memory)" ]
    run=$(find faultline-out/latest/ -maxdepth 1 -name '[0-9]*' | head -1)
    [ -z "$(find faultline-out/latest/ -type l)" ]
    run -1 "$FAULTLINE" check "$run"
    "$FAULTLINE" replay "$run"
}

@test "a run in a folder with a long path is judged" {
    subject true
    deep=$PWD/$(printf 'a-long-name-%.0s' {1..20})/$(printf 'and-one-more-%.0s' {1..18})
    "$FAULTLINE" run --engine step --keep --out "$deep" s.lua
    "$FAULTLINE" check "$deep/latest/1"
}

@test "what run, and a campaign with --keep, leave of runs that passed is on the disk, too" {
    subject true
    campaign --keep
    [ "$(grep -c '^/dev/shm/faultline-runs-' places)" -eq 6 ]
    [ -f faultline-out/latest/6/run.json ]
    "$FAULTLINE" run --repeat 3 --out ran s.lua
    [ "$(grep -c "^/dev/shm/faultline-runs-" places)" -eq 10 ] # the first run is made twice
    "$FAULTLINE" check ran/latest/3
    [ "$(find faultline-out/latest/ ran/latest/ -type l)" = "" ]
    [ ! -e "$(in_memory)" ]
}

@test "a run that writes too much for memory is made again on the disk, up to its own limit" {
    printf '#!/bin/sh\nexec yes "for ever"\n' >prints
    chmod +x prints
    printf 'scenario "prints" { protocol = "null", program = "./prints", ranks = 2, engine = "step",
  claims = { "H.progress" } }\n' >s.lua
    run -3 "$FAULTLINE" run --no-control --no-stacks --trace-limit 300 s.lua
    [[ "$output" == *"more than the 300 MB that are allowed"* ]]
    [ "$(jq .trace_limit_mb faultline-out/latest/1/run.json)" = 300 ]
    run -3 "$FAULTLINE" run --no-control --no-stacks --trace-limit 20 s.lua
    [[ "$output" == *"more than the 20 MB that are allowed"* ]]
}

@test "explore and shrink make their runs in memory, too" {
    subject true
    "$FAULTLINE" explore --budget 600 s.lua
    [ ! -e "$(in_memory)" ]
    subject true relapse
    run -1 campaign --until-failure --runs 100
    rm places
    "$FAULTLINE" shrink --confirm 0 "$(find faultline-out/latest/ -maxdepth 1 -name '[0-9]*' | head -1)"
    [ ! -e "$(in_memory)" ]
    [ -z "$(find faultline-out/latest/ -type l)" ]
}

@test "where little memory is free runs are made on the disk" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    leave_memory
    subject true
    unshare -m sh -c "mount -t tmpfs -o size=1000m none /dev/shm &&
        '$FAULTLINE' campaign --strategy systematic --runs 6 --replays 0 s.lua && [ -z \"\$(ls /dev/shm)\" ]"
    ! grep '^/dev/shm/' places || false
}

@test "a run that uses up the memory is made again on the disk" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    leave_memory
    # shellcheck disable=SC2016 # of the shell that runs before the ranks
    subject 'case $(readlink -f "$FAULTLINE_FILES") in
        /dev/shm/faultline-runs-*) fallocate -l 900M "$FAULTLINE_FILES/big"; exit 1 ;; esac'
    unshare -m sh -c "mount -t tmpfs -o size=1100m none /dev/shm &&
        '$FAULTLINE' campaign --strategy systematic --runs 2 --replays 0 s.lua && [ -z \"\$(ls /dev/shm)\" ]"
    [ "$(grep -c '^/dev/shm/' places)" -eq 2 ]
    [ "$(grep -c "^$PWD/faultline-out/.*/[12]//*files" places)" -ge 2 ]
}

@test "what a killed command has left in memory is removed by the next, what a running one has is not" {
    # shellcheck disable=SC2016
    subject 'case $(readlink -f "$FAULTLINE_FILES") in
        /dev/shm/faultline-runs-*) until [ -e "'"$PWD"'/go" ]; do sleep 0.05; done ;; esac'
    campaign 3>&- &
    DRIVER=$!
    wait_until in_memory
    left=$(in_memory)
    mkdir other
    (cd other && subject true && campaign)
    [ -d "$left" ]
    kill -9 "$DRIVER"
    touch go
    wait "$DRIVER" || true
    (cd other && wait_until sh -c "'$FAULTLINE' campaign --strategy systematic --runs 1 --replays 0 s.lua && [ ! -e '$left' ]")
}

# Runs a command for which modes of files count, also where root runs it.
without_privileges() {
    [ "$(id -u)" -ne 0 ] || set -- setpriv --bounding-set=-dac_override,-dac_read_search "$@"
    "$@"
}

@test "what a program has made unreadable is kept and removed, links lead to the disk, and holes stay holes" {
    without_privileges true 2>/dev/null || skip "root cannot do without its privileges here"
    # shellcheck disable=SC2016 # of the shell that runs before the ranks
    subject 'cd "$FAULTLINE_FILES"; echo 1 >secret; chmod 000 secret; ln -s "$PWD/secret" link; ln -s ../files near
        mkdir closed; echo 2 >closed/file; chmod 0500 closed; mkdir dark; echo 3 >dark/file; chmod 0000 dark
        echo 4 >tool; chmod 755 tool; truncate -s 3G holes'
    without_privileges "$FAULTLINE" run --out ran s.lua
    [ ! -e "$(in_memory)" ]
    [ "$(cat ran/latest/1/files/{link,near/secret,closed/file,dark/file})" = "1
1
2
3" ]
    [ -x ran/latest/1/files/tool ]
    [ "$(readlink ran/latest/1/files/link)" = "$(realpath ran/latest/1/files/secret)" ]
    [ "$(stat -c %s ran/latest/1/files/holes)" -eq 3221225472 ]
    [ "$(du -sm ran | cut -f 1)" -lt 100 ]
    without_privileges "$FAULTLINE" campaign --runs 4 --replays 0 s.lua
    [ -z "$(find faultline-out/latest/ -name '[0-9]*' -path '*/latest/[0-9]*')" ]
}

@test "where programs in memory cannot be run, a run that has one and fails is made again on the disk" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    leave_memory
    # shellcheck disable=SC2016
    subject 'cd "$FAULTLINE_FILES"; printf "#!/bin/sh\\ntouch ran\\n" >tool; chmod 755 tool; ./tool'
    unshare -m sh -c "mount -t tmpfs -o noexec,size=3g none /dev/shm && '$FAULTLINE' run s.lua && [ -z \"\$(ls /dev/shm)\" ]"
    grep -q '^/dev/shm/' places
    [ -f faultline-out/latest/1/files/ran ]
}

@test "a run that does not fit on the disk is a harness error, and no link leads nowhere" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    leave_memory
    # shellcheck disable=SC2016
    subject 'head -c 30m </dev/zero >"$FAULTLINE_FILES/big"'
    mkdir out
    unshare -m sh -c "mount -t tmpfs -o size=20m none out
        '$FAULTLINE' run --out out s.lua; echo status \$?; find out -type l" >said 2>&1
    grep -q "files/big: No space left on device" said
    grep -q "^status 3" said
    [ "$(grep -c '^out/' said)" -eq 1 ] # out/latest
    [ ! -e "$(in_memory)" ]
}

@test "what a campaign cannot keep for want of room is no run of it" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    leave_memory
    # shellcheck disable=SC2016
    subject '[ "$(wc -l <'"$PWD"'/places)" -lt 5 ] || head -c 30m </dev/zero >"$FAULTLINE_FILES/big"'
    mkdir out
    unshare -m sh -c "mount -t tmpfs -o size=20m none out
        '$FAULTLINE' campaign --out out --keep --strategy systematic --runs 20 --replays 0 s.lua; echo status \$?
        cat out/latest/campaign.jsonl; cp out/latest/campaign.jsonl .
        jq -r 'select(.kind == \"run\").folder' campaign.jsonl | while read -r run; do
            test -f out/latest/\$run/run.json || echo missing \$run; done" >said 2>&1
    grep -q "No space left on device" said
    grep -q '"kind":"run"' campaign.jsonl
    ! grep missing said || false
}

@test "a second signal leaves nothing in memory, and no link to there" {
    subject "touch '$PWD/begun'; sleep 600"
    "$FAULTLINE" run s.lua >said 3>&- &
    DRIVER=$!
    wait_until [ -e begun ]
    pgrep -P "$DRIVER" | xargs kill -STOP # so that the jobs do not end at the first signal
    kill -TERM "$DRIVER"
    wait_until sh -c "kill -TERM $DRIVER; ! kill -0 $DRIVER"
    wait "$DRIVER" || true
    DRIVER=
    [ ! -e "$(in_memory)" ]
    [ -z "$(find faultline-out/latest/ -type l)" ]
}

@test "FAULTLINE_IN_MEMORY=0 makes runs on the disk" {
    subject true
    FAULTLINE_IN_MEMORY=0 campaign
    ! grep '^/dev/shm/faultline-runs-' places || false
    FAULTLINE_IN_MEMORY=no run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *'FAULTLINE_IN_MEMORY=no is not known'*'accepted: 0, 1'* ]]
}
