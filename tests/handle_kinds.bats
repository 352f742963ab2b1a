#!/usr/bin/env bats
# The taps and the layers of protocols do not take handles for numbers that are known when they are
# compiled: an mpi.h made of the installed one has addresses of data, and MPI-3 (handle_kinds/).

setup_file() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    export REPO BUILD HEADERS=$BATS_FILE_TMPDIR/headers
    installed=$(echo '#include <mpi.h>' | mpicc -E -x c - | sed -n 's/^# [0-9]* "\(.*\/mpi\.h\)".*/\1/p' | head -n 1)
    export BESIDE=${installed%/*}
    mkdir -p "$HEADERS" && lua5.4 "$BATS_TEST_DIRNAME/handle_kinds/addresses.lua" <"$installed" >"$HEADERS/mpi.h"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# compile ARGUMENT...
compile() {
    cc -std=c11 -D_GNU_SOURCE -fPIC -Werror -I"$REPO/harness" -I"$REPO" -I"$REPO/suites/protocols" \
        -I"$REPO/suites/programs" -I"$BUILD/gen" -I"$BUILD/gen/taps" \
        -isystem "$HEADERS" -isystem "$BESIDE" "$@"
}

@test "the taps compile where handles are addresses, and name no data of the MPI library" {
    local files
    mapfile -t files < <(find "$REPO/injectors" -name '*.c' ! -name hash_avx2.c)
    compile -c "${files[@]}"
    [ "$(nm -A -u ./*.o | grep -c ' U library$')" -gt 5 ] # what they do name
    [ -z "$(nm -A -u ./*.o | grep '_data$' | tee /dev/stderr)" ]
}

@test "the protocols compile where handles are addresses" {
    local files
    mapfile -t files < <(find "$REPO/suites/protocols" -name '*.c')
    [ ${#files[@]} -gt 60 ]
    compile -fsyntax-only "${files[@]}"
}

@test "each predefined handle is found by the name of its data, and one that is not there is named" {
    local sources=("$REPO/tests/handle_kinds/resolved.c" "$REPO/injectors/record/handles.c")
    compile -rdynamic -o resolved "${sources[@]}"
    [ "$(./resolved)" = "lacks nothing" ]
    compile -rdynamic -DLACKING -o lacking "${sources[@]}"
    [ "$(./lacking)" = "lacks MPI_PACKED" ]
}
