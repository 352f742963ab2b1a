#!/usr/bin/env bats
# The suites of team-based message logging: only the team of the rank that died goes back.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "teams: ranks die at every phase of a line, of a recovery and in between, and no other team goes back" {
    passes 265 "$ROOT/suites/teams/crash.lua"
}

@test "teams: each broken variant is found by the claim that is said" {
    passes 8 "$ROOT/suites/teams/broken.lua"
}

@test "teams: with one rank in each the protocol is SCMEL: the same is logged and carried; all in one team log nothing" {
    local counts=$BATS_TEST_TMPDIR/counts protocol size
    for size in 1 4; do
        for protocol in scmel teams; do
            LOGGING_COUNTS=$counts.$protocol.$size TEAMS_EVERY=4 SCMEL_EVERY=4 TEAMS_SIZE=$size \
                FAULTLINE_STORE="$BATS_TEST_TMPDIR/$protocol.$size" \
                LD_PRELOAD="$IDLE:$BUILD/protocols/lib$protocol.so" timeout -k 5 120 mpiexec -n 4 \
                "$BUILD/programs/ring" --iterations 8 >"$BATS_TEST_TMPDIR/said"
            grep -q "^ring: 8 laps" "$BATS_TEST_TMPDIR/said"
        done
    done
    # Messages, bytes logged, and determinants made; how often these are carried is a matter of time.
    first() { sort "$1" | cut -d ' ' -f 1-4,6; }
    [ "$(first "$counts.scmel.1")" = "$(first "$counts.teams.1")" ]
    [ "$(first "$counts.scmel.4" | cut -d ' ' -f 1,2)" = "$(first "$counts.teams.4" | cut -d ' ' -f 1,2)" ]
    [ "$(cut -d ' ' -f 3,6,7 "$counts.teams.4" | sort -u)" = "0 0 0" ]
}
