#!/usr/bin/env bats
# The programs and protocols by themselves, without Faultline: a stand-in kills ranks at named points.

bats_require_minimum_version 1.5.0

PROGRAMS="laplace cg neuron ring master_worker tally"

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
}

# bare RANKS PROGRAM [ARGUMENT...]: without a protocol.
bare() {
    timeout 60 mpiexec -genv LD_PRELOAD "$IDLE" -n "$@"
}

# job PROTOCOL PROGRAM [ARGUMENT...]: three ranks, or RANKS. KILLER may name a library to load in front,
# WORDS the files (.0, .1, .2) for what the ranks say on standard error.
job() {
    local protocol=$1 program=$2
    shift 2
    LD_PRELOAD='' timeout -k 5 60 mpiexec -n "${RANKS:-3}" \
        -genv LD_PRELOAD "$IDLE:${KILLER:+$KILLER:}$BUILD/protocols/lib$protocol.so" \
        ${WORDS:+sh -c 'exec "$@" 2>"$WORDS.$PMI_RANK"' sh} "$BUILD/programs/$program" "$@"
}

# killed_at RANK NOTE NTH PROTOCOL PROGRAM [ARGUMENT...]: the job dies there, or the test fails.
killed_at() {
    local status=0
    KILL_RANK=$1 KILL_NOTE=$2 KILL_NTH=$3 KILLER=$BATS_FILE_TMPDIR/killer.so \
        job "${@:4}" >"$BATS_TEST_TMPDIR/killed" 2>&1 || status=$?
    if [ "$status" = 0 ] || [ "$status" = 124 ]; then
        echo "rank $1 was not killed at $2 number $3: exit status $status"
        return 1
    fi
}

# same EXPECTED ACTUAL WHAT
same() {
    [ "$1" = "$2" ] || {
        printf '%s\nexpected: %s\nactual:   %s\n' "$3" "$1" "$2"
        return 1
    }
}

different() {
    [ "$1" != "$2" ] || {
        printf '%s\ntwice: %s\n' "$3" "$1"
        return 1
    }
}

# refuses PROTOCOL PROGRAM TEXT...: the job ends by itself, unsuccessfully, and says each text. The
# launcher may lose what a rank says right before MPI_Abort, so the ranks say it to files. ARGUMENTS:
# of the program.
refuses() {
    local protocol=$1 program=$2 said status=0
    local -x WORDS=$BATS_TEST_TMPDIR/words
    rm -f "$WORDS".*
    # shellcheck disable=SC2086 # a list of words
    said=$(job "$protocol" "$program" ${ARGUMENTS:-} 2>&1) || status=$?
    said+=$(cat "$WORDS".*)
    same 1 "$((status != 0 && status != 124))" "exit status $status of: $said"
    for text in "${@:3}"; do
        [[ $said == *"$text"* ]] || {
            printf 'not said: %s\nsaid: %s\n' "$text" "$said"
            return 1
        }
    done
}

# A line of laplace is committed in the store, another one is not.
a_stopped_run() {
    killed_at 0 blocking:before-commit 2 blocking laplace
    [ -f "$FAULTLINE_STORE/line-1.rank-0" ] && [ -f "$FAULTLINE_STORE/commit" ]
}

@test "programs: the same result on every run, with and without a protocol" {
    for program in $PROGRAMS; do
        first=$(bare 3 "$BUILD/programs/$program")
        [ -n "$first" ]
        same "$first" "$(bare 3 "$BUILD/programs/$program")" "$program, run again"
        same "$first" "$(job null "$program")" "$program under null"
        same "$first" "$(job blocking "$program")" "$program under blocking"
        rm -r "$FAULTLINE_STORE"
    done
}

@test "programs: 2 to 8 ranks" {
    for program in $PROGRAMS; do
        for ranks in 2 5; do
            run -0 bare "$ranks" "$BUILD/programs/$program" --iterations 6
            [[ $output == "$program: "* ]]
        done
    done
    run -0 bare 8 "$BUILD/programs/laplace" --iterations 6
}

