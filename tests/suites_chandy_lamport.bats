#!/usr/bin/env bats
# The suites of the Chandy-Lamport protocol: messages under way at the cut, its assumptions left out,
# the broken variants, and a part of the crashes (make crash-chandy_lamport runs all).

bats_require_minimum_version 1.5.0

load suites_common

setup() { suites_setup; }

@test "chandy_lamport: messages of every kind are under way at the cut" {
    passes 24 "$ROOT/suites/chandy_lamport/channels.lua" --engine step
    passes 4 "$ROOT/suites/chandy_lamport/channels.lua" --engine mpiexec --shard 2/6
}

@test "chandy_lamport: each assumption left out violates the claim that is said, and only then" {
    passes 8 "$ROOT/suites/chandy_lamport/assumptions.lua" --engine step
    passes 2 "$ROOT/suites/chandy_lamport/assumptions.lua" --engine mpiexec --shard 2/4
}

@test "chandy_lamport: each broken variant is found by the claim that is said" {
    passes 4 "$ROOT/suites/chandy_lamport/broken.lua"
}

@test "chandy_lamport: every program, killed at every fourth point, recovers on the step engine" {
    passes 160 "$ROOT/suites/chandy_lamport/crash.lua" --engine step --shard 3/4
}

@test "chandy_lamport: every program, killed at two of eighty points, recovers under mpiexec" {
    passes 16 "$ROOT/suites/chandy_lamport/crash.lua" --engine mpiexec --shard 5/41
}
