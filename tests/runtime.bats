#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# What a process does with a run that is odd: no rank, no slot, no room; and payload hashes.

setup_file() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    export REPO BUILD TOOLS=$BATS_FILE_TMPDIR PROGRAM=$BUILD/tests/mpi/runtime_life
    unset FAULTLINE_RUN FAULTLINE_RANK FAULTLINE_RANKS FAULTLINE_RECORD FAULTLINE_HASH
    cc -std=c11 -D_GNU_SOURCE -I"$REPO/harness" -o "$TOOLS/dump" "$REPO/tests/taps/dump.c" \
        "$REPO/harness/trace/record.c" "$REPO/harness/trace/calls.c"
}

setup() {
    cd "$BATS_TEST_TMPDIR" && mkdir run
}

# alone NAME=VALUE... -- ARGUMENT...: the program as a rank of ./run; what it says in `output`.
alone() {
    local settings=()
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    run env FAULTLINE_RUN="$PWD/run" "${settings[@]}" LD_PRELOAD="$BUILD/libfaultline.so" \
        timeout 60 "$PROGRAM" "$@"
}

says() {
    grep -qF -- "$1" <<<"$output"
}

# header FIRST: the 32-bit number at that place of the only trace's header; see struct trace_header.
header() {
    od -An -td4 -j "$1" -N 4 run/trace/*.trace | tr -d ' '
}

@test "a rank alone leaves a closed trace with its name" {
    alone FAULTLINE_RANK=3 FAULTLINE_RANKS=4 -- plain
    [ "$status" -eq 0 ]
    [ "$output" = "runtime_life: rank 0 ok" ] || says "rank 0 of MPI_COMM_WORLD was started as rank 3"
    [ "$(ls run/trace)" = r3.0.trace ]
    [ "$(header 16)" -eq 3 ] && [ "$(header 24)" -eq 4 ] && [ "$(header 72)" -eq 1 ]
    [ "$(header 76)" -eq 0 ] && [ "$(header 80)" -eq 1 ]
    [ "$(ls run)" = "$(printf 'board\ntrace')" ]
}

@test "without a rank it says what it looked at, and the program runs" {
    alone -- plain
    [ "$status" -eq 0 ]
    says "none of FAULTLINE_RANK, PMI_RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK, SLURM_PROCID"
    [ ! -e run/trace ]
}

@test "the launcher's number of the rank, and of how many, counts: not that of a launcher around it" {
    alone OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 PMIX_RANK=2 SLURM_PROCID=0 SLURM_NTASKS=8 \
        -- plain
    [ "$status" -eq 0 ]
    [ "$(ls run/trace)" = r2.0.trace ]
    [ "$(header 16)" -eq 2 ] && [ "$(header 24)" -eq 3 ]
}

@test "a rank that the board has no slot for is named" {
    alone FAULTLINE_RANK=1024 -- plain
    [ "$status" -eq 0 ]
    says "rank 1024 has no slot on the board, which is for 1024 ranks"
}

@test "a foreign file in the place of the board is named" {
    echo "not a board" >run/board
    alone FAULTLINE_RANK=0 -- plain
    [ "$status" -eq 0 ]
    says "run/board is not a board"
}

@test "a plan that cannot be read is named, with its line" {
    printf 'await event=send\nkill victims=0 event=sent\n' >run/plan
    alone FAULTLINE_RANK=0 -- plain
    [ "$status" -eq 0 ]
    says "run/plan:2: unknown event \"sent\"; did you mean \"send\"?"
}

@test "a program that runs itself again is recorded once" {
    alone FAULTLINE_RANK=0 -- again
    [ "$status" -eq 0 ]
    says "rank 0 already has a trace in incarnation 0"
    [ "$(ls run/trace | wc -l)" -eq 1 ]
}

@test "an unknown way of hashing: the accepted ones are named" {
    alone FAULTLINE_RANK=0 FAULTLINE_HASH=md5 -- plain
    [ "$status" -eq 0 ]
    says "FAULTLINE_HASH=md5; accepted are none, sample, full; taken is sample"
    [ "$(header 84)" -eq 1 ]
}

# Ranks that start at once and find no board make one, and only one.
@test "ranks that make the board together share it" {
    local -a started=()
    for rank in 0 1 2 3; do
        FAULTLINE_RUN=$PWD/run FAULTLINE_RANK=$rank LD_PRELOAD=$BUILD/libfaultline.so \
            timeout 60 "$PROGRAM" plain >/dev/null 2>&1 &
        started+=($!)
    done
    wait "${started[@]}"
    [ "$(ls run)" = "$(printf 'board\ntrace')" ]
    [ "$(ls run/trace | wc -l)" -eq 4 ]
    # slot.state, 8 bytes into each 256-byte slot: all four are finalized on the one board
    local slots
    slots=$(($(stat -c %s run/board) - 1024 * 256))
    for rank in 0 1 2 3; do
        [ "$(od -An -tu4 -j $((slots + rank * 256 + 8)) -N 4 run/board | tr -d ' ')" -eq 5 ]
    done
}

# A disk of 1 MiB, seen by this one process; its trace is copied out before it is gone.
@test "no room for the whole trace: the program goes on, what is lost is counted" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    alone FAULTLINE_RANK=0 -- plain
    local board
    board=$(stat -c %s run/board)
    run timeout 60 unshare -m sh -c "mount -t tmpfs -o size=1m none run &&
        { FAULTLINE_RUN=$PWD/run FAULTLINE_RANK=0 LD_PRELOAD=$BUILD/libfaultline.so $PROGRAM many
          echo status \$?; cp -r run saved; }"
    says "status 0"
    says "rank 0: trace $PWD/run/trace/r0.0.trace cannot grow: No space left on device;"
    [ "$(grep -c "records after this are lost" <<<"$output")" -eq 1 ]
    rm -rf run && mv saved run
    [ "$(header 76)" -gt 10000 ]
    [ "$(stat -c %s run/trace/r0.0.trace)" -lt 1048576 ]
    # slot.lost, 176 bytes into the slot
    [ "$(od -An -tu4 -j $((board - 1024 * 256 + 176)) -N 4 run/board | tr -d ' ')" -eq 1 ]
}

@test "records that are lost are told by exec, and by trace with its status" {
    run timeout 60 "$BUILD/faultline" exec --trace told -- \
        env FAULTLINE_RANKS=2 sh -c "FAULTLINE_RANK=0 $PROGRAM closes && FAULTLINE_RANK=1 $PROGRAM plain"
    [ "$status" -eq 0 ]
    says "cannot grow: "
    says "the trace of rank 0 in incarnation 0 is incomplete: "
    run --separate-stderr timeout 60 "$BUILD/faultline" trace --limit 1 told
    [ "$status" -eq 3 ]
    lost=$(od -An -tu4 -j 76 -N 4 told/trace/r0.0.trace | tr -d ' ')
    [ "$stderr" = "faultline: the trace of rank 0 in incarnation 0 is incomplete: $lost records lost" ]
}

# All but the standard ones are closed before MPI_Init; a file of the program takes the upper half.
@test "a program that closes what it did not open, and gets the number: its file is not touched" {
    alone FAULTLINE_RANK=0 -- closes
    [ "$status" -eq 0 ]
    [ "$(cat precious)" = precious ]
    says "cannot grow: the program has closed its file descriptor; records after this are lost"
    [ "$(header 72)" -eq 1 ] && [ "$(header 76)" -gt 1000 ]
}

hashes() {
    "$TOOLS/dump" run/trace/*.trace >dump
    grep -E "kind=$1 .* bytes=$2 " dump | grep -o ' hash=[0-9a-f]*' | sort -u
}

@test "the same bytes have the same hash, whatever the datatype, at both levels and both ends" {
    for mode in sample full; do
        rm -rf run && mkdir run
        alone FAULTLINE_RANK=0 FAULTLINE_HASH=$mode -- payloads
        [ "$status" -eq 0 ]
        [ "$(hashes send 1200000 | wc -l)" -eq 1 ]
        [ "$(hashes send 1200000)" = "$(hashes complete 1200000)" ]
        [ "$(grep -c 'kind=send .* bytes=1200000 ' dump)" -eq 14 ]
        [ "$(grep -c 'kind=complete .* bytes=1200000 .* flags=0 ' dump)" -eq 14 ]
        [ "$(hashes send 1200000)" != " hash=0" ]
    done
}

@test "a datatype with the handle of one that was freed has its own size" {
    alone FAULTLINE_RANK=0 -- payloads
    hashes send 8
    for bytes in 8 16 24; do
        [ "$(grep -c "kind=send .* tag=2 .* bytes=$bytes " dump)" -eq 2 ]
    done
}

# tagged KINDS TAG: the hashes in the records of that tag.
tagged() {
    grep -E "kind=($1) .* tag=$2 " dump | grep -o ' hash=[0-9a-f]*' | sort -u
}

@test "holes are no data, and a buffer that is overwritten by the call has two hashes" {
    alone FAULTLINE_RANK=0 -- payloads
    [ "$status" -eq 0 ]
    "$TOOLS/dump" run/trace/*.trace >dump
    for tag in 3 4 5; do
        [ "$(tagged send $tag | wc -l)" -eq 1 ]
        [ "$(tagged send $tag)" = "$(tagged 'recv|complete' $tag | grep -v 'hash=0$')" ]
    done
    [ "$(tagged send 4)" != "$(tagged send 5)" ]
}

@test "hashing off: no hashes, and it is said" {
    alone FAULTLINE_RANK=0 FAULTLINE_HASH=none -- payloads
    [ "$(hashes send 1200000)" = " hash=0" ]
    [ "$(grep -c 'kind=send .* bytes=1200000 .* flags=2 ' dump)" -eq 14 ]
}
