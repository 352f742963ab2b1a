#!/usr/bin/env bats
# The two taps: nothing missing, nothing changed for the program, and what is recorded is true. Each
# MPI program checks its own data; here its output and exit status are compared with those without
# the taps, and the trace with what must hold of any run (tests/taps/facts.lua).

setup_file() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    export REPO BUILD SO=$BUILD/libfaultline.so TOOLS=$BATS_FILE_TMPDIR
    unset FAULTLINE_RUN FAULTLINE_RANK FAULTLINE_RANKS FAULTLINE_RECORD FAULTLINE_HASH
    cd "$REPO/tests/taps" || return 1
    cc -std=c11 -D_GNU_SOURCE -I"$REPO/harness" -o "$TOOLS/dump" dump.c \
        "$REPO/harness/trace/record.c" "$REPO/harness/trace/calls.c" &&
        mpicc -shared -fPIC -I"$REPO/harness" -o "$TOOLS/protocol_pmpi.so" protocol.c &&
        mpicc -shared -fPIC -DCALLS_MPI '-DNEXT(name)=MPI_##name' -I"$REPO/harness" \
            -o "$TOOLS/protocol_mpi.so" protocol.c &&
        mpicc -shared -fPIC -DPART -o "$TOOLS/late_part.so" late.c &&
        cc -o "$TOOLS/late" late.c
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# bare RANKS PROGRAM ARGUMENT...: its sorted output in bare.out, status in bare_status.
bare() {
    local ranks=$1
    shift
    bare_status=0
    timeout 120 mpiexec -n "$ranks" "$@" >bare.all 2>&1 || bare_status=$?
    sort bare.all >bare.out
}

# tapped RANKS PROGRAM ARGUMENT...: the same under the taps, PRELOAD after them; trace in dump.
tapped() {
    local ranks=$1
    shift
    tapped_status=0
    rm -rf run && mkdir run
    FAULTLINE_RUN=$PWD/run timeout 120 mpiexec -n "$ranks" -genv LD_PRELOAD "$SO${PRELOAD:+:$PRELOAD}" \
        "$@" >tapped.all 2>&1 || tapped_status=$?
    sort tapped.all >tapped.out
    "$TOOLS/dump" run/trace/*.trace >dump
}

facts() {
    lua5.4 "$REPO/tests/taps/facts.lua" "$@" <dump
}

# The two below are functions because bats does not look at the status of `! command`.
broken_facts() {
    ! facts "$@"
}

absent() {
    ! grep -E "$1" "$2"
}

same() {
    diff bare.out tapped.out && [ "$bare_status" -eq "$tapped_status" ]
}

# transparent RANKS PROGRAM ARGUMENT...
transparent() {
    bare "$@" && tapped "$@" && same && [ "$tapped_status" -eq 0 ] && facts
}

# --- nothing is missing ---------------------------------------------------------------------------

library() {
    ldd "$BUILD/tests/mpi/taps_life" | awk '/libmpi/ { print $3; exit }'
}

functions_of() {
    nm -D --defined-only "$1" | awk '$2 ~ /[TW]/ { sub(/@.*/, "", $3); print $3 }' |
        grep -E '^P?MPIX?_' | sort
}

@test "every MPI function of the library is defined by both taps" {
    functions_of "$(library)" >theirs
    functions_of "$SO" >ours
    [ "$(grep -c '^MPI' theirs)" -gt 600 ]
    diff theirs ours
}

@test "only MPI and faultline_ functions are exported, and libc's on files, signals, time, chance, environment, and UCX's one on waiting" {
    nm -D --defined-only "$SO" | awk '{ print $3 }' | grep -vE '^(P?MPIX?_|faultline_)' |
        sort >others
    { grep -ohE 'X\([a-z0-9_]+\)' "$REPO/injectors/storage/storage_real.h" \
        "$REPO/injectors/system/signals.c" "$REPO/engine/time/time.c" | tr -d 'X()' | grep -v '^name$'
        printf '%s\n' PMIx_Abort __open_2 __open64_2 __openat_2 __openat64_2 getrandom getentropy \
            arc4random arc4random_buf arc4random_uniform getenv ucp_worker_progress; } | sort >files
    diff files others
}

