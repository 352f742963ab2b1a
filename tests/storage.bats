#!/usr/bin/env bats
# The checkpoint store: which calls are seen, what faults do to them, and what a power failure takes.

bats_require_minimum_version 1.5.0

setup_file() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=$(cd "$REPO" && realpath "${BUILD:-build}")
    export REPO BUILD FAULTLINE=$BUILD/faultline TESTS=$BUILD/tests/mpi
    unset FAULTLINE_RUN FAULTLINE_RANK FAULTLINE_RANKS FAULTLINE_STORE FAULTLINE_STORAGE
}

setup() {
    cd "$BATS_TEST_TMPDIR" && mkdir -p run/store
}

# alone [NAME=VALUE...] -- ARGUMENT...: storage_calls as the only rank of ./run.
alone() {
    local settings=()
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    run env FAULTLINE_RUN="$PWD/run" FAULTLINE_STORE="$PWD/run/store" FAULTLINE_RANK=0 \
        FAULTLINE_RANKS=1 "${settings[@]}" LD_PRELOAD="$BUILD/libfaultline.so" \
        timeout 120 "$TESTS/storage_calls" "$@"
}

# What was recorded of the store, a line each: call, path and what follows.
recorded() {
    "$FAULTLINE" trace run | grep -E ' self ' | grep -vE ' (note|fault) ' |
        awk '{ $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); print }'
}

# passes COUNT FILE [OPTION...]: all scenarios pass, and they are so many.
passes() {
    local status=0 passed
    timeout -k 10 900 "$FAULTLINE" run -j 2 --out out "${@:3}" "$2" >tap 2>said || status=$?
    grep -A 30 '^not ok' tap | head -200 || true
    cat said
    passed=$(grep '^ok' tap | grep -vc 'covers what it promises') || true
    echo "exit status $status, $passed of $1 pass"
    [ "$status" = 0 ] && [ "$passed" = "$1" ]
}

watched() {
    echo 'kill victims=0 event=write nth=1000000000 lose=node' >run/plan
}

fresh() {
    rm -rf run elsewhere
    mkdir -p run/store elsewhere
}

# In a run that has nothing to do with the store, recorded, and with what a `lose` needs.
for_each_way() {
    fresh
    alone -- "$1" && [ "$status" -eq 0 ]
    [ ! -e run/durable ] && [ "$(recorded)" = "" ]
    fresh
    alone FAULTLINE_STORAGE=1 -- "$1" && [ "$status" -eq 0 ]
    [ ! -e run/durable ] && [ "$(recorded)" != "" ]
    fresh
    watched
    alone -- "$1" && [ "$status" -eq 0 ]
    [ -s run/durable/journal ]
}

@test "every call does what libc promises, seen or not" {
    for_each_way calls
    recorded >lines
    cat lines
    grep -qx 'create "forms"' lines
    grep -qx 'write "forms", 10 bytes' lines
    grep -qx 'write "forms", 1 bytes at 2' lines
    grep -qx 'write-sync "forms", 2 bytes at 14' lines
    [ "$(grep -cx 'write "forms", .*' lines)" -eq 7 ]
    [ "$(grep -cx 'write-sync "through", 7 bytes' lines)" -eq 2 ]
    [ "$(grep -cx 'sync "forms"' lines)" -eq 2 ]
    grep -qx 'open-write "at", EEXIST' lines
    grep -qx 'write "at", 1 bytes' lines # through a descriptor that was dup'ed
    grep -qx 'open "none", ENOENT' lines
    grep -qx 'rename "sub/made"' lines
    grep -qx 'rename "made", ENOENT' lines
    grep -qx 'link "twin2"' lines
    grep -qx 'resize "twin", 2 bytes' lines
    grep -qx 'unlink "sub", ENOENT' lines
    grep -qx 'mkdir "sub2"' lines
    grep -qx 'resize "copy", 6 bytes, EINVAL' lines
    grep -qx 'sync-all "."' lines
}

@test "streams are seen, keep their descriptor, and are flushed at exit" {
    for_each_way streams
    recorded >lines
    cat lines
    grep -qx 'write "stream", 6 bytes' lines
    grep -qx 'sync "stream"' lines
    [ "$(cat run/store/at-exit)" = late ]
}

@test "mappings: msync is a sync" {
    for_each_way mapped
    recorded | grep -x 'sync "mapped"'
}

