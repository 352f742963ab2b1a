#!/usr/bin/env bats
# faultline campaign: bounds, groups, canaries, interruption and resume, bad input.

bats_require_minimum_version 1.5.0
load driver_common

# subject NAME HOW [FIELDS]: appends a scenario over campaign_life to s.lua.
subject() {
    printf 'scenario "%s" { protocol = "%s", program = "%s", ranks = 2, arguments = { %s },
  claims = { "H" }, %s }\n' "$1" "${PROTOCOL:-null}" "$BUILD/tests/mpi/campaign_life" "$2" \
        "${3:-}" >>s.lua
}

# campaign OPTION...: a systematic one over s.lua; TAP in the file tap.
campaign() {
    "$FAULTLINE" campaign -j 2 --strategy systematic "$@" s.lua >tap
}

# of FILTER: what campaign.json of the newest campaign says.
of() { jq -r "$1" faultline-out/latest/campaign.json; }

# The numbers of the runs in the journal, in order.
numbers() { jq -r 'select(.kind == "run").number' faultline-out/latest/campaign.jsonl | sort -n; }

some_are_done() { [ "$(numbers | wc -l)" -ge 2 ]; }

@test "over what is right: complete, status 0, one line a run, nothing kept" {
    subject right '"right"'
    campaign
    prove --exec cat tap
    grep -q '^# complete: ' tap
    [ "$(of .complete)" = true ]
    [ "$(of '.subjects[0].plans')" = "$(of .runs)" ]
    [ "$(of .runs)" = "$(of .verdicts.pass)" ]
    [ "$(of '.canaries | length')" = 1 ]
    [ "$(of '.canaries[0].found')" = true ]
    [ "$(numbers)" = "$(seq "$(of .runs)")" ]
    [ -z "$(find faultline-out/latest/ -maxdepth 1 -name '[0-9]*')" ]
}

@test "--runs is a bound, and it is said" {
    subject right '"right"'
    campaign --runs 2 --keep
    [ "$(numbers)" = "$(seq 2)" ]
    [ "$(of .complete)" = false ]
    grep -q '^# not complete: 2 runs, as asked for; there are [0-9]* plans' tap
    [ -s faultline-out/latest/1/run.json ] && [ -s faultline-out/latest/2/run.json ]
}

# The program has one rank less than the job; its result is held against that of a run with as many.
@test "ranks in reserve are no ranks of the run that results are held against" {
    printf 'scenario "moves" { protocol = "cocheck", program = "laplace", ranks = 3, reserve = 1,
        arguments = { "--size", 16, "--iterations", 14 }, claims = { "H" }, environment = {
        COCHECK_EVERY = 6, COCHECK_SKELETONS = 1, COCHECK_MIGRATE = "1@1" } }\n' >s.lua
    run campaign --runs 1
    [ "$status" -ne 1 ]
    [ "$(jq .scenario.ranks faultline-out/latest/reference/1/run.json)" = 2 ]
    [ "$(jq -r 'select(.kind == "survey").verdict' faultline-out/latest/campaign.jsonl)" = pass ]
    [ "$(of '.groups | length')" = 0 ]
}

@test "a group of failures is told with the subject that it is of" {
    subject right '"right"'
    subject relapse '"relapse"'
    status=0; campaign --runs 6 --replays 1 || status=$?
    cat tap
    [ "$status" -eq 1 ]
    [ "$(of '[.groups[].subject] | unique | .[]')" = 2 ]
    [[ "$(grep '^  subject: ' tap | sort -u)" == "  subject: "*'campaign_life relapse"' ]]
}

