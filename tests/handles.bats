#!/usr/bin/env bats
# Communicators that survive a restart, and datatypes: the layer alone, under the smallest protocol
# that uses it (handles/layer.c). handles/communicators.c takes a line between any of its steps on
# each rank, is started again from it, and must have what it would have had, by the same handles.
bats_require_minimum_version 1.5.0

setup_file() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    # Ranks that wait give their processor to the others: nothing else of Faultline is loaded.
    export REPO BUILD IDLE=$BUILD/tests/idle.so TOOLS=$BATS_FILE_TMPDIR
    unset FAULTLINE_RUN FAULTLINE_RANK FAULTLINE_RANKS
    cd "$REPO" || return 1
    local protocols=suites/protocols
    lua5.4 $protocols/common/communicators/generate.lua mpicc "$TOOLS/wrappers.c" &&
        mpicc -std=c11 -D_GNU_SOURCE -shared -fPIC -fvisibility=hidden -Iharness -I$protocols \
            -o "$TOOLS/layer.so" tests/handles/layer.c $protocols/common/communicators/*.c \
            $protocols/common/base/bytes.c harness/base/error.c "$TOOLS/wrappers.c" &&
        mpicc -std=c11 -fPIE -pie -o "$TOOLS/communicators" tests/handles/communicators.c &&
        mpicc -std=c11 -fPIE -pie -o "$TOOLS/refused" tests/handles/refused.c &&
        mpicc -std=c11 -D_GNU_SOURCE -Iharness -I$protocols -o "$TOOLS/types" \
            tests/handles/types.c $protocols/common/communicators/types.c $protocols/common/base/bytes.c \
            harness/base/error.c &&
        cc -std=c11 -D_GNU_SOURCE -Iharness -o "$TOOLS/dump" tests/taps/dump.c \
            harness/trace/record.c harness/trace/calls.c
}

setup() {
    cd "$BATS_TEST_TMPDIR" && mkdir -p store
}

# layered RANKS PROGRAM ARGUMENT...
layered() {
    local ranks=$1
    shift
    timeout 60 mpiexec -n "$ranks" -genv LD_PRELOAD "$IDLE:$TOOLS/layer.so" "$@"
}

# The handles that all ranks have in the end.
numbers() {
    cat store/numbers.?
}

# reference: what a run without restart ends with.
reference() {
    layered 4 "$TOOLS/communicators" store 0 0 0 0 0 0
    numbers >reference
}

# from LINE SAVE CUT...: from that line on, with the next taken at these cuts, as if nothing had been.
from() {
    layered 4 "$TOOLS/communicators" store "$@"
    numbers | diff reference -
}

@test "communicators are used by numbers that MPICH has not given" {
    reference
    run ! grep -v '^0x4[01]' reference
    run -0 grep -c '^0x41' reference
    [ "$output" -ge 30 ]
}

@test "a line that no creation straddles" {
    reference
    from 0 1 12 12 12 12
    from 1 0 0 0 0 0
    from 0 1 6 6 6 6
    from 1 0 0 0 0 0
}

@test "a line that runs through creations: some ranks make them again, others not" {
    reference
    for cuts in "0 11 0 11" "11 0 11 0" "3 9 6 1" "8 2 11 5"; do
        # shellcheck disable=SC2086 # four numbers
        from 0 1 $cuts
        from 1 0 0 0 0 0
        from 1 0 0 0 0 0
    done
}

@test "the next line is taken before all that the first one ran through is called again" {
    reference
    from 0 1 0 11 2 9
    from 1 2 0 11 5 11
    from 2 0 0 0 0 0
    from 0 1 7 3 10 1
    from 1 2 7 8 11 1
    from 2 3 9 8 11 11
    from 3 0 0 0 0 0
}

@test "a rank that has stopped logging makes those stop that it makes a communicator with" {
    run -0 layered 3 "$TOOLS/refused" store stop-logging
    run ! grep -q failed <<<"$output"
}

# refused WHAT NAME: the test program does it, and the layer refuses it by that name.
refused() {
    rm -f refused
    run layered 2 "$TOOLS/refused" store "$1"
    [ "$status" -ne 0 ]
    grep -q "^$2 is refused; supported: " refused
}

@test "what could not be made again is refused by name" {
    refused idup MPI_Comm_idup
    refused intercomm MPI_Intercomm_create
    refused attribute MPI_Comm_set_attr
    refused attribute-copied MPI_Comm_dup
    refused handler MPI_Comm_set_errhandler
    refused phases MPI_Comm_dup
}

@test "what communicates is the protocol's to pass on" {
    refused communicates MPI_Bcast
}

@test "a handle that is freed is the library's to complain about" {
    run -0 layered 2 "$TOOLS/refused" store freed
    run ! grep -q 'not so' <<<"$output"
}

@test "every function with a communicator has a wrapper, strong or weak" {
    nm -D --defined-only "$TOOLS/layer.so" | awk '{ print $3 }' | grep '^MPIX\?_' | sort >defined
    echo '#include <mpi.h>' | mpicc -E -P -x c - | tr '\n' ' ' |
        grep -oE '\bint MPIX?_[A-Za-z0-9_]+ ?\([^()]*MPI_Comm[ *][^()]*\)' |
        sed -E 's/^int (MPIX?_[A-Za-z0-9_]+).*/\1/' | sort -u >declared
    # It returns MPI_COMM_NULL in a job that was not spawned.
    run -0 comm -23 declared defined
    [ "$output" = MPI_Comm_get_parent ]
    [ "$(wc -l <declared)" -gt 200 ]
}

@test "datatypes are written and built again" {
    run -0 "$TOOLS/types"
    [ "$output" = "types: rank 0 ok" ]
}

# identities: which communicators each rank has received its collectives' results on, as the
# program sees it, with how many members; from the trace of the last run.
identities() {
    "$TOOLS/dump" run/trace/*.trace | awk '
        / level=app kind=collective / { sub(/index=.*call=/, ""); sub(/ .* comm=/, " ");
                                        sub(/ peer=.*/, ""); print }' | sort -u
}

@test "Faultline knows a communicator by the same id in both incarnations" {
    export FAULTLINE_RUN=$PWD/run
    local preload=$BUILD/libfaultline.so:$TOOLS/layer.so
    mkdir run
    timeout 60 mpiexec -n 4 -genv LD_PRELOAD "$preload" "$TOOLS/communicators" store 0 1 3 9 6 11
    identities >first
    rm -rf run && mkdir run
    timeout 60 mpiexec -n 4 -genv LD_PRELOAD "$preload" "$TOOLS/communicators" store 1 0 0 0 0 0
    identities >second
    [ "$(wc -l <first)" -ge 20 ]
    run ! grep ' 0$' first
    diff first second
}
