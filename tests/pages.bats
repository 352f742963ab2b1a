#!/usr/bin/env bats
# The pages as a person meets them: in a browser, in light and dark, by mouse and by keyboard, with
# and without script and style. PAGES_SHOTS=FOLDER leaves pictures of them there.

bats_require_minimum_version 1.5.0

load driver_common

# Runs made of traces written by hand: always the same, and no MPI is needed.
setup_file() {
    local repo build
    repo=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    build=${BUILD:-$repo/build}
    case $build in /*) ;; *) build=$repo/$build ;; esac
    cd "$BATS_FILE_TMPDIR" || return 1
    export PAGES_MODULES=$build/pages
    [ -d "$PAGES_MODULES/node_modules" ] || {
        echo "no $PAGES_MODULES/node_modules: scripts/setup.sh test $build" >&2
        return 1
    }
    make_run() { "$build/tests/pages/make_run" "$repo/$1" "out/$2" "$3" "$4"; }
    make_run oracles/golden/c_late_replay_near.txt 20260101-000000-1/1 1 "a late message, replayed"
    make_run oracles/golden/c_whole.txt 20260102-000000-1/1 1 "a late message, replayed"
    make_run oracles/golden/c_late_replay_again.txt 20260102-000000-1/2 2 "replayed twice"
    make_run oracles/golden/h_progress_cycle.txt 20260102-000000-1/3 3 "a ring that waits"
    make_run tests/pages/hostile.txt 20260102-000000-1/4 4 "<img src=x onerror=alert(3)>"
    cp "$repo/tests/pages/stacks.txt" out/20260102-000000-1/3/
    cp "$repo/tests/pages/stacks_kept.txt" out/20260102-000000-1/2/stacks.txt
    cp "$repo/tests/pages/stacks_hostile.txt" out/20260102-000000-1/4/stacks.txt
}

setup() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    FAULTLINE=$BUILD/faultline
    cd "$BATS_FILE_TMPDIR" || return 1
    RUNS=out/20260102-000000-1
}

# in_browser TEST ARGUMENT... [, TEST ARGUMENT...]...: see tests/pages/tests.mjs. The limit is only there
# for a browser that hangs. What did not pass is kept: prove does not show it.
in_browser() {
    local kept=$PAGES_MODULES/failed-$BATS_TEST_NUMBER-$1.tap
    rm -f "$kept"
    run timeout 600 node "$REPO/tests/pages/tests.mjs" "$@"
    echo "$output"
    [ "$status" -eq 0 ] || {
        printf '%s\nexit status %s\n' "$output" "$status" >"$kept"
        return 1
    }
}

# Golden pages, of tests/pages/golden.mjs.
GOLDEN=$BATS_TEST_DIRNAME/pages/golden

@test "an output folder: the newest runs, groups, coverage, and the runs before" {
    "$FAULTLINE" report "$RUNS/2"
    run "$FAULTLINE" report out
    [ "$status" -eq 0 ]
    [ "$output" = out/index.html ]
    in_browser look index out/index.html "What did not pass" "C.late.replay other recovery" \
        "C.cell: 6 of 6 cells seen" "a ring that waits" "20260101-000000-1" \
        , index out/index.html \
        , golden index out/index.html "$GOLDEN/index.txt"
}

@test "a folder of runs alone; --output; a folder that holds no runs" {
    run "$FAULTLINE" report "$RUNS" --output here.html
    [ "$status" -eq 0 ]
    [ "$output" = here.html ]
    grep -q "a late message, replayed" here.html
    run ! grep -q "How the runs before went" here.html
    mkdir -p empty
    run "$FAULTLINE" report empty
    [ "$status" -eq 64 ]
    [[ "$output" == *"empty: "*"no runs"* ]]
    [ ! -e empty/index.html ]
}

@test "files that are damaged or missing are left out of an index, and it says so" {
    mkdir -p damaged/20260103-000000-1
    cp -r "$RUNS/1" "$RUNS/2" damaged/20260103-000000-1/
    echo '{' >damaged/20260103-000000-1/1/verdict.json
    rm damaged/20260103-000000-1/2/run.json
    "$FAULTLINE" report damaged
    grep -q "1 file could not be read" damaged/index.html
    grep -q "not judged" damaged/index.html
    grep -q "C.late.replay" damaged/index.html
}

@test "the page of a violation: its witness is in sight, and leads to its events" {
    "$FAULTLINE" report "$RUNS/2"
    in_browser look violation "$RUNS/2/report.html" "violation: replayed twice" "C.late.replay" \
        "rank 1 took m(0→1, tag 7) from its log of line 1" "faultline" "r1#1:e4" \
        "r1#0, when it was killed" "take_line at c3.c:118" "replay_late at c3.c:240" \
        , run "$RUNS/2/report.html" \
        , golden violation "$RUNS/2/report.html" "$GOLDEN/violation.txt"
}

@test "the page of a hang: who waits for whom, and where" {
    "$FAULTLINE" report "$RUNS/3"
    in_browser look hang "$RUNS/3/report.html" "violation: a ring that waits" "Who waits for whom" \
        "rank 0 waits in MPI_Recv for a message from rank 1, tag 7" "exchange at ring.c:42" \
        , run "$RUNS/3/report.html" \
        , golden hang "$RUNS/3/report.html" "$GOLDEN/hang.txt"
}

@test "the page of a run that passed" {
    "$FAULTLINE" report "$RUNS/1"
    in_browser look pass "$RUNS/1/report.html" "pass: a late message, replayed" "faultline" "r1#0:e1" \
        , golden pass "$RUNS/1/report.html" "$GOLDEN/pass.txt"
}

@test "names that are no names change nothing" {
    "$FAULTLINE" report "$RUNS/4"
    "$FAULTLINE" report out
    in_browser look hostile "$RUNS/4/report.html" "<script>alert(1)</script>" \
        "</style><img src=x onerror=alert(2)>" "]]> & " "<img src=x onerror=alert(3)>" \
        "<script>alert(4)</script>" \
        , look hostile-index out/index.html "<img src=x onerror=alert(3)>"
}

@test "a campaign: what was asked for, bounds, canaries, groups with replays, coverage of runs" {
    local set=campaign/20260103-000000-1
    mkdir -p "$set"
    cp -r "$RUNS/2" "$set/7"
    rm -f "$set/7/report.html"
    cp "$REPO/tests/pages/campaign.json" "$REPO/tests/pages/campaign.jsonl" "$set/"
    "$FAULTLINE" report campaign
    [ -e "$set/7/report.html" ]
    in_browser look campaign campaign/index.html "budget of 60 s is spent" "31 runs" \
        "not complete: kills <= 1 over 412 points" "H.progress was found violated" \
        "the violation of B.empty was not found" "C.late.replay other recovery, 3 runs: 7" \
        "replayed 19 of 20 times the same (95 % interval 0.76 to 0.99)" "C.cell: 2 of 6 cells seen" \
        "1 line of the journal could not be read" \
        , history campaign/index.html \
        , golden campaign campaign/index.html "$GOLDEN/campaign.txt"
}

@test "keys, clicks, filters and zoom do what they say; printed, there is nothing to press" {
    "$FAULTLINE" report "$RUNS/4"
    in_browser keys "$RUNS/4/report.html"
}

@test "64 ranks and 100,000 events: a page of at most 5 MB" {
    mkdir -p large/1/trace
    "$BUILD/bench/make_trace" large/1/trace 64 100000
    cp "$REPO/tests/pages/large.json" large/1/verdict.json
    "$FAULTLINE" report large/1
    in_browser large large/1/report.html
}

@test "a run in prose for a mail: plain lines that fit, the witness marked" {
    run "$FAULTLINE" report --text "$RUNS/2"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = VIOLATION ]
    [[ "$output" == *"rank 1 took m(0→1, tag 7) from its log of line 1: r1#1:e4"* ]]
    [[ "$output" == *"*e4 replayed <0 t7"* ]]
    [[ "$output" == *"r1#1:e4  note replayed"* ]]
    run "$FAULTLINE" report --text "$RUNS/3"
    [[ "$output" == *"exchange at ring.c:42"* ]]
    run "$FAULTLINE" report --text "$RUNS/4"
    [[ "$output" != *$'\x1b'* ]]
    run "$FAULTLINE" report --text out
    [ "$status" -eq 64 ]
}

@test "columns: as wide as asked for; what they cannot be asked" {
    run "$FAULTLINE" trace "$RUNS/2" --format columns --width 80
    [ "$status" -eq 0 ]
    [[ "$output" == *"*e4 replayed <0 t7"* ]]
    [ -z "$(printf '%s\n' "$output" | sed '/^The witness/,$d' | grep -E '.{81}')" ]
    run "$FAULTLINE" trace "$RUNS/2" --width 80
    [ "$status" -eq 64 ]
    [[ "$output" == *"--format columns"* ]]
    run "$FAULTLINE" trace "$RUNS/2" --format colums
    [ "$status" -eq 64 ]
    [[ "$output" == *'did you mean "columns"'* ]]
    run "$FAULTLINE" trace "$RUNS/2" --format columns --rank 1 --limit 2
    [ "$status" -eq 0 ]
    [[ "$output" == *"the limit is 2 events"* ]]
}

@test "a run whose ranks live on: lives that begin and end, a death, who learns of it, a revocation" {
    cat >lives.lua <<'LUA'
scenario "rank 1 dies" {
  protocol = "respawn", program = "laplace", ranks = 4, engine = "step", survivors = true,
  arguments = { "--iterations", 3, "--size", 16 }, claims = { "H" },
  plan = function(p) p:kill { rank = 1, event = "call", level = "wire", nth = 24 } end,
}
LUA
    run "$FAULTLINE" run lives.lua --html=lives
    echo "$output"
    [ "$status" -eq 0 ]
    in_browser lives lives/1.html \
        , look lives lives/1.html "takes the dead one's rank over" "signal 9"
}

# A stranger reads the page of each, and knows what happened and what began it.
# promises PAGE NUMBER BEGAN MOMENT... [, TEST...]: of the last run of that number in the folder PAGE.
promises() {
    in_browser promises "$1" "$1/$2.html" "$1/out/latest/$2/run.json" "$REPO/GLOSSARY.md" "${@:3}"
}

@test "a deadlock after a failed rename" {
    mkdir -p rename
    cat >rename/s.lua <<LUA
scenario "the rename of a checkpoint fails" {
  protocol = "null", program = "$BUILD/tests/mpi/saves_carelessly", ranks = 4, claims = { "H" },
  plan = function(p)
    p:hold { from = 0, to = 1, nth = 2, ms = 1 }
    p:fail { rank = 2, event = "rename", file = "Ckpt2*", error = "ENOSPC" }
  end,
}
LUA
    run -1 "$FAULTLINE" run --engine step --no-control --confirm 0 --out rename/out --html=rename rename/s.lua
    [[ "$output" == *"main at saves_carelessly.c:"* ]]
    [[ "$output" != *"of Faultline"* && "$output" != *"main thread"* ]]
    run ! grep -q "syscall" rename/out/latest/1/stacks.txt
    run "$FAULTLINE" trace rename/out/latest/1
    [[ "$output" == *'storage r2, ENOSPC on rename of "Ckpt2.rank-2", step 2 of the plan'* ]]
    promises rename 1 "in rank 2 the rename of Ckpt2.rank-2 fails with ENOSPC (No space left on device)" \
        "A message from rank 0 to rank 1 is held back" "rename of Ckpt2.rank-2 fails" "Deadlock: every live rank is blocked" \
        , look rename rename/1.html "storage: ENOSPC on rename of Ckpt2.rank-2" \
        "rank 2: checkpoint 2 is given up"
}

@test "an endless loop" {
    mkdir -p loop
    cat >loop/s.lua <<LUA
scenario "a write fails, and rank 0 waits for a message" {
  protocol = "null", program = "$BUILD/tests/mpi/polls_for_ever", ranks = 3, claims = { "H" },
  plan = function(p)
    p:hold { from = 1, to = 0, nth = 4, ms = 1 }
    p:fail { rank = 2, event = "write", file = "input.2", error = "ENOSPC", after = "start" }
  end,
}
LUA
    run -1 "$FAULTLINE" run --engine step --no-control --confirm 0 --no-stacks --out loop/out \
        --html=loop loop/s.lua
    promises loop 1 "in rank 2 the write of input.2 fails with ENOSPC" "write of input.2 fails" \
        "A message from rank 1 to rank 0 is held back" \
        "Endless loop: every live rank has only polled in vain"
}

@test "a crash under C3" {
    run -0 "$FAULTLINE" run --engine step --filter "ring: rank 1, before-sync number 2" \
        --out crash/out --html=crash "$REPO/suites/c3/crash.lua"
    promises crash 1 "" "Rank 1 is killed by SIGKILL" "The rest of the job ends with it" \
        "The job is started again, incarnation 1" "go on from line 1" "The run finishes"
}

@test "a duplicate after a resend" {
    run -0 "$FAULTLINE" run --engine step --filter "duplicates-kept: *" --out again/out \
        --html=again "$REPO/suites/scmel/broken.lua"
    promises again 1 "Rank 1 is killed by SIGKILL" "Rank 1 is killed by SIGKILL" \
        "Process 4 takes the place of rank 1" "Here M.stale is violated" "The run finishes"
}

@test "a run that shows nothing is called vacuous" {
    mkdir -p vacuous
    cat >vacuous/s.lua <<LUA
scenario "the kill never comes" {
  protocol = "null", program = "$BUILD/tests/mpi/saves_carelessly", ranks = 2, claims = { "H" },
  plan = function(p) p:kill { rank = 1, event = "send", nth = 1000 } end,
}
LUA
    run -2 "$FAULTLINE" run --engine step --no-control --out vacuous/out --html=vacuous vacuous/s.lua
    "$FAULTLINE" report vacuous/out
    promises vacuous 1 "No fault of the plan took place" "The run finishes" \
        , look vacuous vacuous/1.html "vacuous: the kill never comes" \
        "Vacuous: what was to be tested did not happen, so this run shows nothing." \
        , look vacuous-index vacuous/out/index.html "0 unknown, 1 vacuous"
}