@test "the same subject twice is one, plans and expectations are not looked at, subjects take turns" {
    subject right '"right"'
    subject again '"right"' 'expect = { violates = "H.orphan" }, plan = function(p)
        p:kill { rank = 1, event = "call", call = "MPI_Test" } end'
    subject other '"right", "other"'
    campaign --runs 4
    [ "$(of '.subjects | length')" = 2 ]
    [ "$(jq -r 'select(.kind == "run") | "\(.number) \(.subject) \(.index)"' \
        faultline-out/latest/campaign.jsonl | sort)" = "1 1 0
2 2 0
3 1 1
4 2 1" ]
}

@test "failures that are the same are one group, told with the first, and are status 1" {
    subject relapse '"relapse"'
    run -1 campaign --replays 0
    run -0 grep -c '^not ok' tap
    [ "$output" = "$(of '.groups | length')" ]
    [ "$(of '[.groups[].count] | add')" = "$(of .verdicts.violation)" ]
    [ "$(of '.groups | length')" -lt "$(of .verdicts.violation)" ]
    grep -q 'exited with status 3' tap
    # The one that is shown is there.
    run -1 "$FAULTLINE" check "faultline-out/latest/$(of '.groups[0].folder')"
}

@test "the first failure of a group is replayed" {
    subject relapse '"relapse"'
    run -1 campaign --until-failure --replays 3
    grep -q '^  replayed: "3/3"$' tap
    [ "$(of '.groups[0].replays.same')" = 3 ]
    [ "$(jq -r 'select(.kind == "replays").same' faultline-out/latest/campaign.jsonl)" = 3 ]
}

@test "what has been replayed is not replayed again by a campaign that goes on" {
    subject relapse '"relapse"'
    run -1 campaign --runs 1 --replays 2
    [ "$(of '.groups[0].replays.asked')" = 2 ]
    run -1 "$FAULTLINE" campaign --resume "$(readlink -f faultline-out/latest)" --runs 2
    grep -q '^  replayed: "2/2"$' <<<"$output"
    [ "$(of .runs)" = 2 ]
    [ "$(of '.groups[0].replays.asked')" = 2 ]
}

@test "of claims that stay open twelve are listed, and it is said where there are more" {
    local claims='"S", "R", "D.2.1", "D.2.2", "D.2.3", "D.all"'
    printf 'scenario "null" { protocol = "null", program = "%s", ranks = 2, arguments = { "right" },
  claims = { %s } }\n' "$BUILD/tests/mpi/campaign_life" "$claims" >s.lua
    run -2 campaign --runs 1
    grep -q '^# coverage: .* 0 of 12 claims arose; open: D.2.1, .*, R.address$' tap
    sed -i 's/"D.all"/&, "C.epoch"/' s.lua
    run -2 campaign --runs 1
    grep -q '^# coverage: .* 0 of 13 claims arose; open: C.epoch, .*, R.atomic, R.buffer, \.\.\.$' tap
}

@test "--until-failure stops at the first" {
    subject relapse '"relapse"'
    run -1 campaign --until-failure --replays 0 -j 1
    [ "$(of .verdicts.violation)" = 1 ]
    grep -q '^# not complete: stopped at the first failure' tap
}

# Its first plan kills two ranks of a protocol that promises to survive one.
@test "--until-failure goes on over what cannot be judged" {
    run -1 "$FAULTLINE" campaign --engine step --seed 2 --until-failure --replays 0 --runs 100 \
        --filter camel-order-ignored "$REPO/suites/campaign/broken.lua"
    echo "$output"
    [ "$(of '[.groups[] | select(.verdict == "violation")] | length')" -ge 1 ]
}

@test "--until-failure holds for what is resumed, too" {
    subject relapse '"relapse"'
    run campaign --until-failure --budget 0.001s -j 1
    [ "$(of .verdicts.violation)" = 0 ]
    run -1 "$FAULTLINE" campaign -j 1 --resume "$(readlink -f faultline-out/latest)" --budget 1h --replays 0
    [ "$(of .verdicts.violation)" = 1 ]
}

@test "subjects that differ in arguments or environment alone are told apart" {
    subject one '"right", "a b"'
    subject two '"right", "c"'
    subject three '"right", "c"' 'environment = { LEVEL = 3 }'
    campaign --runs 3
    grep -q "^# [^ ]*/campaign_life right 'a b' under null, 2 ranks: " tap
    grep -q '^# [^ ]*/campaign_life right c under null, 2 ranks: ' tap
    grep -q '^# LEVEL=3 [^ ]*/campaign_life right c under null, 2 ranks: ' tap
}

