#!/usr/bin/env bats
# `faultline run`: exit statuses, what is said, and what is checked before anything is launched.

bats_require_minimum_version 1.5.0
load driver_common

@test "a run that passes: status 0, TAP that prove accepts, nothing else on standard output" {
    scenario "all well (both)" '"ok"'
    "$FAULTLINE" run s.lua >tap
    [ "$(sed -n 1p tap)" = "TAP version 13" ]
    grep -qx "ok 1 - all well (both)" tap
    run ! grep -q "lives" tap
    prove --exec cat tap
    grep -q "rank 1 lives" faultline-out/latest/1/output/r1.0.out
    [ -s faultline-out/latest/1/verdict.json ]
}

@test "beside the ok of a run with faults: no results were compared, no checkpoint was taken" {
    scenario "nothing declared" '"ok"' 'claims = { "H" },
        plan = function(p) p:kill { rank = 1, event = "collective" } end'
    sed -i 's/"null"/"blocking"/; s/claims = { "H.progress" }, //' s.lua
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 0 ]
    [[ "$output" == *$'ok 1 - nothing declared\n# results were not compared: the program declares none\n# no checkpoint was taken\n'* ]]
    sed -i 's/{ "H" }/{ "H.result" }/' s.lua
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 2 ]
    [[ "$output" == *"H.result could not be judged"* ]]
}

@test "what ranks print is compared with the run without faults where the scenario asks for it" {
    local printed="program = '$BUILD/tests/mpi/driver_printed', ranks = 2, protocol = 'null'"
    local kill="plan = function(p) p:kill { rank = 1, event = 'collective', nth = 5 } end"
    local ignore="ignore = { '^process [0-9]+' }"
    cat >s.lua <<END
scenario "right" { $printed, result = { "output", $ignore }, $kill }
scenario "wrong" { $printed, result = { "output", $ignore }, arguments = { "wrong" }, $kill }
scenario "less" { $printed, result = { "output", $ignore }, arguments = { "asks" },
  plan = function(p) p:answer { rank = 1, call = "MPI_Test", answer = false, nth = 2 } end }
scenario "not ignored" { $printed, result = "output", claims = { "H.result" }, $kill }
END
    run -1 "$FAULTLINE" run --no-stacks s.lua
    [[ "$output" == *$'\nok 1 - right\nnot ok 2 - wrong # H.result\n'* ]]
    [[ "$output" == *"rank 1 has printed, in line 5 of its output: \\\"rank 1 has 41\\\""* ]]
    [[ "$output" == *"without faults it prints, in line 8: \\\"rank 1 has 42\\\""* ]]
    [[ "$output" == *"passes without faults"*"not ok 3 - less # H.result"*"not ok 4 - not ignored # H.result"*"in line 1 of its"* ]]
    # The same from what is stored, and in another place.
    run -1 "$FAULTLINE" check faultline-out/latest/2
    [[ "$output" == *"rank 1 has 41"* ]]
    "$FAULTLINE" export --output packed faultline-out/latest/2
    rm -r faultline-out
    run -0 "$FAULTLINE" replay --trust packed
    [[ "$output" == *"H.result"*"replayed 1/1"* ]]
}

@test "what a scenario says of the output is refused where it cannot be compared" {
    scenario "pattern" '"ok"' 'claims = { "H" }, result = { "output", ignore = { "(" } }'
    run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *'s.lua:1: scenario "pattern": result: "(" is no extended regular expression'* ]]
    local claims
    for claims in '' ', claims = { "H.order", "H.progress" }'; do
        rm s.lua
        scenario "claims" '"ok"' "result = \"output\"$claims"
        run -64 "$FAULTLINE" run s.lua
        [[ "$output" == *'"result" is judged by H.result, which "claims" does not ask for'* ]]
    done
}

@test "beside the ok of a run without faults: results were not compared; no checkpoint, if asked" {
    cat >s.lua <<END
local function job(name, protocol, claims)
  scenario(name) { protocol = protocol, program = "$LIFE", ranks = 2, claims = claims }
end
job("asked", "blocking", { "H" })
job("not asked", "blocking", { "H.progress" })
job("no protocol", "null", { "H" })
END
    run -0 "$FAULTLINE" run s.lua
    [[ "$output" == *$'\nok 1 - asked\n# results were not compared: the scenario has no faults\n# no checkpoint was taken\nok 2 - not asked\nok 3 - no protocol\n# coverage'* ]]
}

