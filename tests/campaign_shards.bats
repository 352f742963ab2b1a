#!/usr/bin/env bats
# faultline campaign --shard and --merge: the shards of a campaign make its runs, each one of them
# once; what cannot be put together is refused.

bats_require_minimum_version 1.5.0
load driver_common

# subject HOW: appends a scenario over campaign_life to s.lua.
subject() {
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = 2, arguments = { "%s" },
  claims = { "H" } }\n' "$1" "$BUILD/tests/mpi/campaign_life" "$1" >>s.lua
}

# shard I/N OPTION...: TAP in tap; the folder in shard-I.
shard() {
    local share=$1
    shift
    ln -sfn "out-${share%/*}/latest" "shard-${share%/*}"
    "$FAULTLINE" campaign --engine step --shard "$share" --out "out-${share%/*}" "$@" s.lua >tap
}

# runs FOLDER: the runs in its journal, in order.
runs() {
    jq -r 'select(.kind == "run") | "\(.subject) \(.index) \(.plan) \(.verdict) \(.fingerprint)"' \
        "$1/campaign.jsonl" | sort -k 1n -k 2n
}

# refused WORDS FOLDER...: --merge of them is wrong use, says the words, and leaves no folder.
refused() {
    local words=$1
    shift
    run -64 "$FAULTLINE" campaign --merge --out merged "$@"
    [[ "$output" == *"$words"* ]] || { echo "$output" && return 1; }
    [ ! -e merged ]
}

@test "three shards make the runs that one campaign makes, with the same groups, and are merged" {
    subject right
    subject relapse
    run -0 shard 1/3 --runs 20
    run -1 shard 2/3 --runs 20
    grep -q '^# campaign in .*, shard 2/3$' tap
    run -1 shard 3/3 --runs 20
    # Each of them one's own: what is doubled would be left out in the end.
    [ "$(cat shard-[123]/campaign.jsonl | grep -c '"kind":"run"')" = 20 ]
    run -1 "$FAULTLINE" campaign --engine step --runs 20 --replays 0 --out whole s.lua
    run -1 "$FAULTLINE" campaign --merge --replays 1 --out merged shard-2 shard-1 shard-3
    echo "$output" >tap
    diff <(runs merged/latest) <(runs whole/latest)
    [ "$(jq -r 'select(.kind == "run").number' merged/latest/campaign.jsonl)" = "$(seq 20)" ]
    local of='.runs, .verdicts, .complete, .why, ([.groups[] | [.fingerprint, .count]] | sort)'
    diff <(jq "$of" merged/latest/campaign.json) <(jq "$of" whole/latest/campaign.json)
    [ -s merged/latest/index.html ]
    # What is shown is where the page and the replays say.
    local first
    first=merged/latest/$(jq -r '.groups[0].folder' merged/latest/campaign.json)
    [ -s "$first/report.html" ]
    grep -qF "repro: \"faultline replay $(dirname "$(readlink -f merged/latest)" | xargs basename)/" tap
    grep -q '  mpiexec: ' tap # its replays
    # It goes on as any other, without a second time for what the shards have done.
    run -1 "$FAULTLINE" campaign --resume merged/latest --runs 24 --replays 0
    [ "$(runs merged/latest | cut -d ' ' -f 1,2 | uniq | wc -l)" = 24 ]
}

@test "systematic: complete is said of all shards together, and not of one" {
    subject right
    shard 1/2 --strategy systematic
    grep -q '^# complete as shard 1 of 2: ' tap
    [ "$(jq .complete shard-1/campaign.json)" = false ]
    shard 2/2 --strategy systematic --surveys shard-1
    [ -h shard-2/survey ]
    "$FAULTLINE" campaign --merge --out merged shard-1 shard-2 >tap
    grep -q '^# complete: ' tap
    [ "$(jq .runs merged/latest/campaign.json)" = "$(jq '.subjects[0].plans' merged/latest/campaign.json)" ]
}

@test "systematic: shards whose runs without faults differ have other plans, and are not merged" {
    subject right
    shard 1/2 --strategy systematic
    shard 2/2 --strategy systematic
    # As if the program had done something else there.
    echo 'scenario "s" { protocol = "null", program = "ring", ranks = 2, claims = { "H" } }' >other.lua
    run -2 "$FAULTLINE" campaign --engine step --strategy systematic --budget 0.001s --out other other.lua
    rm -r shard-2/survey
    cp -R other/latest/survey shard-2/survey
    run -64 "$FAULTLINE" campaign --merge --out merged shard-1 shard-2
    [[ "$output" == *'runs without faults of subject 1 came out differently'*'--surveys'* ]]
}

@test "systematic: a merged campaign is complete only if each of its shards is" {
    local order
    subject right
    shard 1/2 --strategy systematic --runs 2
    shard 2/2 --strategy systematic --runs 2 --surveys shard-1
    # Shard 1 went as far as its budget.
    sed -i 's/"end": *"runs"/"end": "budget"/' shard-1/campaign.json
    grep -q '"budget"' shard-1/campaign.json
    for order in 'shard-1 shard-2' 'shard-2 shard-1'; do
        # shellcheck disable=SC2086 # two folders
        "$FAULTLINE" campaign --merge --out merged $order >tap || [ $? -eq 2 ]
        grep -q '^# not complete: the budget' tap
        [ "$(jq -r .end merged/latest/campaign.json)" = budget ]
    done
}