@test "a run without faults that the user cuts off has neither passed nor failed" {
    # The reference finishes, and the survey does not.
    printf '#!/bin/sh\ncase $FAULTLINE_RUN in */survey/*) exec %s spin ;; esac\nexec %s ok\n' \
        "$LIFE" "$LIFE" >turns
    chmod +x turns
    LIFE=$PWD/turns scenario lives '' 'timeout = 3600'
    env --default-signal=INT "$FAULTLINE" campaign s.lua >tap &
    DRIVER=$!
    wait_until test -s faultline-out/latest/survey/1/store/pid.0
    kill -INT "$DRIVER"
    status=0
    wait "$DRIVER" || status=$?
    [ "$status" = 130 ]
    grep -q '^# .*: not complete: .*(nothing: the user cut off its run without faults)' tap
    grep -q 'no plan was run: the user ended the campaign' tap
    run ! grep 'did not finish' tap
}

@test "a program that fails without any fault is a failure, and nothing to aim at" {
    scenario broken '"exit", "3"'
    run -1 campaign
    grep -q 'runs: "1, the first without any fault"' tap
    grep -q '1 of 1 subjects did not finish without faults' tap
    [ "$(of .complete)" = false ]
}

@test "a run of which not all took place is counted apart, and is no failure" {
    subject shy "\"shy\", \"$PWD/seen\""
    campaign
    [ "$(of .verdicts.vacuous)" -gt 0 ]
    [ "$(of '.groups | length')" = 0 ]
    grep -q '^ok .* no failure' tap
}

@test "no run without faults is begun after the budget, and --resume makes those that are missing" {
    local word
    for word in right one two; do subject "$word" '"right", "'$word'"'; done
    run -2 campaign -j 1 --budget 0.001s --runs 1
    [ "$(ls faultline-out/latest/survey)" = 1 ]
    grep -q 'spent on the runs without faults of 1 of 3 subjects: no plan was run' tap
    # The budget stays where another number of runs is asked for.
    run -2 "$FAULTLINE" campaign -j 2 --resume "$(readlink -f faultline-out/latest)" --runs 2
    [ "$(of '"\(.asked.runs) \(.asked.budget_s) \(.runs)"')" = "2 0.001 0" ]
    "$FAULTLINE" campaign -j 2 --resume "$(readlink -f faultline-out/latest)" --budget 1h --runs 3 >tap
    [ "$(numbers)" = "$(seq 3)" ]
    [ "$(of '[.subjects[] | select(.surveyed)] | length')" = 3 ]
}

# Above a rank: the process of its run, whose parent is the campaign.
job_of() {
    local pid=$1 parent
    while parent=$(awk '{ print $4 }' "/proc/$pid/stat") && [ "$parent" != "$DRIVER" ]; do
        pid=$parent
    done
    echo "$pid"
}

@test "a run that somebody else ends is made again" {
    local life=$BUILD/tests/mpi/driver_life
    printf '#!/bin/sh\ncase $FAULTLINE_RUN in */reference/* | */survey/* | */canary*) exec %s ok ;; esac
[ -e "%s/ended" ] && exec %s ok\nexec %s spin\n' "$life" "$PWD" "$life" "$life" >tool
    chmod +x tool
    echo 'scenario "ended" { protocol = "null", program = "./tool", ranks = 2, claims = { "H" } }' >s.lua
    "$FAULTLINE" campaign -j 1 --strategy random --runs 1 s.lua >tap 2>err 3>&- &
    DRIVER=$!
    wait_until test -s faultline-out/latest/1/store/pid.0 -a -s faultline-out/latest/1/store/pid.1
    touch ended
    kill -TERM "$(job_of "$(cat faultline-out/latest/1/store/pid.0)")"
    wait "$DRIVER" || true
    [ "$(of .runs)" = 1 ]
    [ "$(of .verdicts.unknown)" = 0 ]
    [ "$(jq -r 'select(.kind == "run") | "\(.number) \(.index)"' faultline-out/latest/campaign.jsonl)" = "2 0" ]
}

@test "--budget ends it, and --resume goes on to the end" {
    subject right '"right"'
    run -2 campaign --budget 0.001s
    grep -q 'no plan was run: the budget was spent on the runs without faults' tap
    grep -q '^# not complete: the budget of 0.001 s was spent on the runs without faults of 1 of 1 subjects: no plan was run' tap
    "$FAULTLINE" campaign -j 2 --resume "$(readlink -f faultline-out/latest)" --budget 1h >tap
    [ "$(of .complete)" = true ]
    [ "$(numbers)" = "$(seq "$(of .runs)")" ]
}