@test "a rank that exits non-zero: status 1, named with its exit status" {
    scenario "bad end" '"exit"'
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"not ok 1 - bad end # H.progress"* ]]
    [[ "$output" == *"rank 1 exited with status 7, not by a fault of the plan"* ]]
    [[ "$output" == *"repro: \"faultline replay faultline-out/"* ]]
}

@test "a rank that dies by a signal of its own, aborts, or leaves without Finalize: status 1" {
    scenario "signal" '"segv"'
    scenario "abort" '"abort"'
    scenario "no finalize" '"no-finalize"'
    scenario "no finalize, and the launcher learns of it late" '"no-finalize-unnoticed"'
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"rank 1 was ended by SIGSEGV"* ]]
    [[ "$output" == *"rank 1 aborted the job"* ]]
    [ "$(grep -c '^    - "rank 1 exited with status 0 without MPI_Finalize' <<<"$output")" -eq 2 ]
    all_gone
}

@test "a fault that was asked for and never came: status 2" {
    scenario "no such send" '"ok"' 'plan = function(p) p:kill { rank = 1, event = "send", nth = 99 } end'
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 2 ]
    [[ "$output" == *"faults: { asked: \"1\", installed: \"0\" }"* ]]
}

@test "a fault that was done in part alone: status 2, and how much of it came" {
    cat >s.lua <<'LUA'
scenario "half" { protocol = "null", program = "ring", ranks = 2, engine = "step", claims = { "H.progress" },
  plan = function(p) p:hold { rank = 0, event = "send", count = 9999 } end }
LUA
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 2 ]
    [[ "$output" =~ only\ [1-9][0-9]*\ of\ 9999\ came\ that\ it\ waits\ for ]]
}

@test "a program without MPI: status 3, for nothing was seen" {
    echo 'scenario "true" { protocol = "null", program = "/bin/true", ranks = 2, claims = { "H" } }' >s.lua
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 3 ]
    [[ "$output" == *"harness-error"* ]]
    [[ "$output" == *"rank 0 ran unseen"* ]]
}

@test "the worst decides: a violation beside a pass is status 1, a harness error beside a pass 3" {
    scenario "good" '"ok"'
    scenario "bad" '"exit"'
    echo 'scenario "true" { protocol = "null", program = "/bin/true", ranks = 2, claims = { "H" } }' >>s.lua
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 1 ]
    run "$FAULTLINE" run --filter o* s.lua
    run "$FAULTLINE" run --filter "[gt]*" s.lua
    [ "$status" -eq 3 ]
}

@test "an expected violation passes, and fails when it is not found" {
    scenario "must fail" '"exit"' 'expect = { violates = "H.progress" }'
    scenario "fails to fail" '"ok"' 'expect = { violates = "H.progress" }'
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"ok 1 - must fail"* ]]
    [[ "$output" == *"not ok 2 - fails to fail"* ]]
    [[ "$output" == *"a violation of H.progress is expected, and none was found"* ]]
}

@test "a rank killed by the plan is another life of the job, told in run.json" {
    scenario "killed" '"ok"' 'plan = function(p) p:kill { rank = 1, event = "collective" } end'
    run "$FAULTLINE" run -v s.lua
    [[ "$output" == *"finished after 2 incarnations"* ]]
    [[ "$output" == *"asked: \"1\", installed: \"1\""* ]]
    [ -s faultline-out/latest/1/trace/r1.1.trace ]
    grep -q '"wait_status": 9' faultline-out/latest/1/run.json
}

@test "max_incarnations is a limit, and it is said" {
    scenario "once only" '"ok"' 'max_incarnations = 1, plan = function(p) p:kill { rank = 1, event = "collective" } end'
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"rank 1 was killed by step 1 of the plan, and 1 incarnations are all"* ]]
}