@test "programs: options change the result, wrong ones are named with what is accepted" {
    for program in $PROGRAMS; do
        short=$(bare 2 "$BUILD/programs/$program" --iterations 5)
        long=$(bare 2 "$BUILD/programs/$program" --iterations 15)
        [ "$short" != "$long" ]
        run -64 bare 2 "$BUILD/programs/$program" --itertions 5
        [[ $output == *"$program: unknown option '--itertions'; accepted:"*"--iterations N"* ]]
        run -64 bare 2 "$BUILD/programs/$program" --iterations 0
        [[ $output == *"$program: not a number in range: '0'"*"--size N"* ]]
        run -64 bare 2 "$BUILD/programs/$program" --size
        [[ $output == *"$program: a number is missing after '--size'"* ]]
    done
    run -64 bare 1 "$BUILD/programs/ring"
    [[ $output == *"ring: needs at least 2 ranks, has 1"* ]]
}

@test "blocking: each program recovers from a death in the middle of a line" {
    for program in $PROGRAMS; do
        whole=$(bare 3 "$BUILD/programs/$program")
        killed_at 1 blocking:mid-write 3 blocking "$program"
        same "$whole" "$(job blocking "$program")" "$program"
        rm -r "$FAULTLINE_STORE"
    done
}

# Kills a rank of a running job at an arbitrary moment, from outside. The job may also be done by then.
killed_from_outside() {
    local rank=$((RANDOM % 3)) pids=$BATS_TEST_TMPDIR/pids job
    rm -rf "$pids" && mkdir "$pids"
    LD_PRELOAD='' PIDS=$pids BLOCKING_EVERY=1 timeout -k 5 60 mpiexec -n 3 \
        -genv LD_PRELOAD "$IDLE:$BUILD/protocols/libblocking.so" \
        sh -c 'echo $$ >"$PIDS/new.$PMI_RANK" && mv "$PIDS/new.$PMI_RANK" "$PIDS/$PMI_RANK" &&
               exec "$0" "$@"' "$@" >"$BATS_TEST_TMPDIR/killed" 2>&1 &
    job=$!
    while [ ! -s "$pids/$rank" ] && kill -0 $job 2>/dev/null; do sleep 0.01; done
    sleep "0.0$((RANDOM % 90 + 10))"
    kill -9 "$(cat "$pids/$rank")" 2>/dev/null || true
    wait $job || true
}

@test "blocking: kill -9 from outside at any moment, again and again, loses nothing" {
    whole=$(bare 3 "$BUILD/programs/ring" --iterations 200)
    for round in 1 2; do
        for death in 1 2 3; do
            killed_from_outside "$BUILD/programs/ring" --iterations 200
        done
        same "$whole" "$(BLOCKING_EVERY=1 job blocking ring --iterations 200)" "round $round"
        rm -r "$FAULTLINE_STORE"
    done
}

@test "blocking: a restart goes on from the newest committed line, not from the beginning" {
    a_stopped_run
    killed_at 0 restored 1 blocking laplace
    killed_at 1 blocking:before-load 1 blocking laplace
    # Lines 2, 3 and 4 are left to take: a fourth is never reached.
    run killed_at 2 saved 4 blocking laplace
    [[ $status = 1 && $output == *"was not killed"*"exit status 0" ]]
}

@test "blocking: BLOCKING_EVERY says how many potential checkpoints make a line" {
    BLOCKING_EVERY=7 job blocking laplace
    [ -f "$FAULTLINE_STORE/line-5.rank-2" ] && [ ! -e "$FAULTLINE_STORE/line-4.rank-2" ]
    BLOCKING_EVERY=ten refuses blocking laplace "BLOCKING_EVERY=ten; accepted: 1 to"
}

@test "cocheck: a migration of an unknown rank, or of a rank twice in a line, is refused" {
    export COCHECK_SKELETONS=1
    COCHECK_MIGRATE=2@1 refuses cocheck laplace "COCHECK_MIGRATE=2@1: no such rank"
    for moves in 1@1,1@1 1@1,0@1,1@1; do
        COCHECK_MIGRATE=$moves refuses cocheck laplace "COCHECK_MIGRATE=$moves: a rank twice in one line"
    done
}

@test "blocking: only the newest line is kept, and no temporary file" {
    a_stopped_run
    job blocking laplace
    run -0 ls "$FAULTLINE_STORE"
    same "commit line-4.rank-0 line-4.rank-1 line-4.rank-2" "$(echo $output)" "the store"
}