@test "killed in the middle, a line torn: nothing finished is lost, and it goes on" {
    subject right '"right"'
    "$FAULTLINE" campaign --strategy systematic s.lua >tap &
    DRIVER=$!
    wait_until some_are_done
    kill -9 "$DRIVER"
    wait "$DRIVER" || true
    local folder before
    folder=$(readlink -f faultline-out/latest)
    before=$(numbers | wc -l)
    [ "$(of .going)" = true ]
    [ "$(of ".seconds <= $SECONDS + 1")" = true ] # since the campaign began, not the machine
    printf '{"kind":"run","number":9' >>"$folder/campaign.jsonl"
    head -n "$before" "$folder/campaign.jsonl" >before
    "$FAULTLINE" campaign -j 2 --resume "$folder" >tap
    grep -q "^# goes on after $before runs" tap
    [ "$(of .complete)" = true ]
    [ "$(numbers)" = "$(seq "$(of .runs)")" ]
    head -n "$before" "$folder/campaign.jsonl" | cmp - before
}

@test "Ctrl-C: what was found is told, and it goes on later" {
    subject right '"right"'
    # In a script a command in the background ignores SIGINT, unless it is told to.
    env --default-signal=INT "$FAULTLINE" campaign --strategy systematic s.lua >tap &
    DRIVER=$!
    wait_until some_are_done
    kill -INT "$DRIVER"
    status=0
    wait "$DRIVER" || status=$?
    [ "$status" = 130 ]
    grep -q '^Bail out! not complete: interrupted by SIGINT' tap
    [ "$(of .going)" = false ]
    "$FAULTLINE" campaign -j 2 --resume faultline-out/latest >tap
    [ "$(of .complete)" = true ]
}

# The plans in the journal, in order: number of the subject, index of the plan.
plans() {
    jq -r 'select(.kind == "run") | "\(.subject) \(.index)"' faultline-out/latest/campaign.jsonl |
        sort -k 1n -k 2n
}

# launcher_without WORD: a launcher in FAULTLINE_MPIEXEC that fails where a job has this argument, as
# long as the file broken exists.
launcher_without() {
    printf '#!/bin/sh\ncase "$* " in *" %s "*) [ ! -e "%s/broken" ] || exit 9 ;; esac\nexec mpiexec "$@"\n' \
        "$1" "$PWD" >launcher
    chmod +x launcher
    touch broken
    export FAULTLINE_MPIEXEC=$PWD/launcher
}

@test "a survey that failed and then succeeds: every plan is made, and none twice" {
    subject first '"right", "first"'
    subject second '"right", "second"'
    launcher_without first
    run -3 campaign --runs 3
    [ "$(plans)" = $'2 0\n2 1\n2 2' ]
    rm broken
    "$FAULTLINE" campaign -j 2 --resume "$(readlink -f faultline-out/latest)" --runs 8 >tap
    [ "$(plans)" = $'1 0\n1 1\n1 2\n1 3\n2 0\n2 1\n2 2\n2 3' ]
    [ "$(numbers)" = "$(seq 8)" ]
    [ "$(of '.groups | length')" = 0 ] # the launcher's failure is no finding any more
}

# As a version left it that took the number of a run for its plan.
@test "a journal in which a plan stands twice is gone on with: it counts once, and the others are made" {
    subject right '"right"'
    campaign --runs 3
    local folder
    folder=$(readlink -f faultline-out/latest)
    sed -i '/"kind":"run"/s/"index":1,/"index":0,/' "$folder/campaign.jsonl"
    "$FAULTLINE" campaign -j 2 --resume "$folder" --runs 5 >tap
    grep -q "^# goes on after 2 runs" tap
    [ "$(of .runs)" = 5 ]
    [ "$(plans)" = $'1 0\n1 0\n1 1\n1 2\n1 3\n1 4' ]
    [ "$(numbers)" = "$(seq 6)" ]
}

