#!/usr/bin/env bats
# Simple protocols that race for files of the store: what they did is replayed, though nobody asked
# for the store to be watched.

bats_require_minimum_version 1.5.0
load driver_common

# replays PROGRAM WHERE: a run with a kill there, and one without, each replayed five times.
replays() {
    cat >s.lua <<END
for _, where in ipairs { false, { $2 } } do
  scenario("$1: " .. (where and "a kill" or "no crash")) {
    protocol = "null", program = "$BUILD/tests/mpi/$1", ranks = 3, claims = { "H.progress" },
    plan = function(p) if where then p:kill(where) end end,
  }
end
END
    "$FAULTLINE" run --keep s.lua
    cp -rL faultline-out/latest kept-runs
    run -0 "$FAULTLINE" replay --repeat 5 kept-runs/1 kept-runs/2
    [[ "$output" == *"# kept-runs/1: replayed 5/5"* ]]
    [[ "$output" == *"# kept-runs/2: replayed 5/5"* ]]
}

@test "who makes a folder first leads: the same rank leads again" {
    replays store_mkdir 'rank = 1, event = "recv", nth = 3'
}

@test "all rename over one file, and find there what they found then" {
    replays store_rename 'rank = 0, event = "open", nth = 6'
}

@test "a file that is looked for over and over is there after as many looks" {
    replays store_poll 'rank = 1, event = "recv", nth = 3'
}
