#!/usr/bin/env bats
# Jobs that are restarted on another number of ranks (`restart = { ranks = N }`): examples/resized, and
# what can be judged of such a run.

bats_require_minimum_version 1.5.0
load driver_common

setup_file() {
    cp -r "$BATS_TEST_DIRNAME/../examples/resized" "$BATS_FILE_TMPDIR/resized"
    local build=${BUILD:-build}
    case $build in /*) ;; *) build=$BATS_TEST_DIRNAME/../$build ;; esac
    make -s -C "$BATS_FILE_TMPDIR/resized" clean all \
        PKG_CONFIG="PKG_CONFIG_PATH=$build/pkgconfig pkg-config"
}

# case_of RANKS AGAIN FIELDS: the program of the example, killed when the second line is committed.
case_of() {
    printf 'scenario "%s" { protocol = "null", program = "%s/resized/cells", ranks = %d,
  restart = { ranks = %d }, stores = { "global" }, %s
  plan = function(p) p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 2 } } end }\n' \
        "$1 to $2" "$BATS_FILE_TMPDIR" "$1" "$2" "$3"
}

@test "the example: on fewer ranks and on more, killed again, without its store; by rank it is found" {
    cd "$BATS_FILE_TMPDIR/resized"
    local engine
    for engine in step mpiexec; do
        run -0 "$FAULTLINE" run --keep --engine $engine resized.lua
        [ "$(grep -c '^ok' <<<"$output")" -eq 9 ]
        # Ranks of the incarnations, what there was to go on from, and who the result is compared with.
        [ "$(ls faultline-out/latest/1/trace)" = \
            "$(printf '%s\n' r0.0.trace r0.1.trace r1.0.trace r1.1.trace r2.0.trace r2.1.trace r3.0.trace)" ]
        [ "$(find faultline-out/latest/2/trace -type f | wc -l)" -eq 8 ]
        "$FAULTLINE" trace faultline-out/latest/2 >all
        [ "$(grep -c 'r[0-4]#1.* restored 2$' all)" -eq 5 ]
        jq -e '.reference_text | test("6 results of .*, 3 of them the same on 3 ranks and on 5$")' \
            faultline-out/latest/2/run.json
        jq -e '.claims // .results | .[] | select(.claim == "H.result") | .situations == 3' \
            faultline-out/latest/2/verdict.json
    done
}

@test "what follows a rank from one incarnation to the next, or asks for every rank, is unknown and says why" {
    case_of 4 3 'claims = { "H", "B", "C" },' >s.lua
    case_of 2 4 'claims = { "H", "B", "C", "D", "M" },' >>s.lua
    run -2 "$FAULTLINE" run --engine step s.lua
    [ "$(grep -c '^not ok .* # unknown$' <<<"$output")" -eq 2 ]
    [[ $output == *"incarnation 1 had 3 ranks and the one before it 4: which rank goes on from what is not known"* ]]
    [[ $output == *"incarnation 1 had 4 ranks and the one before it 2"* ]]
    local run
    for run in faultline-out/latest/1 faultline-out/latest/2; do
        jq -e '[.results[] | select(.verdict == "violation")] == []' $run/verdict.json
        jq -e '.results[] | select(.claim == "H.loss").verdict == "unknown"' $run/verdict.json
        jq -e '.results[] | select(.claim == "H.result").verdict == "pass"' $run/verdict.json
        [ -s $run/report.html ]
    done
    run -2 "$FAULTLINE" check faultline-out/latest/1
    cp -rL faultline-out/latest kept
    run -0 "$FAULTLINE" replay --repeat 2 kept/2
    [[ $output == *"replayed 2/2"* ]]
}

@test "messages are judged where nothing was restored; a wrong result is, however the job was restarted" {
    # Killed before there is a line: the second incarnation begins from nothing.
    case_of 3 2 'claims = { "H" },' | sed 's/at = {[^}]*}/event = "send", nth = 2/' >s.lua
    case_of 4 3 'claims = { "H.result" }, arguments = { "--by-rank" },' >>s.lua
    run -1 "$FAULTLINE" run --engine step --no-stacks s.lua
    [[ $output == *"ok 1 - 3 to 2"*"not ok 2 - 4 to 3 # H.result"* ]]
    jq -e '[.results[] | select(.claim | test("^H.(loss|orphan|collective)$")) | .verdict] ==
        ["pass", "pass", "pass"]' faultline-out/latest/1/verdict.json
    cp -rL faultline-out/latest kept
    run -0 "$FAULTLINE" replay kept/2
    [[ $output == *"replayed 1/1"* ]]
    run -0 "$FAULTLINE" shrink kept/2
    grep -q 'ranks = 4' faultline-out/*/shrunk.lua
    grep -q 'restart = { ranks = 3 }' faultline-out/*/shrunk.lua
    run -0 "$FAULTLINE" export kept/2
}

@test "a program that does not finish on the other number of ranks by itself is no reference" {
    local cells=$BATS_FILE_TMPDIR/resized/cells
    printf '#!/bin/sh\n[ "$FAULTLINE_RANKS" != 3 ] || [ -n "$(ls "$FAULTLINE_STORE_GLOBAL")" ] || exit 3\nexec "%s"\n' \
        "$cells" >app
    chmod +x app
    case_of 4 3 'claims = { "H.result" },' | sed "s|$cells|$PWD/app|" >s.lua
    run -3 "$FAULTLINE" run --engine step --no-stacks s.lua
    [[ $output == *"did not finish"* ]]
}

@test "what ranks print is compared only if the job was not restarted on another number" {
    case_of 4 3 'claims = { "H.result" }, result = "output",' >s.lua
    case_of 4 4 'claims = { "H.result" }, result = "output",' >>s.lua
    run -2 "$FAULTLINE" run --engine step --no-stacks s.lua
    [[ $output == *"not ok 1 - 4 to 3 # unknown"*"restarted on another number of ranks"*"ok 2 - 4 to 4"* ]]
}

@test "a campaign draws deaths in the first incarnation and in those on other ranks" {
    case_of 3 2 'claims = { "H.result" },' >s.lua
    local strategy
    for strategy in random systematic; do
        run -0 "$FAULTLINE" campaign --engine step --strategy $strategy --runs 20 --keep --out $strategy s.lua
        [[ $output == *"no failure in 20 runs"* ]]
        # Deaths that the job came through on 2 ranks, with all that the plans ask for.
        [ "$(jq -s '[.[] | select(.kind == "run" and .verdict == "pass")] | length' $strategy/latest/campaign.jsonl)" -ge 10 ]
    done
}