@test "a shard that is cut off goes on as that shard, and replays nothing" {
    subject relapse
    run -1 shard 2/2 --runs 8
    sed -i '/"kind":"run"/{3,$d}' shard-2/campaign.jsonl
    run -1 "$FAULTLINE" campaign --resume shard-2
    grep -q 'shard 2/2$' <<<"$output"
    [ "$(jq '[.groups[] | (.replays.asked // 0) > 0] | unique' -c shard-2/campaign.json)" = '[false]' ]
    [ "$(runs shard-2 | cut -d ' ' -f 2)" = $'1\n3\n5\n7' ]
    run -64 "$FAULTLINE" campaign --resume shard-2 --shard 1/2
    [[ "$output" == *'--shard 1/2: the campaign that is resumed is shard 2/2'* ]]
}

@test "shards that are missing, named twice, cut off, or of other campaigns are not merged" {
    subject right
    shard 1/3 --strategy systematic --runs 3
    shard 2/3 --strategy systematic --runs 3
    refused '--merge: 1 of 3 shards is missing: 3/3' shard-1 shard-2
    refused '--merge: shard-1 and shard-1 are both shard 1/3' shard-1 shard-2 shard-1
    "$FAULTLINE" campaign --engine step --strategy systematic --runs 1 --out whole s.lua >tap
    refused '--merge whole/latest: is no shard' whole/latest
    refused 'nowhere: there is no campaign.json' nowhere
    shard 3/3 --strategy systematic --runs 3 --seed 7
    refused 'shard-1 and shard-3 are of different campaigns: they differ in "seed"' shard-1 shard-2 shard-3
    shard 3/3 --strategy systematic --runs 4
    refused 'they differ in "runs"' shard-1 shard-2 shard-3
    shard 3/4 --strategy systematic --runs 3
    refused 'they differ in "shard"' shard-1 shard-2 shard-3
    : >s.lua
    subject relapse
    run shard 3/3 --strategy systematic --runs 3
    refused 'they differ in "scenarios"' shard-1 shard-2 shard-3
    : >s.lua
    subject right
    shard 3/3 --strategy systematic --runs 3
    sed -i 's/"end": "runs"/"end": "interrupted"/' shard-3/campaign.json
    refused 'shard 3/3 did not come to its end (interrupted); to go on with it: faultline campaign --resume shard-3' \
        shard-1 shard-2 shard-3
    "$FAULTLINE" campaign --resume shard-3 >tap
    "$FAULTLINE" campaign --merge shard-1 shard-2 shard-3 >tap
}

@test "wrong numbers of shards, and options that do not go together" {
    subject right
    local share
    for share in 0/3 4/3 -1/3 1 1/ 1/3x 2/20000; do
        run -64 "$FAULTLINE" campaign --shard "$share" s.lua
        [[ "$output" == *"--shard: \"$share\" is not I/N with I from 1 to N, and N at most 10000"* ]]
    done
    run -64 "$FAULTLINE" campaign --merge --shard 1/2 s.lua
    [[ "$output" == *'without --shard'* ]]
    run -64 "$FAULTLINE" campaign --surveys whole s.lua
    [[ "$output" == *'--surveys is for --shard'* ]]
    run -64 "$FAULTLINE" campaign --shard 1/2 --surveys nowhere s.lua
    [[ "$output" == *'nowhere: there is no campaign.json'* ]]
    run -64 "$FAULTLINE" campaign --tasks 2 s.lua
    [[ "$output" == *'--tasks is for --slurm'* ]]
    run -64 "$FAULTLINE" campaign --slurm --shard 1/2 s.lua
    [[ "$output" == *'without --shard'* ]]
    [ ! -e faultline-out ]
}

@test "--slurm where there is no Slurm says what is missing, and begins nothing" {
    subject right
    mkdir path
    ln -s /bin/true path/sbatch
    PATH=$PWD/path run -64 "$FAULTLINE" campaign --slurm s.lua
    echo "$output"
    [[ "$output" == *'there is no command squeue here, which is Slurm'*'slurm-client'* ]]
    [ ! -e faultline-out ]
}

# The commands of a Slurm that has one node: tasks are made here, one after the other.
make_slurm() {
    mkdir path
    cat >path/sbatch <<'END'
#!/bin/sh
for word; do
    case $word in
        --array=1-*) tasks=${word#--array=1-} ;;
        --*) ;;
        *) break ;;
    esac
    shift
done
echo "sbatch: the partition is chosen for you" >&2
echo "sbatch: the account is chosen for you" >&2
(for task in $(seq "$tasks"); do SLURM_ARRAY_TASK_ID=$task sh "$@"; done; touch over) >/dev/null 2>&1 &
echo 7
END
    printf '#!/bin/sh\n[ -e over ] || echo RUNNING\n' >path/squeue
    printf '#!/bin/sh\ntrue\n' | tee path/scontrol >path/scancel
    chmod +x path/*
}

@test "--slurm: the number of the job comes after warnings, however many" {
    subject right
    make_slurm
    PATH=$PWD/path:$PATH "$FAULTLINE" campaign --engine step --slurm --tasks 2 --runs 4 s.lua >tap
    grep -q '^# job 7 of Slurm, 2 tasks' tap
    [ "$(runs faultline-out/latest | wc -l)" -eq 4 ]
}

@test "a launcher does not see the job of a batch system: it would have that start the ranks" {
    subject right
    printf '#!/bin/sh\nenv >>"%s/seen"\nexec mpiexec.hydra "$@"\n' "$PWD" >launcher
    chmod +x launcher
    export FAULTLINE_MPIEXEC=$PWD/launcher SLURM_NODELIST=elsewhere SLURM_JOB_ID=1 PBS_NODEFILE=/none
    "$FAULTLINE" run s.lua >tap
    [ -s seen ]
    run -1 grep -E '^(SLURM|PBS)_' seen
}