@test "libfaultline.so links nothing but libc" {
    run bash -c "objdump -p '$SO' | awk '/NEEDED/ { print \$2 }' | grep -vE '^(libc|libdl)\.so'"
    [ -z "$output" ]
}

@test "the taps define MPI_X and PMPI_X as two functions" {
    [ "$(nm -D "$SO" | awk '$3 == "MPI_Send" || $3 == "PMPI_Send" { print $1 }' | sort -u | wc -l)" -eq 2 ]
}

generate() {
    lua5.4 "$REPO/injectors/generate/generate.lua" mpicc "$1" "$PWD"
}

@test "the generator stops at a function without a prototype" {
    nm -D --defined-only "$(library)" >exports
    echo "0000 T MPI_Unheard_of" >>exports
    FAULTLINE_EXPORTS=exports run generate "$REPO/harness/trace/calls.def"
    [ "$status" -eq 1 ]
    [[ $output == *"MPI_Unheard_of: no prototype in mpi.h"* ]]
    [ ! -e library_table.h ]
}

@test "the generator stops at a function that is not in calls.def" {
    grep -v MPIX_Comm_shrink "$REPO/harness/trace/calls.def" >calls.def
    run generate calls.def
    [ "$status" -eq 1 ]
    [[ $output == *"MPIX_Comm_shrink: not in calls.def"* ]]
}

@test "the generator stops at a role whose parameters are absent" {
    sed 's/CALL(MPI_Barrier, COLLECTIVE, BARRIER)/CALL(MPI_Barrier, SEND, NONE)/' \
        "$REPO/harness/trace/calls.def" >calls.def
    run generate calls.def
    [ "$status" -eq 1 ]
    [[ $output == *"MPI_Barrier has no parameter 'buf', which role SEND needs"* ]]
}

@test "what calls.def knows beyond the installed library is skipped" {
    cp "$REPO/harness/trace/calls.def" calls.def
    echo "CALL(MPI_Of_tomorrow, CALL, NONE)" >>calls.def
    generate calls.def
    absent Of_tomorrow library_table.h
}

# --- nothing is changed, and what is recorded is true ---------------------------------------------

@test "messages in all forms" {
    transparent 3 "$BUILD/tests/mpi/taps_messages"
    # blocking, ready, synchronous, buffered; matched; to nobody; wildcard
    for call in MPI_Send MPI_Rsend MPI_Ssend MPI_Bsend MPI_Send_c MPI_Sendrecv_replace; do
        grep -q "level=wire kind=send call=$call " dump
    done
    grep -q 'kind=recv call=MPI_Imrecv .* flags=8 ' dump
    grep -q 'kind=send call=MPI_Send .* peer=-1 ' dump
    grep -q 'kind=recv call=MPI_Imrecv .* peer=-1 .* want_peer=-1 ' dump
    grep -q 'kind=complete call=MPI_Waitall .* peer=-1 ' dump
    grep -q 'kind=recv call=MPI_Recv .* want_peer=-2 want_tag=-2 ' dump
    grep -q 'kind=probe call=MPI_Improbe' dump
}

@test "requests completed in all forms" {
    transparent 2 "$BUILD/tests/mpi/taps_requests"
    for call in MPI_Wait MPI_Waitall MPI_Waitany MPI_Waitsome MPI_Test MPI_Testall MPI_Testany \
        MPI_Testsome; do
        grep -q "level=app kind=complete call=$call " dump
    done
    grep -q 'kind=complete call=MPI_Wait .* flags=1 ' dump          # cancelled
    grep -q 'kind=complete call=MPI_Request_free .* flags=64 ' dump # freed
    grep -q 'kind=send call=MPI_Ssend_init .* flags=128 ' dump      # persistent, started
    grep -q 'kind=complete call=MPI_Wait .* bytes=16 .* error=14 ' dump ||
        grep -q 'kind=complete call=MPI_Wait .* error=14 ' dump # too long
}

