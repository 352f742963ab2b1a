#!/usr/bin/env bats
# The verbs with runs of the step engine: repeated on it, and confirmed under mpiexec.

bats_require_minimum_version 1.5.0

load driver_common

# A run in two lives that fails in the same way whatever the schedule: its fault is the protocol's.
broken() {
    "$FAULTLINE" run --engine step --keep --no-control --no-stacks --out broken \
        "$REPO/suites/blocking/broken.lua" --filter "restore-uncommitted: ranks live on"
}

sums() {
    (cd "$1/trace" && sha256sum -- *)
}

@test "a run of the step engine is replayed on it: the same traces, byte for byte" {
    broken
    [ -s broken/latest/1/choices.1 ]
    run -0 "$FAULTLINE" replay --repeat 3 broken/latest/1
    [[ "$output" == *"# broken/latest/1: replayed 3/3"* ]]
    for i in 1 2 3; do
        [ "$(sums "faultline-out/latest/$i")" = "$(sums broken/latest/1)" ]
        cmp "faultline-out/latest/$i/choices.0" broken/latest/1/choices.0
    done
}

@test "other decisions: the replay names the first event that differs" {
    broken
    awk '$1 == "next" && !done { $2 = ($2 + 1) % $3; done = 1 } { print }' \
        broken/latest/1/choices.0 >other
    run ! cmp -s other broken/latest/1/choices.0
    mv other broken/latest/1/choices.0
    run -2 "$FAULTLINE" replay broken/latest/1
    echo "$output"
    [[ "$output" == *"why: \"r"[0-2]"#0: event "*": expected "*"; got "* ]]
}

@test "a run of the step engine is repeated under mpiexec, its decisions imposed" {
    broken
    run -0 "$FAULTLINE" replay --engine mpiexec --repeat 2 broken/latest/1
    [[ "$output" == *"ok 1 - restore-uncommitted: ranks live on from different lines: H.progress"* ]]
    [[ "$output" == *"# broken/latest/1: replayed 2/2"* ]]
    [[ "$output" != *"the MPI library is not what it was"* ]]
    run ! grep -q '"engine"' faultline-out/latest/1/run.json
    grep -q mpiexec faultline-out/latest/1/run.json
}

@test "a packed run of the step engine holds what it decided, and is replayed elsewhere" {
    broken
    "$FAULTLINE" export broken/latest/1 -o run.tar.zst
    mkdir elsewhere
    sums broken/latest/1 >expected
    cp broken/latest/1/choices.1 choices
    rm -rf broken
    cd elsewhere
    run -0 "$FAULTLINE" replay --trust ../run.tar.zst
    sums faultline-out/latest/1 | cmp - ../expected
    cmp faultline-out/latest/packed/1/choices.1 ../choices
}

# differs HOW [FIELDS]: a scenario over engine_differs into s.lua.
differs() {
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = 3, arguments = { "%s" },
  claims = { "H.progress" }, %s }\n' "$1" "$BUILD/tests/mpi/engine_differs" "$1" "${2:-}" >s.lua
}

@test "what the engine finds is repeated under mpiexec: also there, so often" {
    run -1 "$FAULTLINE" run --engine step --seed 2 --confirm 2 --no-stacks \
        "$REPO/suites/demo/breaks.lua"
    echo "$output"
    [[ "$output" == *'mpiexec: "also on MPICH, 2/2"'* ]]
    [ "$(jq -r '.mpiexec | .result, .runs, .same' faultline-out/latest/1/verdict.json | xargs)" = \
        "also 2 2" ]
    grep -q 'also on MPICH, 2/2' faultline-out/latest/1/report.html
    [ -s faultline-out/latest/1/mpiexec/verdict.json ]
}

@test "what only the engine shows is told as that, with the event that MPICH cannot follow" {
    differs alone
    run -1 "$FAULTLINE" run --engine step --no-stacks s.lua
    echo "$output"
    [[ "$output" == *"not ok 1 - alone # H.progress"* ]]
    [[ "$output" == *'mpiexec: "on the step engine alone: MPICH cannot follow (r0#0: '*"got MPI_Barrier"*"by I.legal MPI allows what the engine did"* ]]
    [ "$(jq -r '.mpiexec | .result, .runs, .legal' faultline-out/latest/1/verdict.json | xargs)" = \
        "alone 1 pass" ]
}

@test "nothing is repeated with --confirm 0, nor what mpiexec has found" {
    differs alone
    run -1 "$FAULTLINE" run --engine step --no-stacks --confirm 0 s.lua
    [[ "$output" != *"mpiexec:"* ]]
    scenario "bad end" '"exit"'
    run -1 "$FAULTLINE" run --no-stacks s.lua --filter bad
    [[ "$output" != *"mpiexec:"* ]]
    run -64 "$FAULTLINE" run --confirm -1 s.lua
}

