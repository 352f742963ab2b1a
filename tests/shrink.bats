#!/usr/bin/env bats
# `faultline shrink`: what it leaves of a failing plan, and what it says where it cannot.

bats_require_minimum_version 1.5.0

load driver_common

# The only thing that matters is the kill, and that it comes no sooner than in the third lap.
PLAN='p:delay { from = 0, nth = 2, ms = 1 }
  p:stop { rank = 2, event = "recv", nth = 2, ms = 1, after = "start" }
  p:await { rank = 2, event = "send", nth = 2 }
  p:kill { rank = 1, event = "send", nth = 5, call = "MPI_Send", peer = 2, after = "start" }
  p:jitter { ms = 1 }'

# failing [FIELDS [PLAN]]: a run that fails, in faultline-out/latest/1, of shrink_life.
failing() {
    cp "$BUILD/tests/mpi/shrink_life" life
    printf 'scenario "a job gives up" { protocol = "null", program = "./life", ranks = 3,
      arguments = { %s }, claims = { "%s" }, %s
      plan = function(p) %s end }\n' "${LAPS:-12}" "${CLAIM:-H.progress}" "${1:-}" \
        "${2:-$PLAN}" >s.lua
    run -1 timeout 60 "$FAULTLINE" run s.lua
}

# shrink STATUS [OPTION...]: of that run; in another folder than the run's own.
shrink() {
    local status_wanted=$1
    shift
    run "-$status_wanted" timeout -k 10 900 "$FAULTLINE" shrink --budget 800 --out shrunk "$@" faultline-out/latest/1
    echo "$output"
    folder=$(echo shrunk/*)
}

@test "shrink leaves what matters and nothing single more: a test that passes, as does the nearest" {
    failing 'engine = "step",'
    shrink 0 -j 2
    [[ $output == *"ok 1 - a job gives up"* ]]
    [[ $output == *'fingerprint: "H.progress initiator recovery"'* ]]
    # Where its lines end depends on how long the path is.
    grep -qF 'program = "'"$PWD"'/life", ranks = 2, engine = "step", arguments = { 3 }' <(tr -s ' \n' ' ' <"$folder/shrunk.lua")
    grep -qF '    p:kill { rank = 1, event = "send", nth = 3 }' "$folder/shrunk.lua"
    [ "$(grep -c '  p:' "$folder/shrunk.lua")" = 1 ]
    jq -e '.complete and .expects and .before.size > 20 and .after.size == 4 and
           .after.failures == .after.runs and .after.runs >= 10 and
           ([.items[] | .verdict] | unique) == ["passes"] and
           ([.items[] | select(.item == "field nth of step 1: 3 to 2")][0] |
            .failures == 0 and .ends.passed == .runs)' "$folder/shrink.json"
    # Both are told.
    [[ $output == *$'# --- passing.lua\n# +++ shrunk.lua'* ]]
    [[ $output == *$'# -    p:kill { rank = 1, event = "send", nth = 2 }\n'* ]]
    [[ $output == *$'# +    p:kill { rank = 1, event = "send", nth = 3 }\n'* ]]
    [[ $output == *"#   field nth of step 1: 3 to 2: 0 of "* ]]
    prove --exec cat <(echo "$output")
    # What is left is the folder's files, one run that failed and one that passed, on one page.
    [ "$(ls "$folder")" = $'passing.lua\nruns\nshrink.json\nshrunk.lua' ]
    [ "$(ls "$folder/runs" | wc -l)" = 2 ]
    failing=$(jq -r .failing_run "$folder/shrink.json")
    run -1 timeout 60 "$FAULTLINE" check "$failing"
    run -0 timeout 60 "$FAULTLINE" check "$(jq -r .passing_run "$folder/shrink.json")"
    page=$failing/report.html
    [ "$(xmllint --html --xpath 'count(//section[@class="beside"]//figure)' "$page" 2>/dev/null)" -ge 1 ]
    [[ "$(xmllint --html --xpath 'string(//section[@class="beside"]/h2)' "$page" 2>/dev/null)" == *pass:* ]]
    [[ "$(xmllint --html --xpath 'string(//h1)' "$page" 2>/dev/null)" == *violation:* ]]
    # From anywhere.
    folder=$PWD/$folder
    mkdir elsewhere
    cd elsewhere
    run -0 timeout 60 "$FAULTLINE" run "$folder/shrunk.lua" "$folder/passing.lua"
    grep -qF 'expect = { violates = "H.progress" }' "$folder/shrunk.lua"
    run -1 grep -q violates "$folder/passing.lua"
}

@test "a failure that needs no fault is shrunk to its ranks and variables" {
    printf 'scenario "fails" { protocol = "null", program = "%s", ranks = 4, engine = "step",
      arguments = { "exit" }, environment = { MORE = "x" }, claims = { "H.progress" },
      plan = function(p) p:delay { from = 0, nth = 1, ms = 1 } end }\n' \
        "$BUILD/tests/mpi/driver_life" >s.lua
    run -1 timeout 60 "$FAULTLINE" run s.lua
    shrink 0 -j 2
    jq -e '.complete and .after.runs >= 10 and .after.failures == .after.runs' "$folder/shrink.json"
    run ! grep -E 'p:|MORE' "$folder/shrunk.lua"
    grep -q 'ranks = [12],' <(tr -s ' \n' ' ' <"$folder/shrunk.lua")
}

@test "a failure that comes only every other time is shrunk as well, and its rate is told" {
    failing "engine = 'step', environment = { TURNS = 2, COUNTER = '$PWD/counter' }," \
        'p:delay { from = 0, ms = 1 } p:kill { rank = 1, event = "send", nth = 3, after = "start" }'
    shrink 0
    grep -q 'p:kill' "$folder/shrunk.lua"
    run -1 grep -q 'p:delay' "$folder/shrunk.lua"
    jq -e '.before.failures >= 1' "$folder/shrink.json"
}

# With three ranks it fails every time, with two the first five times and then every other, so that
# only the count at the end shows it. Not in the environment of the scenario, of which shrink would
# leave that out.
@test "what turns out to fail only sometimes gives way to something larger that always does" {
    export TURNS=2 COUNTER=$PWD/counter SURE_RANKS=3 FIRST=5
    LAPS=3 failing 'engine = "step",' 'p:kill { rank = 1, event = "send", nth = 3 }'
    shrink 0
    grep -q 'ranks = 3' "$folder/shrunk.lua"
    grep -q 'or not every time (1)' "$folder/shrunk.lua"
    jq -e '.after.runs >= 10 and .after.failures == .after.runs and
           ([.items[] | select(.item == "ranks: 3 to 2")][0] |
            .verdict == "seldom" and .failures > 3 and .failures < .runs)' "$folder/shrink.json"
}

# The job gives up where it was started again once or three times: with one of the first two steps
# left out it does not. That too is no variable of the scenario.
@test "of three steps two that can only be left out together are" {
    export ODD=1
    LAPS=3 failing 'engine = "step",' 'for lap = 1, 3 do
        p:kill { rank = 1, event = "send", nth = lap } end'
    shrink 0
    [ "$(grep -c '  p:' "$folder/shrunk.lua")" = 1 ]
    grep -qF '    p:kill { rank = 1, event = "send", nth = 3 }' "$folder/shrunk.lua"
}

@test "a run that does not fail any more is said to, with the counts" {
    failing "environment = { HEALED = '$PWD/healed' }," \
        'p:kill { rank = 1, event = "send", nth = 3 }'
    touch healed
    shrink 2 -j 2
    [[ $output == *"not ok 1 - a job gives up # unknown"* ]]
    [[ $output == *"it failed so in 0 of 20 runs: 20 passed"* ]]
    [ ! -e "$folder/shrunk.lua" ]
}

@test "a machine on which nothing runs is no proof that the failure is gone" {
    failing '' 'p:kill { rank = 1, event = "send", nth = 3 }'
    FAULTLINE_MPIEXEC=$(command -v false) shrink 3
    [[ $output =~ "in 0 of 0 runs".*", "[5-6]" came to nothing" ]] # not until the budget is spent
}

@test "a run that passed cannot be shrunk" {
    scenario "good" '"ok"'
    "$FAULTLINE" run s.lua
    shrink 64
    [[ $output == *"there is nothing to shrink: its verdict is pass"* ]]
    [ ! -e shrunk ]
}

@test "a run of another version, a damaged one, none, and two are refused" {
    failing
    sed -i 's/^  "version": [0-9]*/  "version": 999/' faultline-out/latest/1/run.json
    shrink 64
    [[ $output == *"is of version 999"* ]]
    echo '{' >faultline-out/latest/1/run.json
    shrink 64
    mkdir nowhere
    run -64 timeout 60 "$FAULTLINE" shrink nowhere
    [[ $output == *"there is no run.json"* ]]
    run -64 timeout 60 "$FAULTLINE" shrink a b
    [[ $output == *"one run is expected, not 2"* ]]
    run -64 timeout 60 "$FAULTLINE" shrink
    run -64 timeout 60 "$FAULTLINE" shrink --budget 0 faultline-out/latest/1
}

@test "a program that is gone is named" {
    failing
    rm life
    shrink 64
    [[ $output == *"life"* ]]
}

@test "the budget ends the search, and what was found by then is left" {
    failing
    shrink 2 --budget 0.001
    [[ $output == *"in 0 of 0 runs"* ]]
    [[ $output == *"the budget of 0.001 s ended the search"* ]]
}

# The run without faults takes longer than the budget: nothing may be started after it.
@test "a budget that ends while the run without faults is under way ends the search" {
    CLAIM=H.result LAPS=3 failing 'environment = { WRONG = 1, SLOW_MS = 300 },' \
        'p:kill { rank = 1, event = "send", nth = 3 }'
    shrink 2 --budget 0.5
    [[ $output == *"in 0 of 0 runs"* ]]
    [[ $output == *"the budget of 0.5 s ended the search"* ]]
}

# The run that waits for its turn makes sure that the search is not over.
@test "Ctrl-C leaves the best so far, and no process" {
    failing 'environment = { SLOW_MS = 50 },'
    timeout -k 10 900 "$FAULTLINE" shrink --budget 800 --out shrunk faultline-out/latest/1 >said 2>&1 &
    DRIVER=$!
    wait_until eval 'ls -d shrunk/*/runs/8'
    kill -INT "$(pgrep -P "$DRIVER")"
    local status=0
    wait "$DRIVER" || status=$?
    cat said
    [ "$status" = 130 ]
    grep -q '^ok 1 - a job gives up' said
    grep -q 'no: SIGINT ended the search' said
    grep -q 'Not the smallest: SIGINT' shrunk/*/shrunk.lua
    jq -e '.complete == false and .stopped == "SIGINT"' shrunk/*/shrink.json
    run -1 pgrep -f "$PWD/life"
}
