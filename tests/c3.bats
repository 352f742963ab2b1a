#!/usr/bin/env bats
# The C3 protocol by itself: the programs under it without faults, every point-to-point call, what it
# refuses, and its files. Its scenarios are in suites/c3.

bats_require_minimum_version 1.5.0

setup_file() {
    ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$ROOT/build}
    case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
    # Ranks that wait give their processor to the others: nothing else of Faultline is loaded.
    export ROOT BUILD IDLE=$BUILD/tests/idle.so
    gcc -shared -fPIC -Wall -Wextra -Werror -I"$ROOT/harness" \
        -o "$BATS_FILE_TMPDIR/killer.so" "$ROOT/tests/suites/kill_at_note.c"
}

setup() {
    export FAULTLINE_STORE=$BATS_TEST_TMPDIR/store
    cd "$BATS_TEST_TMPDIR" || return 1
}

# job RANKS PROGRAM [ARGUMENT...]: under C3. KILLER may name a library to load in front. The launcher
# loses what a rank says last, so standard errors go to files words.RANK.
job() {
    local ranks=$1 program=$2
    shift 2
    timeout -k 5 120 mpiexec -n "$ranks" \
        -genv LD_PRELOAD "$IDLE:${KILLER:+$KILLER:}$BUILD/protocols/libc3.so" \
        sh -c 'exec "$@" 2>words.$PMI_RANK' sh "$program" "$@"
}

# says TEXT: a rank of the last job has said so.
says() {
    grep -qF -- "$1" words.* || {
        printf 'nobody says: %s\n' "$1"
        cat words.*
        return 1
    }
}

bare() {
    timeout -k 5 60 mpiexec -genv LD_PRELOAD "$IDLE" -n "$@"
}

# killed_at RANK NOTE NTH RANKS PROGRAM [ARGUMENT...]: the job dies there, or the test fails.
killed_at() {
    local status=0
    KILL_RANK=$1 KILL_NOTE=$2 KILL_NTH=$3 KILLER=$BATS_FILE_TMPDIR/killer.so \
        job "${@:4}" >killed 2>&1 || status=$?
    if [ "$status" = 0 ] || [ "$status" = 124 ]; then
        echo "rank $1 was not killed at $2 number $3: exit status $status"
        return 1
    fi
}

same() {
    [ "$1" = "$2" ] || {
        printf 'expected: %s\nactual:   %s\n' "$1" "$2"
        return 1
    }
}

@test "programs have the results that they have without a protocol" {
    for program in ring master_worker laplace cg neuron tally; do
        expected=$(bare 3 "$BUILD/programs/$program")
        for form in epoch color; do
            rm -rf "$FAULTLINE_STORE"
            same "$expected" "$(C3_EVERY=5 C3_PIGGYBACK=$form job 3 "$BUILD/programs/$program")"
        done
    done
}

@test "every point-to-point call, across lines of every length" {
    same "all as it should be" "$(bare 2 "$BUILD/tests/mpi/c3_calls")"
    for every in 1 2 3; do
        for form in epoch color; do
            rm -rf "$FAULTLINE_STORE"
            same "all as it should be" \
                "$(C3_EVERY=$every C3_PIGGYBACK=$form job 2 "$BUILD/tests/mpi/c3_calls")"
        done
    done
}

@test "killed between any two calls, everything is as it should be" {
    for nth in 1 4 9; do
        for rank in 0 1; do
            rm -rf "$FAULTLINE_STORE"
            C3_EVERY=2 killed_at $rank c3:after-log-rename $nth 2 "$BUILD/tests/mpi/c3_calls"
            same "all as it should be" "$(C3_EVERY=2 job 2 "$BUILD/tests/mpi/c3_calls")"
        done
    done
}

@test "a wildcard receive that is not complete when logging stops takes nobody's message" {
    for nth in 1 2 3 5 8; do
        for rank in 0 1; do
            rm -rf "$FAULTLINE_STORE"
            C3_EVERY=1 killed_at $rank c3:before-checkpoint $((nth + 1)) 2 \
                "$BUILD/tests/mpi/c3_waiting"
            same "all as it should be" "$(C3_EVERY=1 job 2 "$BUILD/tests/mpi/c3_waiting")"
        done
    done
}

# What went wrong here: a call that the library refuses took the place of one that is not done again.
@test "in recovery what the library refuses is refused again, also where the next call is not done again" {
    for nth in 1 2 3 5; do
        rm -rf "$FAULTLINE_STORE"
        C3_EVERY=1 killed_at 0 c3:before-checkpoint $((nth + 1)) 2 "$BUILD/tests/mpi/c3_refused_send"
        run -0 job 2 "$BUILD/tests/mpi/c3_refused_send"
    done
}

@test "a persistent collective call that is freed gives back the communicator that it had" {
    C3_EVERY=500 run -0 job 2 "$BUILD/tests/mpi/c3_many_calls"
    [[ "$output" == *"many calls: 0 wrong"* ]]
}