@test "what is missing is named before anything is launched" {
    scenario "good" '"ok"'
    run env FAULTLINE_MPIEXEC=/nonexistent "$FAULTLINE" run s.lua
    [ "$status" -eq 3 ]
    [[ "$output" == *"FAULTLINE_MPIEXEC=/nonexistent: there is no such executable"* ]]
    run env FAULTLINE_TAPS=/nonexistent "$FAULTLINE" run s.lua
    [ "$status" -eq 3 ]
    echo 'scenario "p" { protocol = "nul", program = "ring", ranks = 2, claims = { "H" } }' >p.lua
    run "$FAULTLINE" run s.lua p.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *"p.lua:1: scenario \"p\": there is no protocol \"nul\" (did you mean \"null\"?)"* ]]
    [[ "$output" != *"make variants"* ]]
    echo 'scenario "p" { protocol = "c3-gone", program = "ring", ranks = 2, claims = { "H" } }' >p.lua
    run -64 "$FAULTLINE" run p.lua
    [[ "$output" == *"there is no protocol \"c3-gone\""*"; \`make variants\` builds the protocols that are broken"* ]]
    mkdir shelf # variants are not listed, though one is the first name there
    touch shelf/lib{blocking-early,blocking,null}.so
    run -64 env FAULTLINE_PROTOCOLS=shelf "$FAULTLINE" run p.lua
    [[ "$output" == *"; known are: blocking, null; or give a path"* ]]
    echo 'scenario "p" { protocol = "null", program = "rong", ranks = 2, claims = { "H" } }' >p.lua
    run "$FAULTLINE" run p.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *"there is no program \"rong\" (did you mean \"ring\"?)"* ]]
    echo 'scenario "p" { protocol = "null", program = "./nothing", ranks = 2, claims = { "H" } }' >p.lua
    run "$FAULTLINE" run p.lua
    [ "$status" -eq 64 ]
    run "$FAULTLINE" run nothing.lua
    [ "$status" -eq 64 ]
    echo 'scenario "p" { protocol = "null", program = "ring", ranks = 2, claims = { "H.orfan" } }' >p.lua
    run "$FAULTLINE" run p.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *"there is no claim \"H.orfan\" (did you mean \"H.orphan\"?)"* ]]
    [ ! -e faultline-out ]
}

@test "--ranks is checked against the plan" {
    scenario "two" '"ok"' 'plan = function(p) p:kill { rank = 1, event = "collective" } end'
    run "$FAULTLINE" run --ranks 1 s.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *"s.lua:2: "*"an integer from 0 to 0 (ranks = 1) is expected, not 1"* ]]
}

@test "unknown verbs and options: status 64, and what was meant" {
    run "$FAULTLINE" runn
    [ "$status" -eq 64 ]
    [[ "$output" == *'did you mean "run"?'* ]]
    run "$FAULTLINE" run --nonsense s.lua
    [ "$status" -eq 64 ]
    run "$FAULTLINE" run
    [ "$status" -eq 64 ]
    run "$FAULTLINE"
    [ "$status" -eq 64 ]
    "$FAULTLINE" --version | grep -q "^faultline "
    "$FAULTLINE" run --help | grep -q -- --until-failure
}

@test "nothing to run: Bail out! and status 64" {
    scenario "good" '"ok"'
    run "$FAULTLINE" run --filter nonsense s.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *"Bail out!"* ]]
    mkdir empty
    for verb in run list; do
        run "$FAULTLINE" $verb empty
        [ "$status" -eq 64 ]
        [[ "$output" == *"empty: no scenario is in this folder or its folders"* ]]
    done
}

@test "a folder of scenario files, or of such folders, one level down" {
    mkdir -p all/{b,a/deeper,.hidden}
    for file in all/b/2 all/a/1 all/a/deeper/3 all/.hidden/4; do
        scenario "of $file" '"ok"'
        mv s.lua $file.lua
    done
    touch all/README.md
    sed -i '1i -- How one\n-- ends. And more.' all/a/1.lua
    cat all/b/2.lua >>all/a/1.lua
    run -0 "$FAULTLINE" list all
    [ "$output" = $'all/a/1.lua: 2 scenarios under null\n  How one ends.\nall/b/2.lua: 1 scenario under null' ]
    run -0 "$FAULTLINE" list -v all
    [ "$(grep '^of ' <<<"$output")" = $'of all/a/1\nof all/b/2\nof all/b/2' ]
    run -0 "$FAULTLINE" list all/a/
    [ "$(grep '^of ' <<<"$output")" = $'of all/a/1\nof all/b/2' ]
    mv all/b/2.lua all/
    run -0 "$FAULTLINE" list all
    [ "$(grep '^of ' <<<"$output")" = 'of all/b/2' ]
}

