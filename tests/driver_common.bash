# What the tests of the driver share. Each test works in a folder of its own.

setup() {
    REPO=$(cd "${BATS_TEST_DIRNAME%/tests*}" && pwd) # of tests/long as well
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    FAULTLINE=$BUILD/faultline
    LIFE=$BUILD/tests/mpi/driver_life
    unset FAULTLINE_RUN FAULTLINE_RANK FAULTLINE_RANKS FAULTLINE_OUT
    cd "$BATS_TEST_TMPDIR" || return 1
}

# A test that fails in the middle must leave nothing running either. $DRIVER: what it has started.
# The numbers of ranks are their own words, so each is looked at before it is ended.
teardown() {
    local pid
    [ -z "${DRIVER:-}" ] || kill -9 "$DRIVER" 2>/dev/null || true
    [ -z "${DISK:-}" ] || rm -rf "$DISK"
    for pid in $(pids); do
        [ "$(readlink "/proc/$pid/exe")" != "$LIFE" ] || kill -9 "$pid" 2>/dev/null || true
    done
}

# The folders of tests may be in memory (scripts/test.sh): goes on in one on the disk, with what is here,
# where another file system is about to be mounted over /dev/shm.
leave_memory() {
    DISK=$(mktemp -d "$BUILD/tests/disk.XXXXXX")
    cp -r . "$DISK"
    cd "$DISK" || return 1
}

# scenario NAME HOW [FIELDS]: appends one to s.lua.
scenario() {
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = 2, arguments = { %s },
  claims = { "H.progress" }, %s }\n' "$1" "$LIFE" "$2" "${3:-}" >>s.lua
}

# Waits until a command succeeds; the limit only keeps a broken test from hanging.
wait_until() {
    local tries
    for ((tries = 0; tries < 15000; tries++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.02
    done
    echo "never came true: $*" >&2
    return 1
}

# The processes that ranks of all runs here have written down.
pids() {
    cat faultline-out/*/*/store/pid.* faultline-out/*/*/store/child.* pid.* child.* 2>/dev/null
}

all_gone() {
    local pid
    for pid in $(pids); do
        ! kill -0 "$pid" 2>/dev/null || return 1
    done
}

# started FILE...: the ranks have written these, in the first run.
started() {
    local file
    for file in "$@"; do
        [ -s "faultline-out/latest/1/store/$file" ] || return 1
    done
}

# A scenario of a mistake behind two orders, in two.lua.
two_orders() {
    printf 'scenario "two orders" { protocol = "null", program = "%s", ranks = 3,
  claims = { "H.result", "H.collective" } }\n' "$BUILD/tests/mpi/two_orders" >two.lua
}
