#!/usr/bin/env bats
# Message logging where processes in reserve take the places of the dead: under Debian's MPICH and on
# the step engine. All of it: make lives-logging.

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "reserve: ranks, processes that take their place and processes in reserve die, on the step engine" {
    passes 43 "$ROOT/suites/reserve" --engine step --filter 'scmel, master_worker: *'
    passes 42 "$ROOT/suites/reserve/crash.lua" --engine step --filter 'camel, leanmd: *'
}

@test "reserve: under MPICH a process in reserve takes a dead rank's place, and the next one its" {
    passes 3 "$ROOT/suites/reserve/crash.lua" --engine mpiexec --filter 'scmel, master_worker: rank *, and who takes its place, *before-*'
    passes 2 "$ROOT/suites/reserve/crash.lua" --engine mpiexec --filter 'camel, leanmd: *in reserve, and later*'
    # What is kept back of rank 1 is never sent on: MPI_Finalize does not wait for that.
    passes 2 "$ROOT/suites/reserve/crash.lua" --engine mpiexec --filter 'scmel, laplace: *saved, and later*'
}

@test "reserve: another rank dies before the first has recovered: unsupported, and no violation" {
    unsupported "in reserve: scmel"
}
