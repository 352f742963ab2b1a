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

# asks LEVEL [ARGUMENT]: one scenario for each protocol; blocking, which grants all, is under mpiexec.
asks() {
    mpicc -Wall -Wextra -Werror -I"$ROOT/suites/programs" -I"$ROOT/harness" -o asks \
        "$ROOT/tests/suites/asks_for_threads.c"
    cat >asks.lua <<END
for protocol, more in pairs {
  blocking = { engine = "mpiexec" }, c3 = {}, chandy_lamport = {}, cocheck = {},
  scmel = { survivors = true }, camel = { survivors = true }, pessimistic = { survivors = true },
  teams = { survivors = true, environment = { TEAMS_SIZE = 1 } },
  replication = { survivors = true, reserve = 1 }, respawn = { survivors = true },
  transactions = { survivors = true }, checkpoint_on_failure = { survivors = true },
  ft_mpi = { survivors = true, environment = { FT_MPI_MODE = "blank" } },
} do
  more.protocol, more.program, more.arguments = protocol, "./asks", { $1 }
  more.ranks, more.claims, more.engine = 2, { "H.progress" }, more.engine or "step"
  scenario(protocol)(more)
end
END
    "$FAULTLINE" run --no-control --no-stacks --out out asks.lua || true
}

@test "each protocol grants the threads that it can bear, and no more than are asked for" {
    cd "$BATS_TEST_TMPDIR"
    asks 1
    [ "$(cat out/latest/*/output/r0.0.out | sort | uniq -c | xargs)" = "4 0 9 1" ]
    asks 3
    [ "$(cat out/latest/*/output/r0.0.out | sort | uniq -c | xargs)" = "4 0 8 2 1 3" ]
}

@test "message logging refuses a program that never calls checkpoint_restore" {
    cd "$BATS_TEST_TMPDIR"
    run asks '1, "never restores"'
    echo "$output"
    [ "$(grep -o '[a-z]*: rank [01]: a program that never calls checkpoint_restore is not supported' \
        <<<"$output" | cut -d: -f1 | sort -u | xargs)" = "camel pessimistic scmel teams" ]
    [[ "$output" != *"still running"* ]]
}