@test "a run of a number that no campaign comes to is no line of a journal" {
    subject right '"right"'
    campaign --runs 1
    sed -i '/"kind":"run"/s/"index":0/"index":1000000000000/' faultline-out/latest/campaign.jsonl
    run -64 "$FAULTLINE" campaign --resume faultline-out/latest
    [[ $output == *'campaign.jsonl:2: field "index" is 1000000000000; accepted: 0 to '* ]]
}

@test "a survey that is gone, of which plans were made, ends it: another one would number them anew" {
    subject right '"right"'
    campaign --runs 2
    rm faultline-out/latest/survey/1/run.json
    run -64 "$FAULTLINE" campaign --resume faultline-out/latest
    [[ $output == *'survey/1'*'2 runs'* ]]
    [ "$(numbers | wc -l)" = 2 ]
}

@test "a folder of another version, of other scenarios, or damaged is not gone on with" {
    subject plain '"right"'
    campaign --runs 1 --seed 7
    local folder
    folder=$(readlink -f faultline-out/latest)
    run -64 "$FAULTLINE" campaign --resume "$folder" --seed 8
    [[ $output == *'has the seed 7'* ]]
    run -64 "$FAULTLINE" campaign --resume "$folder" --strategy random
    [[ $output == *'has the strategy systematic'* ]]
    sed -i 's/"right"/"right", "other"/' s.lua
    run -64 "$FAULTLINE" campaign --resume "$folder"
    [[ $output == *'these are other scenarios'* ]]
    sed -i 's/"right", "other"/"right"/; s/claims = /restart = { arguments = {} }, &/' s.lua
    run -64 "$FAULTLINE" campaign --resume "$folder"
    [[ $output == *'these are other scenarios'* ]]
    sed -i 's/restart = [^,]*, //' s.lua
    cp "$folder/campaign.jsonl" journal
    sed -i '1s/"verdict":"pass"/"verdict":"fine"/' "$folder/campaign.jsonl"
    run -64 "$FAULTLINE" campaign --resume "$folder"
    [[ $output == *'campaign.jsonl:1: '*verdict* ]]
    cp journal "$folder/campaign.jsonl"
    sed -i 's/"faultline": "[^"]*"/"faultline": "0.0"/' "$folder/campaign.json"
    run -64 "$FAULTLINE" campaign --resume "$folder"
    [[ $output == *'of Faultline 0.0'* ]]
    run -64 "$FAULTLINE" campaign --resume nowhere
    [[ $output == *'there is no campaign.json'* ]]
}

@test "a campaign that is going on is not gone on with by another" {
    subject right '"right"'
    campaign --runs 1
    exec 9>>faultline-out/latest/campaign.jsonl
    flock 9
    run -64 "$FAULTLINE" campaign --resume faultline-out/latest 9>&-
    [[ $output == *'is going on already'* ]]
    exec 9>&-
}

@test "a green canary: status 3, and no run is made" {
    mkdir protocols
    cp "$BUILD/protocols/libnull.so" protocols/libnull.so
    cp "$BUILD/protocols/libnull.so" protocols/libmine.so
    printf 'scenario "canary" { protocol = "mine", program = "%s", ranks = 2,
        claims = { "H" }, expect = { violates = "H.orphan" } }\n' \
        "$BUILD/tests/mpi/campaign_life" >protocols/mine.canary.lua
    PROTOCOL=mine subject right '"right"'
    FAULTLINE_PROTOCOLS=$PWD/protocols run -3 campaign
    grep -q '^not ok 1 - canary' tap
    grep -q 'made to violate H.orphan, and did not do so' tap
    [ "$(of .runs)" = 0 ]
    [ "$(of '.canaries[0].found')" = false ]
}

@test "a canary that expects nothing is refused" {
    mkdir protocols
    cp "$BUILD/protocols/libnull.so" protocols/libnull.so
    cp "$BUILD/protocols/libnull.so" protocols/libmine.so
    printf 'scenario "canary" { protocol = "mine", program = "ring", ranks = 2, claims = { "H" } }\n' \
        >protocols/mine.canary.lua
    PROTOCOL=mine subject right '"right"'
    FAULTLINE_PROTOCOLS=$PWD/protocols run -64 campaign
    [[ $output == *'a canary is one scenario that expects a violation'* ]]
}

