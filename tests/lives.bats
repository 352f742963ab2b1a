#!/usr/bin/env bats
# Ranks that live on when one dies, with what faultline_lives.h tells: under MPICH's mpiexec, and the
# same on the step engine.

bats_require_minimum_version 1.5.0

load driver_common
load suites_common

setup() {
    suites_setup
    cd "$BATS_TEST_TMPDIR" || return
}

# job PROGRAM RANKS PLAN: the scenario s.lua.
job() {
    printf 'scenario "job" { protocol = "null", program = "%s", ranks = %d, survivors = true,
  claims = { "H.progress" }, plan = function(p) %s end }' "$1" "$2" "$3" >s.lua
}

# judged STATUS: s.lua is run, and the command ends so.
judged() {
    run timeout -k 10 120 "$FAULTLINE" run --out out --no-control s.lua
    echo "$output"
    [ "$status" -eq "$1" ]
}

@test "ranks die in ten ways under mpiexec: the others come to the result, and nothing is left behind" {
    passes 10 "$ROOT/suites/lives/crash.lua"
    [ -z "$(pgrep -f "$BATS_TEST_TMPDIR/out")" ]
    # Each process has its end in its trace: who was killed, and who has left in order.
    "$FAULTLINE" trace out/latest/1 >t
    [ "$(grep -c 'end  *signal 9 (Killed)' t)" -eq 1 ]
    [ "$(grep -c 'end  *exit 0' t)" -eq 3 ]
    [ ! -s out/latest/1/output/launcher ] # it knows of no death
}

@test "the same ten on the step engine" {
    passes 10 "$ROOT/suites/lives/crash.lua" --engine step
}

@test "whatever is sent to the dead, the others talk with each other, on both engines" {
    job "$BUILD/tests/mpi/lives_sends_to_dead" 3 \
        'p:kill { rank = 2, event = "call", level = "wire", nth = 10 }'
    judged 0
    sed -i 's/survivors = true/&, engine = "step"/' s.lua
    judged 0
}

@test "who asks over and over who has died sends on what the plan keeps with it" {
    job "$BUILD/tests/mpi/lives_polls" 2 'p:hold { from = 0, to = 1, ms = 10 }
        p:kill { rank = 1, event = "call", call = "MPI_Barrier", nth = 3, after = "start" }'
    judged 0
    sed -i 's/survivors = true/&, engine = "step"/' s.lua
    judged 0
}

# What went wrong here: ft_mpi and respawn looked for the command of a new process in the arguments of
# MPI_Init alone, and began in MPI_Init alone.
@test "programs whose MPI_Init gets no arguments, and that ask for threads, recover with new processes" {
    cat >s.lua <<END
local function job(protocol, program, rest)
  rest.protocol, rest.program, rest.claims = protocol, "$BUILD/tests/mpi/lives_" .. program, { "H.progress" }
  rest.ranks, rest.engine, rest.survivors = 4, "step", true
  rest.arguments = program == "laplace" and { "--iterations", 12, "--size", 16 } or nil
  rest.plan = function(p) p:kill { rank = 2, event = "call", level = "wire", nth = 25 } end
  scenario(protocol) (rest)
end
job("respawn", "laplace", {})
job("pessimistic", "laplace", { environment = { PESSIMISTIC_EVERY = 3 } })
job("checkpoint_on_failure", "laplace", { max_incarnations = 4 })
job("ft_mpi", "regroup", { environment = { FT_MPI_MODE = "replace" } })
END
    judged 0
    [ "$(grep -c '^ok' <<<"$output")" -eq 4 ]
    [ "$(cat out/latest/*/output/r*.out | grep -c '^laplace: 12 iterations')" -eq 3 ]
}

@test "who waits for the dead under mpiexec waits for ever, and that is found" {
    job "$BUILD/programs/ring" 3 'p:kill { rank = 1, event = "recv", nth = 4 }'
    judged 1
    [[ "$output" == *'verdict: "violation"'*'waits in MPI_Recv for a message from rank 1, tag 7, which is dead'* ]]
}

@test "a rank that kills itself before MPI_Init has returned takes the others along: a harness error" {
    job "$BUILD/programs/ring" 3 'p:kill { rank = 1, event = "call", level = "wire", call = "MPI_Init" }'
    judged 3
    [[ "$output" == *'rank 1 was killed before its MPI_Init had returned'* ]]
}

