#!/usr/bin/env bats
# The suites of SCMEL and of pessimistic message logging: only the rank that died goes back.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "scmel: ranks die at every phase of a line and in between, and nobody else goes back" {
    passes 152 "$ROOT/suites/scmel/crash.lua"
}

@test "scmel: what the algorithm as it is published does not keep" {
    passes 2 "$ROOT/suites/scmel/as_published.lua"
}

@test "scmel: another rank dies before the first has recovered: unsupported, and no violation" {
    unsupported scmel
}

@test "scmel: each broken variant is found by the claim that is said" {
    passes 14 "$ROOT/suites/scmel/broken.lua"
}

@test "pessimistic: ranks die in all phases, and nobody else goes back" {
    passes 46 "$ROOT/suites/pessimistic/crash.lua"
}

@test "pessimistic: each broken variant is found by the claim that is said" {
    passes 2 "$ROOT/suites/pessimistic/broken.lua"
}

# MPICH as Debian has it knows the functions of ULFM, and they fail.
@test "logging: where nobody dies the protocols need neither Faultline nor a ULFM that works" {
    local protocol
    for protocol in scmel camel pessimistic; do
        mkdir "$BATS_TEST_TMPDIR/$protocol"
        run -0 timeout -k 5 120 mpiexec -n 3 -genv SCMEL_EVERY 4 -genv CAMEL_EVERY 4 \
            -genv PESSIMISTIC_EVERY 4 -genv FAULTLINE_STORE "$BATS_TEST_TMPDIR/$protocol" \
            -genv LD_PRELOAD "$IDLE:$BUILD/protocols/lib$protocol.so" \
            "$BUILD/programs/laplace" --iterations 10 --size 16
        [[ "$output" == *"laplace: 10 "* && "$output" != *"cannot be preloaded"* ]]
        [ -n "$(ls -A "$BATS_TEST_TMPDIR/$protocol")" ] # lines were made
    done
}