@test "setup: a command prepares each run, once, before its ranks start" {
    mkdir tools
    cat >tools/prepare <<'END'
#!/bin/sh
echo "for $FAULTLINE_RANKS ranks: $1 $2, $WORD, $(cat "$FAULTLINE_FILES/given")" >>"$FAULTLINE_FILES/made"
[ -z "$FAULTLINE_STORE" ] && echo said
sleep 600 & # ended with it
echo $! >"$FAULTLINE_FILES/left"
END
    chmod +x tools/prepare
    scenario "prepared" '"ok"' 'setup = { "tools/prepare", "a b", 4 }, files = { given = "text" },
        environment = { WORD = "w" }, plan = function(p) p:kill { rank = 1, event = "collective" } end'
    run -0 "$FAULTLINE" run --keep s.lua
    [ "$(cat faultline-out/latest/1/files/made)" = "for 2 ranks: a b 4, w, text" ]
    [ "$(cat faultline-out/latest/1/output/setup)" = said ]
    run ! kill -0 "$(cat faultline-out/latest/1/files/left)"
    # Made again for a replay, and for the run without faults.
    run -0 "$FAULTLINE" replay --out again "$(readlink -f faultline-out/latest)/1"
    cat s.lua >copy.lua
    (cd tools && run -0 "$FAULTLINE" run ../copy.lua) # beside the scenario file, from anywhere
}

@test "setup: what fails, is not there, or does not end is an error of the harness, and says so" {
    scenario "fails" '"ok"' 'setup = { "sh", "-c", "echo no disk; exit 3" }'
    scenario "killed" '"ok"' 'setup = { "sh", "-c", "kill -9 $$" }'
    scenario "not there" '"ok"' 'setup = { "./prepare" }'
    scenario "nor on the path" '"ok"' 'setup = { "no-such-command" }'
    scenario "endless" '"ok"' 'setup = { "sh", "-c", "echo $$; exec sleep 600" }, timeout = 0.5'
    run -3 "$FAULTLINE" run --keep s.lua
    [ "$(grep -c '^not ok .* # harness-error$' <<<"$output")" -eq 5 ]
    [[ "$output" == *"setup: sh exited with status 3; what it printed is in faultline-out/"*"/1/output/setup"* ]]
    [ "$(cat faultline-out/latest/1/output/setup)" = "no disk" ]
    [[ "$output" == *"setup: sh was ended by SIGKILL"* ]]
    [[ "$output" == *"setup: "*"prepare"* ]]
    [[ "$output" == *"setup: no-such-command exited with status 127 (it cannot be started)"* ]]
    [[ "$output" == *"setup: sh did not end in the 0.5 s of the run"* ]]
    run ! kill -0 "$(cat faultline-out/latest/5/output/setup)"
    printf 'scenario "s" { protocol = "null", program = "ring", ranks = 2, setup = {} }\n' >s.lua
    run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *'field "setup": 1 to 64 entries are expected, not 0'* ]]
}

@test "setup: a signal to the command ends it" {
    scenario "endless" '"ok"' 'setup = { "sh", "-c", "echo $$; exec sleep 600" }'
    "$FAULTLINE" run --keep s.lua >tap 2>&1 3>&- &
    DRIVER=$!
    wait_until test -s faultline-out/latest/1/output/setup
    kill -TERM "$DRIVER"
    local status=0
    wait "$DRIVER" || status=$?
    [ "$status" -eq 143 ]
    grep -q "^ok 1 - endless # SKIP cut off by the user: interrupted by SIGTERM" tap
    run ! kill -0 "$(cat faultline-out/latest/1/output/setup)"
}

@test "restart: later incarnations have other arguments and variables, under each launcher" {
    printf '#!/bin/sh\necho "$WORD $OTHER: $*" >>"$FAULTLINE_FILES/seen"\nexec "%s" ok\n' "$LIFE" >app
    chmod +x app
    cat >s.lua <<'END'
for name, restart in pairs {
  ["all"] = { arguments = { "--restart", 7 }, environment = { WORD = "again" } },
  ["none"] = { arguments = {} }, ["same"] = { environment = { OTHER = "x" } } } do
  for _, engine in ipairs { "mpiexec", "step" } do
    scenario(name .. " " .. engine) { protocol = "null", program = "./app", arguments = { "-n", 3 },
      ranks = 2, environment = { WORD = "w" }, files = { given = "" }, restart = restart,
      engine = engine, claims = { "H.progress" },
      plan = function(p) p:kill { rank = 1, event = "collective" } end }
  end
end
END
    run -0 "$FAULTLINE" run --keep s.lua
    local run
    for run in 1 2 3 4 5 6; do
        run -0 "$FAULTLINE" replay --out again "$(readlink -f faultline-out/latest)/$run"
        uniq "faultline-out/latest/$run/files/seen" | paste -s -d '|' >>seen
        uniq again/latest/1/files/seen | paste -s -d '|' >>replayed
    done
    cmp seen replayed
    [ "$(sort seen | uniq -c | sed 's/^ *//')" = "2 w : -n 3|again : --restart 7
2 w : -n 3|w : 
2 w : -n 3|w x: -n 3" ]
    printf 'scenario "s" { protocol = "null", program = "ring", ranks = 2, restart = { rounds = 3 } }\n' >s.lua
    run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *'restart: unknown field "rounds"; accepted: arguments, environment, ranks'* ]] || {
        echo "$output"
        return 1
    }
}