@test "communicators have the same id on all members, and each its own" {
    transparent 4 "$BUILD/tests/mpi/taps_communicators"
    # 12 are made by all four ranks; a pair of ids never belongs to one rank and moment
    awk '/level=app kind=comm/ { print $1, $8 }' dump | sort | uniq -d >twice
    [ ! -s twice ]
    [ "$(grep -c 'rank=0 .*level=app kind=comm' dump)" -eq 22 ]
    grep -q 'kind=comm call=MPI_Intercomm_create .* flags=16 ' dump
    grep -q 'level=wire kind=group .* members=1,0,-1' dump
}

@test "collectives, blocking, non-blocking, persistent, among neighbours" {
    transparent 3 "$BUILD/tests/mpi/taps_collectives"
    for operation in BARRIER BCAST SCATTER SCATTERV GATHER GATHERV REDUCE ALLGATHER ALLGATHERV \
        ALLTOALL ALLTOALLV ALLTOALLW ALLREDUCE REDUCE_SCATTER REDUCE_SCATTER_BLOCK SCAN EXSCAN \
        NEIGHBOR_ALLGATHER NEIGHBOR_ALLGATHERV NEIGHBOR_ALLTOALL NEIGHBOR_ALLTOALLV \
        NEIGHBOR_ALLTOALLW; do
        grep -qi "level=wire kind=collective .*operation=$operation " dump
    done
    # bytes: a root that scatters gives all blocks, the others nothing
    [ "$(awk '/level=app .*call=MPI_Scatter operation/ && /rank=2/ && / peer=2 /' dump |
        grep -c ' bytes=12 ')" -eq 1 ]
    [ "$(awk '/level=app .*call=MPI_Scatter operation/ && /rank=1/ && / peer=2 /' dump |
        grep -c ' bytes=0 hash=0 ')" -eq 1 ]
}

@test "MPI-IO, windows, callbacks, generalized and partitioned requests, the tools interface" {
    bare 2 "$BUILD/tests/mpi/taps_rest" "$PWD/data"
    tapped 2 "$BUILD/tests/mpi/taps_rest" "$PWD/data"
    same && [ "$tapped_status" -eq 0 ]
    facts
    grep -q 'level=wire kind=call call=MPI_File_write_all ' dump
    # what the library and the callbacks call inside is nobody's call
    absent 'call=MPI_(Type_size|Type_get_extent|Alltoall|Gather|Status_set_elements)' dump
}

@test "several threads sending at once" {
    transparent 2 "$BUILD/tests/mpi/taps_threads"
    grep -q skipped tapped.out || [ "$(grep -o 'thread=[0-9]*' dump | sort -u | wc -l)" -ge 5 ]
}

@test "a receive that one thread cancels while another tests it was not delivered" {
    transparent 2 "$BUILD/tests/mpi/taps_cancel"
    grep -q skipped tapped.out || [ "$(grep -c 'level=wire kind=complete call=MPI_Test .* flags=1 ' dump)" -eq 300 ]
    absent 'kind=complete call=MPI_Test .* flags=0 ' dump
}

@test "a Fortran program" {
    transparent 2 "$BUILD/tests/mpi/taps_fortran"
    grep -q 'level=app kind=send call=MPI_Isend ' dump
    grep -q 'level=app kind=recv .* want_peer=-2 want_tag=-2 ' dump
}

# --- the edges of a program's life ----------------------------------------------------------------

