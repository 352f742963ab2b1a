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
    # The path of what was not there is told in full.
    "$FAULTLINE" trace kept-runs/2 >trace
    [ "$(grep ENOENT trace | grep -c 'there-is-a-file-with-this-long-name-and-a-number-[0-9]')" -gt 0 ]
}

# Nothing asks for the store: its claims are H alone.
@test "the simplest protocol, with kills and without, is replayed 20 times of 20" {
    cp -r "$REPO/examples/own-protocol" own
    cd own
    make -s clean all PKG_CONFIG="PKG_CONFIG_PATH=$BUILD/pkgconfig pkg-config"
    sed -i 's/claims = { "H", "B" }/claims = { "H" }/' my.lua
    "$FAULTLINE" run --keep my.lua
    run -0 "$FAULTLINE" replay --repeat 5 faultline-out/latest/[1-4]
    [ "$(grep -c '^ok' <<<"$output")" -eq 20 ]
    [ "$(grep -c ': replayed 5/5$' <<<"$output")" -eq 4 ]
}

# differs HOW WHAT: the replay of a program that does another thing diverges, and says so.
differs() {
    STORE_DIFFERS=$1 "$FAULTLINE" replay kept >tap && return 1
    grep -qF -- "$2" tap
}

@test "another call on the store is named with its file, bytes and error" {
    cat >s.lua <<END
scenario "differs" { protocol = "null", program = "$BUILD/tests/mpi/store_differs", ranks = 1,
  claims = { "H.progress" } }
END
    "$FAULTLINE" run --keep s.lua
    cp -rL faultline-out/latest/1 kept
    differs bytes 'expected write of \"state-0\", 2 bytes; got write of \"state-0\", 5 bytes'
    differs error 'expected mkdir of \"other-0\"; got mkdir of \"made-0\", which fails with EEXIST'
    differs call 'expected rename of \"moved-0\"; got unlink of \"made-0\"'
}

@test "a run folder with a longer path: the store has a path as long, or it is said" {
    cat >s.lua <<END
scenario "poll" { protocol = "null", program = "$BUILD/tests/mpi/store_poll", ranks = 3,
  claims = { "H.progress" } }
END
    "$FAULTLINE" run --keep --out a s.lua
    run -0 "$FAULTLINE" replay --repeat 2 --out a-folder-with-a-longer-name a/latest/1
    [[ "$output" == *"replayed 2/2"* ]]
    run -2 "$FAULTLINE" replay --out "$(printf 'x%.0s' {1..150})" a/latest/1
    [[ "$output" == *"a/latest/1: the path of the checkpoint store had 128 bytes when the run was \
recorded, and has 256 below this folder"* ]]
}