@test "-j 2 runs two at once, and tells them in order" {
    scenario "first" '"meet", "'"$PWD/a"'", "'"$PWD/b"'"'
    scenario "second" '"meet", "'"$PWD/b"'", "'"$PWD/a"'"'
    run "$FAULTLINE" run -j 2 s.lua
    [ "$status" -eq 0 ]
    [ "$(grep -c "^ok" <<<"$output")" -eq 2 ]
    [[ "$output" == *"ok 1 - first"*"ok 2 - second"* ]]
    rm s.lua
    scenario "ends last" '"meet", "'"$PWD/c"'", "'"$PWD/faultline-out/latest/2/tap"'"'
    scenario "ends first" '"ok"'
    run "$FAULTLINE" run -j 2 s.lua
    [ "$status" -eq 0 ]
    [[ "$output" == *"ok 1 - ends last"*"ok 2 - ends first"* ]]
}

@test "a folder means its scenarios, sorted" {
    mkdir d
    scenario "one" '"ok"' && mv s.lua d/b.lua
    scenario "two" '"ok"' && mv s.lua d/a.lua
    touch d/readme.txt
    run "$FAULTLINE" run --dry-run d/
    [ "$status" -eq 0 ]
    [[ "$output" == *"ok 1 - two # SKIP dry run"*"ok 2 - one # SKIP dry run"* ]]
    run -0 "$FAULTLINE" run --dry-run --filter one d/
    [[ "$output" == *"ok 1 - one # SKIP dry run"* ]]
    [ ! -e faultline-out ]
}

@test "--seed: the same seed gives the same scenarios, a commit is one, nonsense is not" {
    echo 'scenario("draw " .. math.random(1000000)) { protocol = "null", program = "ring", ranks = 2, claims = { "H" } }' >r.lua
    "$FAULTLINE" list --seed 5 r.lua >a
    "$FAULTLINE" list --seed 5 r.lua >b
    "$FAULTLINE" list --seed 6 r.lua >c
    cmp a b
    run ! cmp -s a c
    "$FAULTLINE" list --seed 0123456789abcdef0123456789abcdef01234567 r.lua >d
    FAULTLINE_SEED=0x0123456789abcdef "$FAULTLINE" list r.lua >e
    cmp d e
    run ! cmp -s a d
    for bad in nonsense -1 "" 1x 99999999999999999999; do
        run "$FAULTLINE" list --seed "$bad" r.lua
        [ "$status" -eq 64 ]
    done
    run env FAULTLINE_SEED=nonsense "$FAULTLINE" list r.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *"FAULTLINE_SEED: \"nonsense\" is not a seed"* ]]
}

@test "--filter, --shard and --shuffle choose" {
    for i in 1 2 3 4 5; do scenario "number $i" '"ok"'; done
    [ "$("$FAULTLINE" list --filter "ber 3" s.lua | grep -c ^number)" -eq 1 ]
    [ "$(FAULTLINE_FILTER='number [12]' "$FAULTLINE" list s.lua | grep -c ^number)" -eq 2 ]
    [ "$(for i in 1 2 3; do "$FAULTLINE" list --shard $i/3 s.lua; done | grep ^number | sort -u | wc -l)" -eq 5 ]
    run "$FAULTLINE" list --shard 4/3 s.lua
    [ "$status" -eq 64 ]
    "$FAULTLINE" list s.lua | grep ^number >a
    "$FAULTLINE" list --shuffle --seed 3 s.lua | grep ^number >b
    run ! cmp -s a b
    sort b | cmp a -
}

@test "--last-failed runs again what did not pass" {
    scenario "good" '"ok"'
    scenario "bad" '"exit"'
    run "$FAULTLINE" run s.lua
    run "$FAULTLINE" run --last-failed s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"1..1"*"not ok 1 - bad"* ]]
}

