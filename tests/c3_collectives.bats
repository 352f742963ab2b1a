#!/usr/bin/env bats
# Collective calls under C3: their results without faults, what becomes of them in recovery, what is
# refused.

bats_require_minimum_version 1.5.0

setup() {
    ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=$(cd "$ROOT" && realpath "${BUILD:-build}")
    # Ranks that wait give their processor to the others: nothing else of Faultline is loaded.
    IDLE=$BUILD/tests/idle.so
    export FAULTLINE_STORE=$BATS_TEST_TMPDIR/store
    cd "$BATS_TEST_TMPDIR" || return 1
}

# job RANKS PROGRAM [ARGUMENT...]: under C3; standard errors go to files words.RANK.
job() {
    local ranks=$1 program=$2
    shift 2
    timeout -k 5 120 mpiexec -n "$ranks" -genv LD_PRELOAD "$IDLE:$BUILD/protocols/libc3.so" \
        sh -c 'exec "$@" 2>words.$PMI_RANK' sh "$program" "$@"
}

# passes COUNT [OPTION...]: so many scenarios of suites/c3/collectives.lua pass, and no other verdict.
passes() {
    local count=$1 passed status=0
    timeout -k 10 600 "$BUILD/faultline" run -j 2 --out out "${@:2}" \
        "$ROOT/suites/c3/collectives.lua" >tap 2>said || status=$?
    grep -A 30 '^not ok' tap | head -200 || true
    cat said
    passed=$(grep -c '^ok' tap) || true
    echo "exit status $status, $passed of $count pass"
    [ "$status" = 0 ] && [ "$passed" = "$count" ]
}

@test "every collective call has the result that it has without a protocol" {
    for ranks in 1 2 4; do
        expected=$(timeout -k 5 60 mpiexec -genv LD_PRELOAD "$IDLE" -n $ranks "$BUILD/programs/collectives")
        [[ $expected == *" 0 wrong" ]]
        for bits in separate piggyback auto; do
            rm -rf "$FAULTLINE_STORE"
            [ "$(C3_EVERY=3 C3_COLLECTIVE_BITS=$bits job $ranks \
                "$BUILD/programs/collectives")" = "$expected" ]
        done
    done
}

@test "calls that do not block, and persistent ones, have the same results" {
    expected=$(timeout -k 5 60 mpiexec -genv LD_PRELOAD "$IDLE" -n 3 "$BUILD/programs/collectives")
    for way in 1 2; do
        rm -rf "$FAULTLINE_STORE"
        [ "$(C3_EVERY=3 job 3 "$BUILD/programs/collectives" --nonblocking $way)" = "$expected" ]
    done
}

@test "how the bits are sent is checked" {
    C3_COLLECTIVE_BITS=both run job 1 "$BUILD/programs/collectives"
    [ "$status" != 0 ]
    grep -qF "C3_COLLECTIVE_BITS=both; accepted: separate, piggyback, auto" words.0
}

# One call of the program is one of the library, and one more where the bits go apart.
@test "the library's own call carries the data" {
    for bits in separate piggyback; do
        cat >s.lua <<LUA
scenario "bcast" {
  protocol = "c3", program = "collectives", ranks = 2,
  arguments = { "--iterations", 40, "--call", 2, "--messages", 0 },
  environment = { C3_EVERY = 1000, C3_COLLECTIVE_BITS = "$bits" }, claims = { "H" },
}
LUA
        "$BUILD/faultline" run s.lua
        "$BUILD/faultline" trace faultline-out/latest/1 >trace
        app=$(grep -cE ' app .*MPI_Bcast ' trace)
        wire=$(grep -cE ' wire .*MPI_Bcast ' trace)
        [ "$app" = 80 ]
        # Two more are of checkpoint_restore, which finds nothing.
        if [ $bits = piggyback ]; then
            [ "$wire" = $((app + 2)) ]
        else # but for communicators of one rank
            [ "$wire" -gt $((app + 2)) ] && [ "$wire" -le $((2 * app + 2)) ]
        fi
    done
}

@test "lines through every collective call, then a crash, on the step engine" {
    passes 88 --engine step
}

@test "every 22nd of these under mpiexec" {
    passes 4 --engine mpiexec --shard 2/22
}

# The row of the root of a gather in place is the root's own: it was what the heap had there.
@test "the same decisions give the same bytes in a gather in place, with the bits in front" {
    printf 'for i = 1, 3 do scenario("same " .. i) { protocol = "c3", program = "drawn", ranks = 5,
  engine = "step", claims = { "H" }, environment = { C3_COLLECTIVE_BITS = "auto", C3_EVERY = 3 },
  arguments = { "--seed", 955990839, "--iterations", 48, "--size", 54, "--inter", 0 } } end\n' >same.lua
    "$BUILD/faultline" run --keep --no-control --out same same.lua >/dev/null
    for i in 1 2 3; do
        "$BUILD/faultline" trace "same/latest/$i" | sed -n 's/.*MPI_Gather .*in place/&/p' |
            grep -o 'comm .*' >"$i"
    done
    [ -s 1 ]
    cmp 1 2
    cmp 1 3
}