@test "a death that the plan tells of too late is told of when the job cannot go on otherwise: vacuous" {
    job outlive 3 'p:kill { rank = 1, event = "call", nth = 30 }
        p:detect { rank = 2, of = 1, at = { rank = 0, event = "call", call = "MPI_Finalize" } }'
    sed -i 's/"null"/"standby"/' s.lua
    judged 2
    [[ "$output" == *"step 2 of the plan was undone"*"the job could not go on otherwise"* ]]
    [[ "$output" == *'end: "finished after 1 incarnation'* ]]
}

@test "a protocol that needs ULFM is refused by name under mpiexec, and not blamed" {
    cat >s.lua <<END
scenario "ulfm" { program = "$BUILD/programs/ring", protocol = "respawn", ranks = 3, survivors = true }
END
    run -2 timeout -k 5 250 "$BUILD/faultline" run --engine mpiexec --no-stacks s.lua
    [[ "$output" == *"MPIX_Comm_agree: MPICH under mpiexec has no ULFM"* ]]
    # So it is where there is nobody else who could have died.
    cat >s.lua <<END
scenario "alone" { program = "$BUILD/programs/survivors", protocol = "null", ranks = 1, survivors = true,
  arguments = { "0:ack" } }
END
    run -2 timeout -k 5 250 "$BUILD/faultline" run --engine mpiexec --no-stacks s.lua
    [[ "$output" == *"MPIX_Comm_failure_ack: MPICH under mpiexec has no ULFM"* ]]
}

@test "what is refused is told, though another rank waits for the one that asked for it" {
    cat >s.lua <<END
scenario "ulfm" { program = "$BUILD/programs/survivors", protocol = "null", ranks = 2, survivors = true,
  arguments = { "0:recv=1 1:revoke" } }
END
    run -2 timeout -k 5 250 "$BUILD/faultline" run --engine mpiexec --no-stacks s.lua
    [[ "$output" == *"MPIX_Comm_revoke: MPICH under mpiexec has no ULFM"* ]]
}

@test "who is in MPI_Finalize helps a large message on that it has begun to send" {
    printf 'scenario "late" { protocol = "null", program = "%s", ranks = 2, survivors = true,
  arguments = { "%s" }, claims = { "H.progress" } }' "$BUILD/tests/mpi/lives_late_receiver" "$PWD/begun" >s.lua
    judged 0
}

# What went wrong here: the step engine refuses to make more than a number of processes. The run was
# called unknown for that refusal, and not a violation for the crash.
@test "a rank that crashes, and so does each process that takes its place, is a violation" {
    job "$BUILD/tests/mpi/lives_crashes" 3 ''
    sed -i 's/"null"/"respawn"/; s/survivors = true/&, engine = "step"/' s.lua
    judged 1
    [[ "$output" == *"rank 1 was ended by SIGSEGV, not by a fault of the plan"* ]]
}

@test "a death that is still to be told of does not end the job for a process in reserve" {
    job "$BUILD/tests/mpi/lives_withheld" 2 'p:kill { rank = 0, event = "call", level = "wire", nth = 8 }
        p:detect { rank = 1, of = 0, at = { rank = 1, event = "call", call = "MPI_Barrier" } }'
    sed -i 's/survivors = true/&, reserve = 1, timeout = 30/' s.lua
    run timeout -k 10 120 "$FAULTLINE" run --out out --no-control s.lua
    cat out/latest/1/output/r1.0.out
    grep -qx 'lives_withheld: rank 1 ok' out/latest/1/output/r1.0.out
}

@test "one that is stopped and then killed, both in MPI_Init, comes out of it and dies" {
    job outlive 3 'p:stop { rank = 1, at = { rank = 0, event = "call", call = "MPI_Init" } }
        p:kill { rank = 1, at = { rank = 0, event = "call", call = "MPI_Init", level = "wire" } }'
    sed -i 's/"null"/"standby"/; s/survivors = true/&, timeout = 60/' s.lua
    judged 0
    # It was through MPI_Init by then, and nobody else has died.
    "$FAULTLINE" trace out/latest/1 >t
    grep -q 'r1#0:.* end  *signal 9 (Killed)' t
    [ "$(grep -c ' end  *exit 0' t)" -eq 2 ]
}