@test "options that make no sense: status 64, and what is accepted" {
    subject right '"right"'
    run -64 "$FAULTLINE" campaign --budget 0 s.lua
    [[ $output == *'"0" is not a time above 0'*'5m'* ]]
    run -64 "$FAULTLINE" campaign --budget 5days s.lua
    [[ $output == *'"5days" is not a time'* ]]
    run -64 "$FAULTLINE" campaign --runs 0 s.lua
    [[ $output == *'"0" is not a whole number from 1'* ]]
    run -64 "$FAULTLINE" campaign --strategy randm s.lua
    [[ $output == *'did you mean "random"'*'accepted: random, systematic'* ]]
    run -64 "$FAULTLINE" campaign --replays -1 s.lua
    run -64 "$FAULTLINE" campaign --filter nothing s.lua
    [[ $output == *'no scenario that matches the filter'* ]]
    run -64 "$FAULTLINE" campaign
    [ ! -e faultline-out ]
}

# A file system of its own that a filler makes full, where this process may make one.
@test "a full disk in the middle: status 3, said, and --resume goes on when there is room" {
    unshare -rm true 2>/dev/null || skip "no namespaces for users and mounts here"
    subject right '"right"'
    mkdir disk
    cat >session.sh <<'END'
set -u
mount -t tmpfs -o size=48m tmpfs disk || exit 77
"$1" campaign --strategy systematic --out disk/out s.lua >tap 2>err &
driver=$!
for ((i = 0; i < 3000; i++)); do
    [ "$(grep -c '"kind":"run"' disk/out/latest/campaign.jsonl 2>/dev/null)" -ge 2 ] && break
    sleep 0.02
done
# Runs that end make room again, so it fills the disk until the campaign has ended.
while kill -0 $driver 2>/dev/null; do
    cat /dev/zero 2>/dev/null >>disk/filler
    sleep 0.01
done
wait $driver
echo $? >status
grep -c '"kind":"run"' disk/out/latest/campaign.jsonl >before
rm disk/filler
"$1" campaign --resume disk/out/latest >tap.resumed 2>>err
echo $? >status.resumed
cp disk/out/latest/campaign.json disk/out/latest/campaign.jsonl .
END
    run unshare -rm bash session.sh "$FAULTLINE"
    [ "$status" != 77 ] || skip "no file system of its own can be mounted here"
    cat err
    [ "$(cat status)" = 3 ]
    grep -q 'Bail out! not complete: .*\(full\|No space left\)' tap
    [ "$(cat status.resumed)" = 0 ]
    [ "$(jq .complete campaign.json)" = true ]
    [ "$(jq -r 'select(.kind == "run").number' campaign.jsonl | sort -n)" = \
        "$(seq "$(jq .runs campaign.json)")" ]
    [ "$(jq '.verdicts."harness-error"' campaign.json)" = 0 ]
}

@test "a strategy of schedules is the step engine's, and says how it decides" {
    printf 'scenario "ring" { protocol = "null", program = "ring", ranks = 2, claims = { "H" },
  arguments = { "--iterations", 4 } }\n' >s.lua
    run "$FAULTLINE" campaign --strategy pct --runs 2 s.lua
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *'--strategy pct says how the step engine decides: give --engine step'* ]]
    for strategy in random pct swarm skewed bursts; do
        "$FAULTLINE" campaign --engine step --keep --strategy "$strategy" --runs 1 --out "$strategy" s.lua || true
    done
    choices() { cat "$1"/latest/1/choices.0; }
    [ -s random/latest/1/choices.0 ]
    # The same plan and seed: other choices.
    cmp random/latest/1/plan pct/latest/1/plan
    [ "$(choices random)" != "$(choices pct)" ]
    [ "$(choices random)" != "$(choices swarm)" ]
    [ "$(choices pct)" != "$(choices swarm)" ]
    [ "$(choices random)" != "$(choices skewed)" ]
    [ "$(choices random)" != "$(choices bursts)" ]
    [ "$(choices skewed)" != "$(choices bursts)" ]
    # A scenario may say it by itself.
    sed 's/claims =/policy = "skewed", claims =/' s.lua >t.lua
    "$FAULTLINE" campaign --engine step --keep --strategy random --runs 1 --out said t.lua || true
    [ "$(choices said)" = "$(choices skewed)" ]
    # The one that finds most is pct there, and random where the MPI library decides.
    "$FAULTLINE" campaign --engine step --keep --strategy auto --runs 1 --out auto s.lua || true
    [ "$(choices pct)" = "$(choices auto)" ]
    run "$FAULTLINE" campaign --strategy auto --runs 1 --out elsewhere s.lua
    echo "$output"
    [ "$status" -ne 64 ]
    [[ "$output" == *'strategy auto'* ]]
    FAULTLINE_ENGINE_POLICY=walk run "$FAULTLINE" run --engine step s.lua
    echo "$output"
    [ "$status" -ne 0 ]
    [[ "$output" == *'accepted: random, swarm, skewed, bursts, pct:DEPTH:STEPS'* ]]
}