@test "blocking: a commit record that is truncated, damaged, foreign or old is refused" {
    local commit=$FAULTLINE_STORE/commit
    a_stopped_run
    cp "$commit" "$BATS_TEST_TMPDIR/good"

    head -c 30 "$BATS_TEST_TMPDIR/good" >"$commit"
    refuses blocking laplace "rank 0" "$commit: truncated"
    : >"$commit"
    refuses blocking laplace "$commit: truncated: 0 bytes"
    echo "something else altogether, and long enough to be one" >"$commit"
    refuses blocking laplace "$commit: foreign" FLCOMMIT
    cp "$BATS_TEST_TMPDIR/good" "$commit"
    printf '\7' | dd of="$commit" bs=1 seek=24 conv=notrunc status=none
    refuses blocking laplace "$commit: damaged: its checksum does not match"
    cp "$BATS_TEST_TMPDIR/good" "$commit"
    printf '\0' | dd of="$commit" bs=1 seek=8 conv=notrunc status=none
    refuses blocking laplace "$commit: version 0" "accepted: 1"
    rm "$commit" && mkdir "$commit"
    refuses blocking laplace "$commit: not a regular file"

    rmdir "$commit" && cp "$BATS_TEST_TMPDIR/good" "$commit"
    same "$(bare 3 "$BUILD/programs/laplace")" "$(job blocking laplace)" "good again"
}

@test "blocking: a checkpoint that is missing, truncated, damaged or another's is refused" {
    local file=$FAULTLINE_STORE/line-1.rank-1
    a_stopped_run
    cp "$file" "$BATS_TEST_TMPDIR/good"

    rm "$file"
    refuses blocking laplace "rank 1" "$file: cannot open: No such file"
    head -c 1000 "$BATS_TEST_TMPDIR/good" >"$file"
    refuses blocking laplace "$file: truncated"
    cat "$BATS_TEST_TMPDIR/good" "$BATS_TEST_TMPDIR/good" >"$file"
    refuses blocking laplace "$file: too long"
    cp "$BATS_TEST_TMPDIR/good" "$file"
    printf '\7' | dd of="$file" bs=1 seek=500 conv=notrunc status=none
    refuses blocking laplace "$file: damaged"
    cp "$FAULTLINE_STORE/commit" "$file"
    refuses blocking laplace "$file: foreign" FLCKPT
    cp "$FAULTLINE_STORE/line-1.rank-2" "$file"
    refuses blocking laplace "$file: foreign: holds line 1 of rank 2, not line 1 of rank 1"
}

@test "blocking: a store of another program or another number of ranks is refused" {
    a_stopped_run
    refuses blocking ring "of another program: piece 1 is 'iteration' of 8 bytes, registered is 'lap'"
    RANKS=2 refuses blocking laplace \
        "$FAULTLINE_STORE/commit: of a job of 3 ranks, this one has 2"
    ARGUMENTS="--size 96" refuses blocking laplace "of another program: piece 3 is 'plate'"
}

@test "blocking: a store that cannot be written ends the job and says why" {
    touch "$FAULTLINE_STORE"
    refuses blocking laplace "$FAULTLINE_STORE" "Not a directory"
    rm "$FAULTLINE_STORE" && mkdir -p "$FAULTLINE_STORE/line-1.rank-2"
    refuses blocking laplace "rank 2" "line-1.rank-2.new: cannot rename"
}

@test "broken variants are broken: without Faultline, a restart of each goes wrong" {
    whole=$(bare 3 "$BUILD/programs/laplace")
    killed_at 0 blocking:before-commit 3 blocking-stale-piece laplace
    different "$whole" "$(job blocking-stale-piece laplace)" stale-piece
    rm -r "$FAULTLINE_STORE"

    killed_at 1 blocking:before-write 2 blocking-commit-before-save laplace
    # Of the ranks that have not saved what is committed, any may say so first.
    refuses blocking-commit-before-save laplace "/line-2.rank-" "cannot open: No such file"
    rm -r "$FAULTLINE_STORE"

    killed_at 0 blocking:before-write 2 blocking-restore-uncommitted tally
    refuses blocking-restore-uncommitted tally "ranks have saved different lines, 2 to 3"
    rm -r "$FAULTLINE_STORE"

    whole=$(bare 3 "$BUILD/programs/tally")
    killed_at 0 blocking:before-commit 2 blocking-no-barrier tally --slow-us 10000
    different "$whole" "$(job blocking-no-barrier tally)" no-barrier
}