# What went wrong here: on a busy machine it came to its end before its parent had killed it.
@test "one that is to be killed in MPI_Init does nothing after it, however late its parent looks" {
    job "$BUILD/tests/mpi/lives_late_parent" 3 \
        'p:kill { rank = 1, at = { rank = 0, event = "call", call = "MPI_Init", level = "wire" } }'
    judged 1
    [[ "$output" == *"rank 1 was killed by step 1 of the plan, and no process has taken its place"* ]]
    [ "$(cat out/latest/1/output/r*.0.out | sort)" = "lives_late_parent: rank 0 is through MPI_Init
lives_late_parent: rank 2 is through MPI_Init" ]
}

@test "MPI_Comm_create_group that the library refuses at one member fails at all, and nobody waits" {
    job "$BUILD/tests/mpi/lives_refused" 3 ''
    sed -i 's/survivors = true/&, timeout = 60/' s.lua
    judged 0
    [ "$(cat out/latest/1/output/r*.0.out | grep -c 'lives_refused: rank . ok')" -eq 3 ]
}

@test "who learns of a death without a call that fails is in the trace, and drawn" {
    run -0 timeout 120 "$FAULTLINE" run --out out --no-control --filter 'before a call' "$ROOT/suites/lives/crash.lua"
    "$FAULTLINE" trace out/latest/1 >t
    [ "$(grep -c 'note  *learned: r1 has died' t)" -eq 3 ]
    "$FAULTLINE" report out/latest/1
    for rank in 0 2 3; do
        grep -q "r$rank#0 learned that r1#0 had died" out/latest/1/report.html
    done
    # By the group of a call: rank 0 has nothing to do with the dead one.
    cat >s.lua <<'LUA'
scenario "acked" { program = "survivors", ranks = 3, engine = "step", survivors = true, protocol = "null",
  arguments = { "--keep", "1:barrier", "2:recv=1", "2:send=0", "0:recv=2", "0:ack", "0:acked" },
  claims = { "U" }, plan = function(p) p:kill { rank = 1, call = "MPI_Barrier" } end }
LUA
    judged 0
    "$FAULTLINE" trace out/latest/1 >t
    event=$(sed -n 's/.*r0#0:e\([0-9]*\)  *app .*MPIX_Comm_failure_get_acked.*/\1/p' t)
    "$FAULTLINE" report out/latest/1
    grep -q "class=\"news learned\" data-from=\"\" data-to=\"f-r0-0-$event\"" out/latest/1/report.html
}

# Process 7 never comes. Process 4 is begun in the place of rank 1, and leaves, since rank 0 dies
# meanwhile, too.
@test "on the step engine a kill of nobody is no fault: the run is vacuous" {
    local victim
    for victim in 7 4; do
        printf 'scenario "nobody" { protocol = "respawn", program = "laplace", ranks = 4, survivors = true,
  engine = "step", arguments = { "--iterations", 10, "--size", 16 }, claims = { "H" },
  plan = function(p)
    p:kill { rank = 1, event = "call", level = "wire", nth = 30 }
    p:await { rank = 0, event = "phase", name = "respawn:shrunk" }
    p:kill { rank = 0, event = "call", level = "wire", nth = 9 }
    p:kill { rank = %d, at = { rank = 2, call = "MPI_Finalize" } }
  end }' "$victim" >s.lua
        judged 2
        [[ $output == *"killed nobody"*"rank $victim had no process when it was done"* ]]
    done
}

# The plan lets the receive of rank 0 take only what rank 2 sends, and rank 2 sends when all have agreed. But
# rank 1 agrees only when rank 0 has received what rank 1 sends.
@test "on the step engine a rank that agrees after a death gives up a choice that cannot come" {
    printf 'scenario "choice" { protocol = "null", program = "%s", ranks = 4, survivors = true,
  engine = "step", arguments = { "--keep", "0:irecv=any 1:ssend=0 agree=1 2:send=0 0:wait" },
  claims = { "H.progress" }, plan = function(p)
    p:choose { rank = 0, source = 2, event = "recv", after = "start" }
    p:kill { rank = 3, call = "MPIX_Comm_agree", after = "start" }
  end }' "$BUILD/programs/survivors" >s.lua
    judged 2
    [[ $output == *"step 1 of the plan could not be done: choose"* ]]
}

@test "a process in reserve sends on what the plan keeps with it while it waits for a death" {
    for engine in step mpiexec; do
        printf 'scenario "late from the start" { protocol = "pessimistic", program = "master_worker", ranks = 7,
  reserve = 3, survivors = true, engine = "%s", arguments = { "--iterations", 6, "--size", 4 },
  environment = { PESSIMISTIC_EVERY = 3, PESSIMISTIC_RESERVE = 3 }, claims = { "H", "M" },
  plan = function(p) p:jitter { ms = 10 } end }\n' "$engine" >s.lua
        run "$FAULTLINE" run s.lua
        echo "$output"
        [ "$status" -eq 0 ]
    done
}
