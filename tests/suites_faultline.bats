#!/usr/bin/env bats
# The suites under Faultline itself: every scenario of the blocking protocol, and the example that
# users copy.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "blocking: every program, killed at each of the 20 points, recovers on the step engine" {
    passes 100 "$ROOT/suites/blocking/crash.lua" --engine step
}

@test "blocking: every program, killed at every tenth point, recovers under mpiexec" {
    passes 10 "$ROOT/suites/blocking/crash.lua" --engine mpiexec --shard 2/10
}

@test "blocking: each broken variant is found by the claim that is said, on the step engine" {
    passes 7 "$ROOT/suites/blocking/broken.lua" --engine step
}

@test "example: the protocol of one's own passes from a folder elsewhere, and broken it does not" {
    local own=$BATS_TEST_TMPDIR/own
    cp -r "$ROOT/examples/own-protocol" "$own"
    make -s -C "$own" clean all PKG_CONFIG="PKG_CONFIG_PATH=$BUILD/pkgconfig pkg-config"
    cd "$own"
    passes 4 my.lua

    # The break that its README proposes.
    sed -i '/FILE \*from = open_or_end(state_path/,/fclose/s/int i = 0/int i = 1/' my_protocol.c
    make -s PKG_CONFIG="PKG_CONFIG_PATH=$BUILD/pkgconfig pkg-config"
    run -1 timeout 200 "$FAULTLINE" run --out "$BATS_TEST_TMPDIR/out" my.lua
    [[ $output == *"ok 3 - my protocol: no crash"* && $output == *"# H."* ]]
}
