#!/usr/bin/env bats
# Faults against ourselves: memory refused and disks full, one allocation and one write after the
# other. A verb then does what it does anyway, or says what it lacks and has no verdict: it does not
# die, and what was there before stays. tests/unit/allocations.c does it to the parts.

# Of these calls the one after the other is refused; of later ones, and of allocations, only some.
calls="write pwrite64 ftruncate fallocate"

setup_file() {
    local repo
    repo=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    export FAULTLINE BUILD=${BUILD:-$repo/build}
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
    cp -r "$BATS_FILE_TMPDIR/out/1/1" run
    mkdir target
}

# The verb untouched: its output, and its status in `status`.
untouched() {
    fresh
    status=0
    "$FAULTLINE" "$@" >expected 2>expected.err || status=$?
}

# fine STATUS WHAT: as if nothing had been refused, or no verdict (3; 64: what it was to read could not
# be opened) and said why.
fine() {
    if [ "$1" = "$status" ] && cmp -s expected got; then
        return 0
    fi
    if { [ "$1" = 3 ] || [ "$1" = 64 ]; } && { grep -q . got.err || grep -q '^    - ' got; }; then
        return 0
    fi
    # A violation weighs more than a lost output.
    if [ "$1" = "$status" ] && grep -q '^faultline: cannot write' got.err; then
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