# Under seed 3 rank 1 is heard first.
@test "--until-failure draws another schedule each time, and the seed told is that of the run" {
    differs race
    run -0 "$FAULTLINE" run --engine step --seed 3 s.lua
    run -1 "$FAULTLINE" run --engine step --seed 3 --until-failure --repeat 60 --confirm 1 \
        --no-stacks s.lua
    echo "$output"
    [[ "$output" == *"ok 1 - race"* ]]
    [[ "$output" == *'mpiexec: "also on MPICH, 1/1"'* ]]
    seed=$(sed -n 's/^  seed: "\(.*\)"/\1/p' <<<"$output")
    run -1 "$FAULTLINE" run --engine step --seed "$seed" --no-stacks --confirm 0 s.lua
}

of() { jq -r "$1" faultline-out/latest/campaign.json; }

@test "a campaign on the engine: each run with its own schedule, what it finds under mpiexec" {
    differs race
    run -1 "$FAULTLINE" campaign --engine step --seed 3 --runs 12 --replays 2 --keep s.lua
    echo "$output"
    [[ "$output" == *'  mpiexec: "also on MPICH, 2/2"'* ]]
    [ "$(of '.asked.engine')" = step ]
    [ "$(of '.subjects[0].identity.engine')" = step ]
    [[ "$(of '.groups[].replays.mpiexec')" == *"also on MPICH, 2/2"* ]]
    for file in canary survey reference; do
        [ "$(jq -r .scenario.engine faultline-out/latest/$file/1/run.json)" = step ]
    done
    [ "$(jq -r .seed faultline-out/latest/[0-9]*/run.json | sort -u | wc -l)" -eq 12 ]
    [ "$(jq -r .scenario.engine faultline-out/latest/[0-9]*/replay-*/run.json | sort -u)" = null ]
}

@test "a campaign on the engine goes on with the same one, and says so where another is asked for" {
    differs race
    run "$FAULTLINE" campaign --engine step --seed 3 --runs 2 --replays 0 s.lua
    folder=$(readlink -f faultline-out/latest)
    run -64 "$FAULTLINE" campaign --resume "$folder" --engine mpiexec
    [[ "$output" == *"--engine mpiexec: the campaign that is resumed has the engine step"* ]]
    run "$FAULTLINE" campaign --resume "$folder" --runs 4 --replays 0 --keep
    [ "$status" -le 2 ]
    [ "$(of .runs)" -eq 4 ]
    [ "$(jq -r .scenario.engine "$folder/4/run.json")" = step ]
    run "$FAULTLINE" campaign --runs 1 --replays 0 --out other s.lua
    run -64 "$FAULTLINE" campaign --resume other/latest/ --engine step
    [[ "$output" == *"--engine step: the campaign that is resumed was given no engine"* ]]
}

# Of the plan only the kill matters, which nothing recovers from.
@test "shrink tries on the engine, and repeats what is left under mpiexec" {
    differs process 'plan = function(p)
    p:jitter { ms = 1 }
    p:kill { rank = 1, event = "call", call = "MPI_Bcast" }
    p:delay { from = 0, nth = 2, ms = 1 }
  end, max_incarnations = 1'
    run -1 "$FAULTLINE" run --engine step --no-stacks --no-control --confirm 0 s.lua
    run -0 timeout 300 "$FAULTLINE" shrink --confirm 2 --out shrunk faultline-out/latest/1
    echo "$output"
    [[ "$output" == *'after: "steps 1, '* ]]
    [[ "$output" == *'mpiexec: "also on MPICH, 2/2"'* ]]
    grep -q 'engine = "step"' shrunk/*/shrunk.lua
    [ "$(jq -r .mpiexec.same shrunk/*/shrink.json)" -eq 2 ]
    [ "$(jq -r .scenario.engine shrunk/*/runs/*/run.json | sort -u)" = step ]
    run -0 "$FAULTLINE" run shrunk/*/shrunk.lua
}

@test "a run in twenty is made twice: random numbers are drawn from the seed, and the same" {
    differs random
    run -0 "$FAULTLINE" run --engine step --seed 3 s.lua
    [[ "$output" != *"not deterministic"* ]]
    [ "$(jq .twice.same faultline-out/latest/1/verdict.json)" = true ]
    [ ! -e faultline-out/latest/1/twice ]
    cat faultline-out/latest/1/output/r0.0.out >first
    "$FAULTLINE" run --engine step --seed 3 s.lua
    cmp faultline-out/latest/1/output/r0.0.out first
    "$FAULTLINE" run --engine step --seed 4 s.lua
    run ! cmp -s faultline-out/latest/1/output/r0.0.out first
    [ "$(sort -u first | wc -l)" -eq 5 ]
    # Each rank draws others; srand(time(NULL)) alone gives all the same.
    [ "$(cut -d' ' -f3 faultline-out/latest/1/output/r*.0.out | sort -u | wc -l)" -eq 13 ]
    "$FAULTLINE" run --engine step --repeat 22 s.lua
    [ "$(grep -l '"twice"' faultline-out/latest/*/verdict.json | wc -l)" -eq 2 ]
}