# guided OUT OPTION...: a guided campaign, into OUT.
guided() {
    local status=0
    "$FAULTLINE" campaign --engine step --strategy guided --seed 3 --replays 0 --out "$@" >tap || status=$?
    [ "$status" -le 2 ]
}

# How each run of the campaign in this folder was made, and what it came to.
made() {
    jq -c 'select(.kind == "run") | [.index, .plan, .root, .other, .branches, .verdict, .arose, .situations, .choices]' \
        "$1/latest/campaign.jsonl" | sort
}

@test "a guided campaign makes the same runs however many at once, and after it went on" {
    two_orders
    guided one -j 1 --runs 50 two.lua
    made one >one.runs
    [ "$(wc -l <one.runs)" -eq 50 ]
    # Some come from others: with another end, with another fault.
    [ -n "$(jq 'select(.[4] != "")' one.runs)" ]
    [ -n "$(jq 'select(.[2] != .[3])' one.runs)" ]
    guided many -j 4 --runs 50 two.lua
    diff one.runs <(made many)
    guided twice -j 2 --runs 30 two.lua
    "$FAULTLINE" campaign --resume twice/latest --runs 50 >tap || [ $? -le 2 ]
    diff one.runs <(made twice)
    run -64 "$FAULTLINE" campaign --strategy guided two.lua
    [[ $output == *'--strategy guided says how the step engine decides: give --engine step'* ]]
}

@test "a run that branches off decides as the one that it comes from up to there" {
    local folder own number branches
    two_orders
    guided kept -j 2 --runs 50 --keep two.lua
    # One branch, in the first incarnation, and the plan of the run that it comes from.
    read -r folder own number branches < <(jq -r 'select(.kind == "run" and .root == .other) |
        select(.branches | test("^\\+0\\.[1-9][0-9]*:[0-9a-f]+$")) | [.folder, .root, .index, .branches] | @tsv' \
        kept/latest/campaign.jsonl)
    echo "run $number, in $folder, comes from $own and has $branches"
    local from choice=${branches#+0.}
    choice=${choice%:*}
    from=$(jq -r "select(.kind == \"run\" and .index == $own).folder" kept/latest/campaign.jsonl)
    cmp "kept/latest/$from/plan" "kept/latest/$folder/plan"
    diff <(head -n "$choice" "kept/latest/$from/choices.0") <(head -n "$choice" "kept/latest/$folder/choices.0")
    run cmp "kept/latest/$from/choices.0" "kept/latest/$folder/choices.0"
    [ "$status" -eq 1 ]
}

@test "shards of a guided campaign are guided by their own runs, and are put together" {
    two_orders
    guided a -j 2 --runs 60 --shard 1/2 two.lua
    guided b -j 2 --runs 60 --shard 2/2 two.lua
    "$FAULTLINE" campaign --merge a/latest b/latest --out whole >tap || [ $? -le 2 ]
    [ "$(made whole | jq '.[0]' | sort -n)" = "$(seq 0 59)" ]
    [ -n "$(jq 'select(.kind == "run" and .root != .index)' a/latest/campaign.jsonl)" ]
    # What a shard's run comes from is a run of that shard.
    [ -z "$(jq 'select(.kind == "run" and .root % 2 == 1)' a/latest/campaign.jsonl)" ]
    [ -z "$(jq 'select(.kind == "run" and .root % 2 == 0)' b/latest/campaign.jsonl)" ]
}
