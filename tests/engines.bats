#!/usr/bin/env bats
# The same verdicts on both engines: a part of `make engines`; and that a difference is seen.

bats_require_minimum_version 1.5.0

load driver_common

@test "suites have the same verdicts under mpiexec and on the step engine" {
    ENGINES_OUT=$PWD/engines run "$REPO/scripts/engines.sh" "$BUILD" \
        suites/{demo/breaks,demo/survives,storage/broken,c3/broken_collectives}.lua
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *" 0 known to differ, 0 different"* ]]
}

@test "a verdict that differs is told, and is an error; one that the list knows is none" {
    mkdir engines
    for engine in mpiexec step; do
        printf 'suites/demo/breaks.lua\tit\tpass\tpass\t\t\n' >engines/suites-demo-breaks.$engine
    done
    sed -i 's/pass\tpass/failure\tviolation/' engines/suites-demo-breaks.step
    ENGINES_OUT=$PWD/engines run "$REPO/scripts/engines.sh" "$BUILD" suites/demo/breaks.lua
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == "DIFFERENT: suites/demo/breaks.lua: it: mpiexec pass pass, step failure violation"* ]]
    sed 's/demo.breaks/campaign\/broken/' engines/suites-demo-breaks.mpiexec >engines/suites-campaign-broken.mpiexec
    sed 's/demo.breaks/campaign\/broken/' engines/suites-demo-breaks.step >engines/suites-campaign-broken.step
    ENGINES_OUT=$PWD/engines run "$REPO/scripts/engines.sh" "$BUILD" suites/campaign/broken.lua
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *" 1 known to differ, 0 different"* ]]
}
