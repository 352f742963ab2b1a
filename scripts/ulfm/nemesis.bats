#!/usr/bin/env bats
# MPICH with ch3:nemesis, of nemesis.sh: `make ulfm-nemesis`. What it does well, and what it is known not
# to keep of ULFM, which must be found.

bats_require_minimum_version 1.5.0

setup() {
    REPO=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    FAULTLINE=$BUILD/faultline
    export LD_LIBRARY_PATH=$BUILD/nemesis/install/lib FAULTLINE_MPICH_ULFM=1
    export FAULTLINE_MPIEXEC=$BUILD/nemesis/install/bin/mpiexec.hydra
    cd "$BATS_TEST_TMPDIR" || return
}

# steps PATTERN STEP...: of such records there are some in a run of these steps, in which rank 1 dies.
steps() {
    local pattern=$1
    shift
    printf 'scenario "steps" { program = "survivors", ranks = 4, survivors = true, protocol = "null",
  arguments = { %s }, claims = { "U" }, plan = function(p)
    p:kill { rank = 1, call = "MPI_Barrier" } end }\n' "$(printf '"%s", ' "$@")" >s.lua
    run timeout -k 5 200 "$FAULTLINE" run --keep --no-control --no-stacks s.lua
    echo "$output"
    "$FAULTLINE" trace faultline-out/latest/1 | tee trace.txt | grep "$pattern"
}

@test "the library is the one with ch3:nemesis, and its ULFM is reached" {
    "$BUILD/nemesis/install/bin/mpichversion" | grep -q 'ch3:nemesis'
    steps ' wire .* MPIX_Comm_shrink ' --keep barrier ack acked agree=3 shrink barrier
    grep -q ' wire .* MPI_Barrier .*raised proc-failed' trace.txt
    grep -q ' wire .* MPIX_Comm_agree ' trace.txt
}

@test "an agreement in which a rank dies ends differently at different members: found in at most 30 runs" {
    run -1 timeout -k 5 500 "$FAULTLINE" run --engine mpiexec --until-failure --repeat 30 --no-control \
        --no-stacks --filter '*agreement' "$REPO/suites/ulfm/mpich.lua"
    echo "$output"
    [[ "$output" == *"# U.agree"* ]]
}

@test "a shrink of what all have revoked does not end: found in at most 10 runs" {
    run -1 timeout -k 5 500 "$FAULTLINE" run --engine mpiexec --until-failure --repeat 10 --no-control \
        --no-stacks --timeout 10 --filter 'all revoke*' "$REPO/suites/ulfm/mpich.lua"
    echo "$output"
    [[ "$output" == *"# U.nostall"* ]]
}

@test "a revocation of what has been freed is fatal: found in at most 30 runs" {
    run -1 timeout -k 5 500 "$FAULTLINE" run --engine mpiexec --until-failure --repeat 30 --no-control \
        --no-stacks --filter '*freed' "$REPO/suites/ulfm/mpich.lua"
    echo "$output"
    grep -q PktHandler_Revoke faultline-out/latest/*/output/r*.err
}
