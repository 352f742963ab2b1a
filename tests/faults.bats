#!/usr/bin/env bats
# Faults against ourselves: memory refused and disks full, one allocation and one write after the
# other. A verb then does what it does anyway, or says what it lacks and has no verdict: it does not
# die, and what was there before stays. tests/unit/verbs/allocations.c does it to the parts.

# Of these calls the one after the other is refused; of later ones, and of allocations, only some.
calls="write pwrite64 ftruncate fallocate"

setup_file() {
    local repo
    repo=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    export REPO=$repo FAULTLINE BUILD=${BUILD:-$repo/build}
    case $BUILD in /*) ;; *) BUILD=$repo/$BUILD ;; esac
    FAULTLINE=$BUILD/faultline
    mkdir -p "$BATS_FILE_TMPDIR/out/1"
    "$BUILD/tests/pages/make_run" "$repo/oracles/golden/h_loss.txt" \
        "$BATS_FILE_TMPDIR/out/1/1" 1 "a message is lost"
}

setup() {
    bats_require_minimum_version 1.5.0
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Every attempt on a run folder of its own, always at the same place.
fresh() {
    rm -rf run target told
    cp -r "${RUN:-$BATS_FILE_TMPDIR/out/1/1}/." run
    mkdir target
}

# The verb untouched: its output, and its status in `status`.
untouched() {
    fresh
    status=0
    "$FAULTLINE" "$@" >expected 2>expected.err || status=$?
    [ -z "${MADE:-}" ] || cp "$MADE" made
}

# fine STATUS WHAT: as if nothing had been refused, files too (MADE: one that the verb makes), or no
# verdict (3) and said why.
fine() {
    if [ "$1" = "$status" ] && cmp -s expected got &&
        { [ -z "${MADE:-}" ] || cmp -s "$MADE" made; }; then
        return 0
    fi
    if [ "$1" = 3 ] && { grep -q . got.err || grep -q '^    - ' got; }; then
        return 0
    fi
    # A violation weighs more than a lost output.
    if [ "$1" = 1 ] && [ "$status" = 1 ] && grep -q '^faultline: cannot write' got.err; then
        return 0
    fi
    echo "$2 refused: status $1 (untouched: $status), $(head -3 got.err)"
    return 1
}

# Memory of whatever library the verb uses.
refuse_memory() {
    local n=1 got=0
    untouched "$@"
    while true; do
        fresh
        got=0
        env LD_PRELOAD="$BUILD/tests/faults/refuse.so" FAULTS_REFUSE="$n" FAULTS_TOLD=told \
            "$FAULTLINE" "$@" >got 2>got.err || got=$?
        [ -e told ] || break
        fine "$got" "allocation $n"
        [ -z "$(find run target -name '*.new')" ]
        n=$((n + 1 + n / 8))
    done
    [ "$n" -gt 3 ]
}

refuse_writes() {
    local call n got refused=0
    untouched "$@"
    for call in $calls; do
        for n in 1 2 3 5 9 17; do
            fresh
            got=0
            strace -o log -e trace="$call" -e "inject=$call:error=ENOSPC:when=$n" \
                "$FAULTLINE" "$@" >got 2>got.err || got=$?
            grep -q INJECTED log || break
            refused=$((refused + 1))
            # What could not be said on stderr cannot be asked for.
            if grep -q '^write(2.*INJECTED' log; then
                echo "not said: that was refused" >>got.err
            fi
            fine "$got" "$call $n"
            [ -z "$(find run target -name '*.new')" ]
        done
    done
    [ "$refused" -gt 0 ]
}

@test "memory is refused to check" {
    refuse_memory check run
}

@test "memory is refused to trace, in every form" {
    refuse_memory trace run
    refuse_memory trace --format json run
}

@test "memory is refused to report: the same page, or none" {
    MADE=run/report.html refuse_memory report run
}

@test "memory is refused to export: libarchive's own end has our status" {
    "$FAULTLINE" run --no-control --no-stacks --out of "$REPO/suites/demo/breaks.lua" >/dev/null ||
        [ $? -eq 1 ]
    RUN=$PWD/of/latest/1 refuse_memory export -o target/packed run
}

@test "a full disk under check" {
    refuse_writes check --tap target/tap run
}

@test "a full disk under trace" {
    refuse_writes trace run
    refuse_writes trace --format json run
    refuse_writes trace --format perfetto run
}

@test "a full disk under report: the page of before stays" {
    "$FAULTLINE" report -o old.html "$BATS_FILE_TMPDIR/out/1/1" >/dev/null
    cp old.html "$BATS_FILE_TMPDIR/out/1/1/report.html"
    refuse_writes report run
    for n in 1 2 5; do
        fresh
        run -3 strace -o log -e trace=write -e "inject=write:error=ENOSPC:when=$n" \
            "$FAULTLINE" report run
        cmp run/report.html old.html
    done
}

# small KIB COMMAND...: with a disk of so many KiB as the folder `disk`; its exit status, and what is
# left on the disk in `left`.
small() {
    local size=$1
    shift
    mkdir -p disk
    run --separate-stderr timeout -k 5 120 unshare -m bash -c '
        mount -t tmpfs -o size="$0k" none disk || exit 77
        status=0
        "$@" || status=$?
        find disk >left
        exit $status' "$size" "$@"
}

# It is told which file had no room, and nothing half written has stayed. What the protocol leaves in
# its store is the protocol's.
says_no_room() {
    [ "$status" -eq 3 ]
    grep -qE 'disk/?[^ ]*: .*No space left' <<<"$stderr$output"
    run ! grep -E '\.new$' <(grep -v /store/ left)
}

@test "a disk that is really full: run, and what reads and packs a run" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    printf 'scenario "a" { protocol = "blocking", program = "tally", ranks = 2, claims = { "H" },
  plan = function(p) p:kill { rank = 1, event = "send", nth = 5 } end }' >s.lua
    for size in 4 20 64 240; do
        small "$size" "$FAULTLINE" run --out disk s.lua
        says_no_room
    done
    small 8 "$FAULTLINE" report -o disk/page.html "$BATS_FILE_TMPDIR/out/1/1"
    says_no_room
    # shellcheck disable=SC2016 # words of the inner shell
    small 4 bash -c 'head -c 4096 /dev/zero >disk/other; exec "$0" trace -o disk/trace "$1"' \
        "$FAULTLINE" "$BATS_FILE_TMPDIR/out/1/1"
    says_no_room
    small 16 "$FAULTLINE" trace --format otf2 -o disk/otf2 "$BATS_FILE_TMPDIR/out/1/1"
    says_no_room
    run ! grep -q otf2 left
}

@test "a rank that finds no room for its trace ends a replay at once" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    "$FAULTLINE" run --no-control --no-stacks --out of "$REPO/suites/demo/breaks.lua" >/dev/null ||
        [ $? -eq 1 ]
    small 40 "$FAULTLINE" replay --out disk of/latest/1
    says_no_room
}

@test "a disk that is full when a campaign begins: it goes on when there is room" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    printf 'scenario "a" { protocol = "null", program = "tally", ranks = 2, claims = { "I" } }' >s.lua
    small 16 bash -c '
        "$0" campaign --runs 1 --out disk s.lua; echo "first $?"
        mount -o remount,size=64m disk
        "$0" campaign --resume disk/latest; echo "then $?"' "$FAULTLINE"
    grep -q '^first 3$' <<<"$output"
    grep -q 'not complete: .*\(disk of .* is full\|No space left\)' <<<"$output"
    grep -qE '^then [012]$' <<<"$output"
}

@test "a disk that is full when shrink begins is named; one that fills up leaves the best so far" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    "$FAULTLINE" run --no-control --no-stacks --out of "$REPO/suites/demo/breaks.lua" >/dev/null ||
        [ $? -eq 1 ]
    small 16 "$FAULTLINE" shrink --budget 1h --out disk of/latest/1
    says_no_room
    # Room for some of the runs that it keeps, how many is not known.
    for size in 1200 1500; do
        small "$size" "$FAULTLINE" shrink --budget 1h -j 1 --out disk of/latest/1
        echo "$size KiB: $status: $stderr"
        [ "$status" -eq 3 ] || [ "$status" -eq 0 ]
        [ "$status" -eq 3 ] || grep -q '/shrunk.lua$' left
        [ "$status" -eq 0 ] || says_no_room
    done
}