# Ranks die in an order of their own: their numbers in messages are taken out. So is what MPI_Abort
# prints: without Faultline, too, mpiexec ends in about 1 of 150 runs before it has passed the line on.
edge() {
    bare 2 "$BUILD/tests/mpi/taps_life" "$1"
    tapped 2 "$BUILD/tests/mpi/taps_life" "$1"
    [ "$bare_status" -eq "$tapped_status" ]
    sed -E 's/(node|rank|process|PID|code|\() *[0-9]+/\1/g' bare.out | grep -v '^Abort(' | sort -u >bare.plain
    sed -E 's/(node|rank|process|PID|code|\() *[0-9]+/\1/g' tapped.out | grep -v '^Abort(' | sort -u >tapped.plain
    diff bare.plain tapped.plain
}

# The same with one rank and without mpiexec, which does not always report how ranks ended. Also without
# Faultline it dies of SIGPIPE in 1 of 200 jobs whose ranks end at once in an error of MPI, and it
# reports another status than the ranks' in 1 of 30 jobs whose ranks exit without MPI_Finalize.
alone() {
    bare_status=0 tapped_status=0
    rm -rf run && mkdir run
    "$BUILD/tests/mpi/taps_life" "$1" >bare.out 2>&1 || bare_status=$?
    FAULTLINE_RUN=$PWD/run FAULTLINE_RANK=0 LD_PRELOAD=$SO "$BUILD/tests/mpi/taps_life" "$1" \
        >tapped.out 2>&1 || tapped_status=$?
    "$TOOLS/dump" run/trace/*.trace >dump
    [ "$bare_status" -eq "$tapped_status" ]
    diff <(grep -v '^Abort(' bare.out) <(grep -v '^Abort(' tapped.out)
}

@test "MPI before MPI_Init and after MPI_Finalize is MPI's own error" {
    alone early
    [ "$tapped_status" -ne 0 ]
    grep -q 'kind=call call=MPI_Send .* leave=0' dump
    alone late
    [ "$tapped_status" -ne 0 ]
    grep -q 'kind=call call=MPI_Comm_size .* leave=0' dump
}

@test "what may be asked before and after is answered" {
    edge asked
    [ "$tapped_status" -eq 0 ]
    facts
}

@test "a rank that forks goes on, its children write nothing" {
    edge fork
    [ "$tapped_status" -eq 0 ]
    facts
    [ "$(ls run/trace | wc -l)" -eq 2 ]
    [ "$(grep -c 'rank=0 .*level=app kind=send' dump)" -eq 3 ]
}

@test "MPI_Abort ends the job as it does without us" {
    edge abort
    grep -q 'kind=call call=MPI_Abort .* leave=0' dump
}

@test "exit without MPI_Finalize" {
    alone exit
    [ "$tapped_status" -eq 3 ]
    grep -q 'level=app .*call=MPI_Sendrecv ' dump
}

@test "taps loaded, recording off" {
    mkdir run
    FAULTLINE_RUN=$PWD/run FAULTLINE_RECORD=0 timeout 120 mpiexec -n 3 -genv LD_PRELOAD "$SO" \
        "$BUILD/tests/mpi/taps_messages"
    [ ! -e run/trace ]
}

@test "a process without MPI is left alone" {
    mkdir run
    FAULTLINE_RUN=$PWD/run FAULTLINE_RANK=0 LD_PRELOAD=$SO sh -c 'true'
    [ -z "$(ls run)" ]
}

@test "an MPI library that is opened late works, unrecorded" {
    FAULTLINE_RUN=$PWD/run timeout 60 mpiexec -n 2 -genv LD_PRELOAD "$SO" "$TOOLS/late" \
        "$TOOLS/late_part.so"
}

@test "a rank that waits inside MPICH over UCX gives the processor to the others" {
    ldd "$(library)" | grep -q libucp || skip "this MPI library is not built over UCX"
    tapped 1 "$BUILD/tests/mpi/taps_idle"
    [ "$(cat tapped.out)" = "asked in vain: gave the processor away, got: 7" ]
}

# --- a protocol in between ------------------------------------------------------------------------

# between PROTOCOL.so: both levels of rank 0, in order, as "level kind call tag".
between() {
    PRELOAD=$1 tapped 2 "$BUILD/tests/mpi/taps_between"
    cat tapped.out
    [ "$tapped_status" -eq 0 ]
    facts --protocol
    awk '/^rank=0 / && /kind=(send|collective|complete) / {
        split($3, l, "="); split($4, k, "="); split($5, c, "="); split($10, t, "=")
        print l[2], k[2], c[2], t[2] }' dump >seen
}

@test "a protocol that calls PMPI_X: both levels are recorded" {
    between "$TOOLS/protocol_pmpi.so"
    diff seen - <<'SEEN'
app send MPI_Send 5
wire send MPI_Send 999
wire send MPI_Send 5
wire send MPI_Sendrecv 0
app collective MPI_Barrier 0
wire collective MPI_Allreduce 0
wire collective MPI_Barrier 0
app collective MPI_Bcast 0
wire collective MPI_Bcast 0
SEEN
}

@test "a protocol that calls MPI_Y inside its MPI_X is not the application" {
    between "$TOOLS/protocol_mpi.so"
    diff seen - <<'SEEN'
app send MPI_Send 5
wire send MPI_Send 999
wire send MPI_Isend 5
wire complete MPI_Wait 0
wire send MPI_Sendrecv 0
app collective MPI_Barrier 0
wire collective MPI_Allreduce 0
wire collective MPI_Barrier 0
app collective MPI_Bcast 0
wire collective MPI_Bcast 0
SEEN
}

@test "a communicator of the protocol's own is what it stands for" {
    between "$TOOLS/protocol_pmpi.so"
    made=$(awk '/level=app kind=comm / && /rank=0/ { print $8 }' dump)
    [ -n "$made" ]
    grep -q "rank=0 .*level=app kind=send call=MPI_Send .*$made peer=1 " dump
    grep -q "rank=1 .*level=app kind=recv call=MPI_Recv .*$made peer=0 " dump
    grep -q 'level=app kind=group .* members=0,1,-1' dump
}

# --- the tests themselves -------------------------------------------------------------------------

@test "the facts are seen to be broken when they are" {
    tapped 2 "$BUILD/tests/mpi/taps_requests"
    facts
    cp dump whole
    # a payload that changed under way, at both levels
    sed -E '/rank=1 .*kind=recv call=MPI_Recv .* bytes=4/s/hash=[0-9a-f]+/hash=1/' whole >dump
    broken_facts
    # a delivery that is missing, a level that is missing one call, a call that never ended
    sed '0,/kind=complete call=MPI_Waitall .* comm=1 /{/kind=complete call=MPI_Waitall .* comm=1 /d}' \
        whole >dump
    broken_facts
    sed '0,/level=wire kind=send/{/level=wire kind=send/d}' whole >dump
    broken_facts
    sed '0,/level=wire kind=call/s/\(level=wire kind=call.*\)leave=[0-9]*/\1leave=0/' whole >dump
    broken_facts
    tapped 3 "$BUILD/tests/mpi/taps_collectives"
    facts
    sed -E '0,/call=MPI_Allreduce /s/(call=MPI_Allreduce .*result=)[0-9a-f]+/\1f/' dump >changed
    mv changed dump
    broken_facts
}

# In this program each rank gives the same value twice: from a buffer of its own, and in place.
@test "what a rank gives to a collective by MPI_IN_PLACE has the hash of what it gives by itself" {
    tapped 3 "$BUILD/tests/mpi/taps_collectives"
    for call in MPI_Allgather MPI_Gather MPI_Allreduce; do
        sed -nE "s/.*rank=([0-9]+) .*level=app .*call=$call .* hash=([0-9a-f]+) .*/\1 \2/p" dump | sort -u >hashes
        cat hashes
        [ "$(wc -l <hashes)" -eq 3 ]
    done
}