@test "a program that is not deterministic is told, with the first event that differs; no violation" {
    differs process
    run -0 "$FAULTLINE" run --engine step s.lua
    echo "$output"
    [[ "$output" == *"ok 1 - process"*"# not deterministic: with the same decisions another run differs: r0#0: event "*"MPI_Bcast"*", with other data"* ]]
    [ "$(jq .twice.same faultline-out/latest/1/verdict.json)" = false ]
    [ -e faultline-out/latest/1/twice/trace ]
    run "$FAULTLINE" campaign --engine step --runs 1 --replays 0 s.lua
    [[ "$output" == *"# $BUILD/tests/mpi/engine_differs process is not deterministic: "* ]]
    # The others have come to MPI_Finalize before, and leave it at another time after.
    differs often
    run -0 "$FAULTLINE" run --engine step s.lua
    echo "$output"
    [[ "$output" == *"with the same decisions another run differs: r1#0: event "*"MPI_Iprobe"* ]]
}

@test "exec runs any MPI program on the engine: what it prints, its exit status, its traces" {
    "$FAULTLINE" exec --engine step -n 3 -- "$BUILD/programs/ring" --iterations 2 >out 2>err
    grep -q '^ring: 2 laps' out
    grep -q '3 traces in ' err
    PATH=$BUILD/programs:$PATH "$FAULTLINE" exec --engine step -n 2 --seed 5 --trace here -- ring >out
    run -0 "$FAULTLINE" check here
    [ "$(jq -r .seed here/run.json)" = 5 ]
    run -7 "$FAULTLINE" exec --engine step -n 2 -- "$LIFE" exit
    run -1 "$FAULTLINE" exec --engine step -n 2 -- "$LIFE" no-finalize # its rank says 0, and the job has failed
    run -122 "$FAULTLINE" exec --engine step -n 2 -- "$LIFE" deadlock
    [[ "$output" == *"rank 0 waits in MPI_Recv for a message from rank 1, tag 7"* ]]
    run -2 "$FAULTLINE" exec --engine step -n 2 -- "$BUILD/tests/mpi/taps_rest"
    [[ "$output" == *"the step engine does not do MPI_"* ]]
}

@test "exec on the engine: bad input is told" {
    run -64 "$FAULTLINE" exec --engine step -- ring
    [[ "$output" == *"-n is missing"* ]]
    run -64 "$FAULTLINE" exec --engine stpe -n 2 -- ring
    [[ "$output" == *"accepted: mpiexec, step"* ]]
    run -64 "$FAULTLINE" exec -n 2 -- ring
    [[ "$output" == *"-n and --seed are for --engine step"* ]]
    run -64 "$FAULTLINE" exec --engine step -n 0 -- ring
    [[ "$output" == *"from 1 to 1024"* ]]
    run -3 "$FAULTLINE" exec --engine step -n 2 -- ./nothing
    [[ "$output" == *"there is no executable ./nothing"* ]]
    run -3 "$FAULTLINE" exec --engine step -n 2 -- /bin/true
    echo "$output"
}

@test "doctor says whether the engine works" {
    run -0 "$FAULTLINE" doctor
    [[ "$output" == *"ok    step engine   it has run two ranks of ring"* ]]
    mkdir programs
    printf '#!/bin/sh\nexit 1\n' >programs/ring
    chmod +x programs/ring
    FAULTLINE_PROGRAMS=$PWD/programs TMPDIR=$PWD run -0 "$FAULTLINE" doctor
    [[ "$output" == *"note  step engine   it does not run two ranks of ring: "* ]]
    run ! ls faultline-doctor-*
}

# In the first a receive from nobody is waited for with others; in the second rank 0 is ended inside
# a call around which the protocol polls.
@test "what broken variants do on the engine can be repeated under mpiexec" {
    for variant in blocking/broken.lua:stale-piece c3/broken.lua:log-by-reference; do
        "$FAULTLINE" run --engine step --keep --no-control --no-stacks --out "${variant#*:}" \
            "$REPO/suites/${variant%:*}" --filter "${variant#*:}"
        run -0 "$FAULTLINE" replay --engine mpiexec "${variant#*:}/latest/1"
        [[ "$output" == *"replayed 1/1"* ]]
    done
}
