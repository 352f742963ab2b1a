#!/usr/bin/env bats
# The step engine as an MPI library: programs that do not know of it get what the real one gives.

bats_require_minimum_version 1.5.0

load driver_common

# drawn ENGINE SEED RANKS: the lines of a random program, sorted.
drawn() {
    printf 'scenario "drawn" { protocol = "null", program = "%s", ranks = %d, engine = "%s",
  arguments = { "%d", "60" }, claims = { "H" } }\n' "$BUILD/tests/mpi/engine_random" "$3" "$1" "$2" \
        >"$1.lua"
    "$FAULTLINE" run --out "$1-$2" "$1.lua" >"$1-$2.tap" || { cat "$1-$2.tap" && return 1; }
    sort "$1-$2"/latest/1/output/r*.out
}

@test "random collectives on random communicators give the same on the engine and on MPICH" {
    for seed in 5 6 33; do
        drawn step "$seed" "$((2 + seed % 3))" >step.txt
        drawn mpiexec "$seed" "$((2 + seed % 3))" >mpiexec.txt
        [ "$(wc -l <step.txt)" -gt 50 ]
        diff step.txt mpiexec.txt
    done
}

@test "survivors of a death revoke, agree, shrink and go on" {
    printf 'scenario "circle" { protocol = "null", program = "%s", ranks = 4, engine = "step",
  claims = { "H" }, environment = { FAULTLINE_ENGINE_GOES_ON = "1" } }\n' \
        "$BUILD/tests/mpi/engine_ulfm" >s.lua
    for seed in 1 2 3 4 5; do
        "$FAULTLINE" run --seed "$seed" --out "out-$seed" s.lua || true # a rank has killed itself
        cat "out-$seed"/latest/1/output/*
        [ "$(cat "out-$seed"/latest/1/output/r*.out | grep -c ' ok$')" -eq 3 ]
    done
}

# With seeds 9, 10 and 16 spawned processes begin before the last of the first world does.
# Their traces name all processes by the numbers in which they came, and communicators alike.
@test "spawned processes merge with their parents, and connect by a port" {
    printf 'scenario "spawn" { protocol = "null", program = "%s", ranks = 2, engine = "step",
  claims = { "H" } }\n' "$BUILD/tests/mpi/engine_spawn" >s.lua
    for seed in 1 2 3 9 10 16; do
        "$FAULTLINE" run --seed "$seed" --out "out-$seed" s.lua
        cat "out-$seed"/latest/1/output/*
        [ "$(cat "out-$seed"/latest/1/output/*.out | grep -c ' ok$')" -eq 4 ]
        "$FAULTLINE" trace "out-$seed/latest/1" >trace.txt
        [ "$(grep -c ' wire .* MPI_Intercomm_merge .*: r0 r1 r2 r3$' trace.txt)" -eq 4 ]
        [ "$(grep -oE 'comm [0-9a-f]+ from .*: r0 r1 r2 r3$' trace.txt | cut -d' ' -f2 | sort -u |
            wc -l)" -eq 1 ]
    done
}