@test "--repeat, --until-failure, --tap and --durations" {
    scenario "good" '"ok"'
    "$FAULTLINE" run --repeat 3 --tap copy --durations s.lua >tap
    [ "$(grep -c "^ok" tap)" -eq 3 ]
    cmp tap copy
    prove --exec cat tap
    grep -q "^# .* s  good" tap
    timeout 300 "$FAULTLINE" run --until-failure --repeat 1 s.lua >tap
    [ "$(grep -c "^ok" tap)" -eq 1 ]
    scenario "bad" '"exit"'
    "$FAULTLINE" run --until-failure s.lua >tap && false
    grep -q "^not ok 2 - bad" tap
    grep -qx "1..2" tap
}

@test "--until-failure goes on over vacuous runs, and says how many there were" {
    scenario "shy" '"ok"' 'plan = function(p)
        p:kill { rank = 1, event = "call", call = "MPI_Test" } end'
    scenario "bad" '"exit"'
    run -1 "$FAULTLINE" run --until-failure s.lua
    [[ "$output" == *"not ok 1 - shy # vacuous"*"not ok 2 - bad"*"# 1 of 2 runs were vacuous"* ]]
    [[ "$output" == *"1..2" ]]
}

@test "--no-capture shows the ranks' output on standard error only" {
    scenario "good" '"ok"'
    "$FAULTLINE" run --no-capture s.lua >tap 2>err
    grep -q "rank 1 lives" err
    run ! grep -q lives tap
}

# The first rank that comes prints much more than is read at once, and little after it.
@test "--no-capture shows all that a rank prints, however much it is" {
    printf '#!/bin/sh\nmkdir "$FAULTLINE_STORE/first" 2>/dev/null && seq 500000\nexec "%s" ok\n' "$LIFE" >app
    chmod +x app
    LIFE=./app scenario "prints much" '"ok"'
    "$FAULTLINE" run --no-capture s.lua >tap 2>err
    cat faultline-out/latest/1/output/r*.out >printed
    [ "$(wc -c <printed)" -gt 3000000 ]
    [ "$(wc -c <err)" -ge "$(wc -c <printed)" ]
}

@test "list and claims" {
    scenario "good" '"ok"' 'plan = function(p) p:kill { rank = 1, event = "collective" } end'
    run "$FAULTLINE" list -v s.lua
    [ "$status" -eq 0 ]
    [[ "$output" == *"driver_life under null, 2 ranks"* ]]
    [[ "$output" == *"step 1: kill victims=1 event=collective"* ]]
    run "$FAULTLINE" claims
    [ "$status" -eq 0 ]
    [[ "$output" == *"H.orphan"* ]]
    run "$FAULTLINE" claims H.loss
    [[ "$output" == *"needs:"* ]]
    run "$FAULTLINE" claims H.orphon
    [ "$status" -eq 64 ]
    [[ "$output" == *'did you mean "H.orphan"?'* ]]
}

@test "a protocol that cannot be loaded is refused, or makes the run void: never a pass" {
    local library=$BUILD/protocols/libnull.so
    mkdir "sp ace" co:lon
    cp "$library" "sp ace/libp.so"
    cp "$library" co:lon/libp.so
    echo nonsense >text.so
    head -c 200 "$library" >cut.so
    for path in "./sp ace/libp.so" ./co:lon/libp.so ./text.so; do
        echo "scenario 'p' { protocol = '$path', program = '$LIFE', ranks = 2, arguments = { 'ok' }, claims = { 'H.progress' } }" >p.lua
        run "$FAULTLINE" run p.lua
        [ "$status" -eq 64 ]
        [[ "$output" == *"a blank or ':'"* || "$output" == *"not a 64-bit ELF shared object"* ]]
    done
    sed -i 's,\./text\.so,./cut.so,' p.lua
    run "$FAULTLINE" run p.lua
    [ "$status" -eq 3 ]
    [[ "$output" == *"the protocol was not loaded into rank"*"cannot be preloaded"* ]]
}

@test "two programs of one name, each beside its scenario, have a run without faults each" {
    local folder
    mkdir ring laplace
    for folder in ring laplace; do
        cp "$BUILD/programs/$folder" "$folder/app"
        printf 'scenario "%s" { protocol = "blocking", program = "./app", ranks = 2, engine = "step",
  claims = { "H" }, plan = function(p) p:kill { rank = 1, event = "send", nth = 3 } end }\n' \
            "$folder" >"$folder/s.lua"
    done
    run -0 "$FAULTLINE" run ring/s.lua laplace/s.lua
    [ "$(grep -c '^ok' <<<"$output")" -eq 2 ]
}