@test "threads, signal handlers and forked children use the store as ever" {
    for_each_way threads
    [ "$(recorded | grep -c '^write "thread-')" -eq 800 ]
    for_each_way signals
    for_each_way forks
    recorded >lines
    grep -qx 'create "forked"' lines
    run ! grep child lines # a forked child is not the rank
    grep -qa child run/durable/journal # but what it has not synced can be lost
}

@test "files elsewhere are not seen, but for what syncs all of a file system" {
    for_each_way elsewhere
    [ "$(recorded)" = 'sync-all "."' ]
}

@test "a store that links lead to is found" {
    mkdir real && ln -s "$PWD/real" link
    watched
    alone FAULTLINE_STORE="$PWD/link/deep" -- streams
    [ "$status" -eq 0 ]
    recorded | grep -x 'write "stream", 6 bytes'
}

@test "without FAULTLINE_STORE the plan's storage steps are said to be in vain" {
    watched
    alone FAULTLINE_STORE= -- plain
    [ "$status" -eq 0 ]
    [[ $output == *"FAULTLINE_STORE does not say where the checkpoint store is"* ]]
}

# durable SEQUENCE EXPECTED NAME STEP [VIOLATED]: appends a scenario of tests/mpi/steer/storage_durable.c.
durable() {
    local violated=nil
    [ -z "${5:-}" ] || violated="{ violates = \"$5\" }"
    cat >>s.lua <<END
scenario "$1: $3" { protocol = "null", program = "$TESTS/storage_durable", ranks = 1,
  arguments = { "$1", "$2" }, claims = { "H.progress" }, expect = $violated,
  plan = function(p) $4 end }
END
}

@test "a write to a file that is opened with O_SYNC or O_DSYNC is a write to the plan" {
    cat >s.lua <<END
for nth = 1, 2 do
  scenario("write " .. nth) { protocol = "null", program = "$TESTS/storage_calls", ranks = 1,
    claims = { "H.progress" }, plan = function(p)
      p:kill { rank = 0, event = "write", file = "through", nth = nth }
    end }
end
END
    passes 2 s.lua
}

# kill_at_every_call LOSE: around each call that replaces the old file by the new; the calls that
# made the old one come first.
kill_at_every_call() {
    local call position found
    for call in "open 3" "write 4" "write 5" "write 6" "sync 3" "rename 2" "open 4" "sync 4"; do
        for position in before after; do
            found=old
            [ "$call $position" = "sync 4 after" ] && found=new
            durable durable $found "$position $call, lose $1" \
                "p:kill { rank = 0, event = \"${call% *}\", nth = ${call#* },
                          position = \"$position\", lose = \"$1\" }"
        done
    done
    durable durable new "after all of it, lose $1" \
        "p:kill { rank = 0, event = \"phase\", name = \"new\", lose = \"$1\" }"
}

@test "the durable sequence leaves the old or the new at every call, whatever is lost" {
    kill_at_every_call rank
    kill_at_every_call node
    passes 34 s.lua
}

@test "the durable sequence torn at every write leaves the old" {
    local nth bytes lose
    for nth in 4 5 6; do
        for bytes in 0 5 1000000; do
            for lose in nil '"rank"' '"node"'; do
                durable durable old "write $nth torn at $bytes, lose ${lose//\"/}" \
                    "p:tear { rank = 0, event = \"write\", nth = $nth, bytes = $bytes,
                              lose = $lose }"
            done
        done
    done
    passes 27 s.lua
}

@test "a sequence without the sync of the file, of the folder, or in place is found out" {
    local lose
    for lose in rank node; do
        local kill="p:kill { rank = 0, event = \"phase\", name = \"new\", lose = \"$lose\" }"
        durable no-file-sync new "lose $lose" "$kill" H.progress
        durable no-folder-sync new "lose $lose" "$kill" H.progress
        durable in-place new "lose $lose" "$kill"
    done
    # What was lost was the name alone: the file before is back, whole.
    durable no-folder-sync old "the old is back" \
        'p:kill { rank = 0, event = "phase", name = "new", lose = "node" }'
    durable in-place new "torn" \
        'p:tear { rank = 0, event = "write", file = "file", bytes = 100 }' H.progress
    passes 8 s.lua
}

@test "a bit that is inverted after the last sync is found by the program that reads the file" {
    local flip='p:flip { rank = 0, event = "sync", nth = 3, byte'
    local kill='p:kill { rank = 0, event = "phase", name = "new" }'
    durable durable new "bit of byte 0 inverted" "$flip = 0 } $kill" H.progress
    passes 1 s.lua
    durable durable new "no byte there" "$flip = 1000000 } $kill"
    run -2 "$FAULTLINE" run --filter "no byte there" s.lua
    [[ $output == *"was never done: flip"* ]]
    durable durable new "bad byte" "$flip = -1 } $kill"
    run -64 "$FAULTLINE" run s.lua
    [[ $output == *'field "byte"'* ]]
}

# A checkpoint that is a folder, renamed to its final name, twice: what was not synced in the store
# itself is lost with all that is in it, and the one before is back.
@test "folders that are renamed over each other go back to what was synced" {
    local how synced
    for how in remove over exchange; do
        for synced in 0 1 2; do
            cat >>s.lua <<END
scenario "$how, $synced synced" { protocol = "null", program = "$TESTS/storage_folders", ranks = 1,
  arguments = { "$how", "$synced", "$synced" }, claims = { "H.progress" },
  plan = function(p)
    p:kill { rank = 0, event = "phase", name = "published", lose = "node" }
  end }
END
        done
    done
    passes 9 s.lua
}

@test "nothing is lost with a process alone" {
    durable no-file-sync new "a process dies" 'p:kill { rank = 0, event = "phase", name = "new" }'
    durable no-folder-sync new "a process dies" 'p:kill { rank = 0, event = "phase", name = "new" }'
    passes 2 s.lua
}

@test "blocking loses no committed line to storage that fails" {
    passes 47 "$REPO/suites/storage/blocking.lua" --engine step
    passes 10 "$REPO/suites/storage/blocking.lua" --engine mpiexec --shard 2/5
}

@test "c3 loses no committed line to storage that fails" {
    passes 25 "$REPO/suites/storage/c3.lua" --engine step
    passes 6 "$REPO/suites/storage/c3.lua" --engine mpiexec --shard 2/4
}

@test "Chandy-Lamport and CoCheck survive storage that fails" {
    passes 22 "$REPO/suites/storage/others.lua" --engine step
    passes 4 "$REPO/suites/storage/others.lua" --engine mpiexec --shard 2/6
}

@test "each promise to storage that is left out is found by the claim that is said" {
    passes 7 "$REPO/suites/storage/broken.lua"
}