@test "what open receives, probes and cancelled receives came to, comes out again" {
    for act in long probe cancel cancelled; do
        rm -rf "$FAULTLINE_STORE"
        C3_EVERY=1 killed_at 0 c3:after-remove 1 3 "$BUILD/tests/mpi/c3_open" $act
        same "all as it should be" "$(C3_EVERY=1 job 3 "$BUILD/tests/mpi/c3_open" $act)"
    done
}

@test "a job of one rank" {
    same "$(bare 1 "$BUILD/programs/laplace")" "$(job 1 "$BUILD/programs/laplace")"
    killed_at 0 c3:after-remove 2 1 "$BUILD/programs/laplace" --iterations 100
    job 1 "$BUILD/programs/laplace" --iterations 100
}

@test "what is not supported is refused by its name" {
    declare -A named=([isendrecv]=MPI_Isendrecv [send_c]=MPI_Send_c
        [mrecv_c]=MPI_Mrecv_c [window]=MPI_Win_create [session]=MPI_Session_init
        [cancel]="MPI_Cancel of a send" [forget]="MPI_Request_free of an active receive"
        [pending]="not in registered state" [large_bcast_init]=MPI_Bcast_init_c
        [neighbour]=MPI_Neighbor_allgather [ineighbour]=MPI_Ineighbor_allgather
        [neighbour_init]=MPI_Neighbor_allgather_init [intercommunicator]=MPI_Intercomm_create
        [barrier_meanwhile]="MPI_Barrier while a non-blocking")
    for act in "${!named[@]}"; do
        rm -rf "$FAULTLINE_STORE"
        C3_EVERY=1 run job 2 "$BUILD/tests/mpi/c3_refused" "$act"
        [ "$status" != 0 ]
        [[ $output != *"not refused"* ]]
        says "${named[$act]}"
        says "not supported by the C3 protocol; supported: "
    done
}

@test "options are checked" {
    for wrong in C3_EVERY=0 C3_EVERY=x C3_PIGGYBACK=both; do
        export "${wrong?}"
        run job 1 "$BUILD/programs/laplace"
        unset "${wrong%%=*}"
        [ "$status" != 0 ]
        says "$wrong; accepted: "
    done
}

@test "folders of the store that are not there are made, also in one that is" {
    mkdir here
    FAULTLINE_STORE=$PWD/here/a/b job 2 "$BUILD/programs/ring" --iterations 200
    [ -e here/a/b/commit ]
}

# Until the folder above it is synced, a power failure may take a folder with all that is in it.
@test "the name of a folder of the store that is made is brought to stable storage" {
    mkdir here
    FAULTLINE_STORE=$PWD/here/a/b timeout 60 strace -y -e 'trace=/mkdir,fsync' -o calls \
        env LD_PRELOAD="$BUILD/protocols/libc3.so" "$BUILD/programs/laplace" --iterations 1
    grep -A 1 'mkdir.*here/a.* = 0$' calls | sed -E 's/.*(mkdir|fsync).*(here[^">]*).*/\1 \2/' >made
    diff made - <<<$'mkdir here/a\nfsync here\nmkdir here/a/b\nfsync here/a'
}

@test "what is missing or damaged ends the recovery with the file's name" {
    killed_at 1 c3:after-checkpoint 3 3 "$BUILD/programs/ring" --iterations 200
    cp -r "$FAULTLINE_STORE" good
    for file in log-2.rank-1 line-2.rank-2 commit; do
        rm -rf "$FAULTLINE_STORE" && cp -r good "$FAULTLINE_STORE"
        truncate -s -1 "$FAULTLINE_STORE/$file"
        run job 3 "$BUILD/programs/ring" --iterations 200
        [ "$status" != 0 ]
        says "$file"
    done
    rm -rf "$FAULTLINE_STORE" && cp -r good "$FAULTLINE_STORE"
    rm "$FAULTLINE_STORE/log-2.rank-0"
    run job 3 "$BUILD/programs/ring" --iterations 200
    [ "$status" != 0 ]
    says "log-2.rank-0"
    rm -rf "$FAULTLINE_STORE" && cp -r good "$FAULTLINE_STORE"
    same "$(bare 3 "$BUILD/programs/ring" --iterations 200)" \
        "$(job 3 "$BUILD/programs/ring" --iterations 200)"
}

@test "outside of lines each message is one message" {
    cat >s.lua <<LUA
scenario "ring" {
  protocol = "c3", program = "ring", ranks = 2, arguments = { "--size", 2000 },
  environment = { C3_EVERY = 1000 }, claims = { "H" },
}
LUA
    "$BUILD/faultline" run s.lua
    "$BUILD/faultline" trace faultline-out/latest/1 >trace
    app=$(grep -cE ' app .*MPI_Send ' trace)
    wire=$(grep -cE ' wire .*MPI_I?s?send ' trace)
    [ "$app" -ge 80 ]
    same "$app" "$wire"
    run ! grep -qE ' wire .*MPI_Pack ' trace
}
