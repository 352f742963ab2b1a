#!/usr/bin/env bats
# `faultline explore`: every schedule of a small job, on the step engine.

bats_require_minimum_version 1.5.0

load driver_common

# explored WHAT RANKS [OPTION...]: explores a job of explore_order; its output is in $output.
explored() {
    local what=$1 ranks=$2
    shift 2
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = %d, arguments = { "%s" },
  claims = { "H.progress", "I" } }\n' "$what" "$BUILD/tests/mpi/explore_order" "$ranks" "$what" >s.lua
    run "$FAULTLINE" explore "$@" s.lua
    echo "$output"
}

# outcomes: how many different ones were printed.
outcomes() {
    grep -c '^    - "[0-9]* runs: ' <<<"$output"
}

@test "every order in which a wildcard can take messages is an outcome, and none is run twice" {
    explored order 4
    [ "$status" -eq 0 ]
    [[ "$output" == *'complete: every schedule of 4 ranks, 6 runs'* ]]
    [ "$(outcomes)" -eq 6 ]
}

@test "requests that complete together, and a poll that finds nothing, have all their outcomes" {
    explored some 3
    [ "$status" -eq 0 ]
    # The first alone, the second alone, or both: then one of them or both are told.
    [ "$(outcomes)" -eq 3 ]
    explored sent 3
    [ "$status" -eq 0 ]
    [ "$(outcomes)" -eq 3 ]
    # Twice the same in vain is left out unless it is asked for.
    explored poll 2
    [ "$status" -eq 0 ]
    [ "$(outcomes)" -eq 2 ]
    [[ "$output" == *'more than 1 poll in vain for the same'* ]]
    explored poll 2 --polls 2
    [ "$status" -eq 0 ]
    [ "$(outcomes)" -eq 3 ]
}

@test "a look commutes with what does not change its answer" {
    # Of two messages only the second was asked for.
    explored tags 2
    [[ "$output" == *'complete: every schedule of 2 ranks, 2 runs'* ]]
    [ "$(outcomes)" -eq 2 ]
    # Two look for a file, each before or after it is made.
    explored found 3
    [[ "$output" == *'complete: every schedule of 3 ranks, 4 runs'* ]]
    [ "$(outcomes)" -eq 4 ]
    # Who asks for all of two looks at the second only if the first is there.
    explored each 3
    [[ "$output" == *'complete: every schedule of 3 ranks, 4 runs'* ]]
    [ "$(outcomes)" -eq 2 ]
    explored met 3
    [[ "$output" == *'complete: every schedule of 3 ranks, 4 runs'* ]]
    [ "$(outcomes)" -eq 2 ]
}

@test "who polls for two things in turn is let go on by either of them" {
    explored spin 3
    [ "$status" -eq 0 ]
    # Each is there at the first look or not. Where neither is, the one or the other lets the rank go
    # on; and after the message of rank 2 was taken the other is asked for anew, in vain or not.
    [[ "$output" == *'complete: every schedule of 3 ranks, '* ]]
    [ "$(outcomes)" -eq 8 ]
}

@test "the sync of a folder by one rank may come before or after a name that another makes there" {
    printf 'scenario "synced" { protocol = "null", program = "%s", ranks = 2, arguments = { "synced" },
  claims = { "C.commit", "H.progress", "I" } }\n' "$BUILD/tests/mpi/explore_order" >s.lua
    run "$FAULTLINE" explore s.lua
    echo "$output"
    [ "$status" -eq 1 ]
    # Durable where the sync comes last, and else not.
    [ "$(outcomes)" -eq 2 ]
}

@test "a job in which nothing depends on the schedule is run once" {
    explored none 3
    [ "$status" -eq 0 ]
    [[ "$output" == *'complete: every schedule of 3 ranks, 1 runs'* ]]
}

@test "what a rank sees of a folder depends on the others, and a folder that is there on nobody" {
    explored list 3
    [ "$status" -eq 0 ]
    [ "$(outcomes)" -eq 3 ]
    explored there 3
    [ "$status" -eq 0 ]
    [[ "$output" == *'complete: every schedule of 3 ranks, 1 runs'* ]]
}

@test "a deadlock that one schedule has is found, with the run that shows it" {
    explored race 3
    [ "$status" -eq 1 ]
    [ "$(outcomes)" -eq 2 ]
    folder=$(sed -n 's/.*violation .*faultline report \([^"]*\)".*/\1/p' <<<"$output")
    run "$FAULTLINE" check "$folder"
    [ "$status" -eq 1 ]
    run "$FAULTLINE" replay "$folder"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"replayed 1/1"* ]]
}

@test "a rank that is killed is started again in every schedule" {
    printf 'scenario "killed" { protocol = "blocking", program = "ring", ranks = 2, claims = { "B", "H" },
  arguments = { "--iterations", 12 }, plan = function(p)
    p:kill { rank = 1, event = "phase", name = "blocking:mid-write", nth = 1 } end }\n' >s.lua
    run "$FAULTLINE" explore --runs 10 s.lua
    echo "$output"
    [ "$status" -eq 2 ]
    [[ "$output" == *"not complete: 10 runs"* ]]
    [[ "$output" == *"10 runs: pass"* ]]
}

@test "what cannot be explored is refused by name" {
    printf 'scenario "held" { protocol = "null", program = "ring", ranks = 2, plan = function(p)
    p:kill { rank = 1, at = { rank = 0, event = "result", name = "token" } } end }\n' >s.lua
    run "$FAULTLINE" explore s.lua
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *'step 1 of "held"'* ]]
    run "$FAULTLINE" explore --runs 0 s.lua
    [ "$status" -eq 64 ]
    printf 'scenario "nodes" { protocol = "null", program = "ring", ranks = 2, nodes = { { 0 }, { 1 } } }\n' >s.lua
    run "$FAULTLINE" explore --crashes 1 --losses s.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *'takes no scenario with nodes'* ]]
    printf 'scenario "go on" { protocol = "null", program = "ring", ranks = 2, survivors = true }\n' >s.lua
    run "$FAULTLINE" explore --crashes 1 --losses s.lua
    [ "$status" -eq 64 ]
    [[ "$output" == *'loses nothing where others survive'*'"go on"'* ]]
}

# deaths [OPTION...]: a job of two ranks in which the first dies at any place.
deaths() {
    printf 'scenario "deaths" { protocol = "null", program = "%s", ranks = 2, arguments = { "order" },
  claims = { "H.progress", "I" } }\n' "$BUILD/tests/mpi/explore_order" >s.lua
    run "$FAULTLINE" explore --crashes 1 --out out "$@" s.lua
    echo "$output"
}

@test "a rank dies before each of its calls, and the job is started again in every schedule" {
    deaths
    [ "$status" -eq 0 ]
    [[ "$output" =~ 'complete: every schedule of 2 ranks with at most 1 crash more, at '([0-9]+)' places' ]]
    [ "${BASH_REMATCH[1]}" -ge 4 ]
    places=${BASH_REMATCH[1]}
    # The store is empty in all of them: what comes after is explored once.
    [[ "$output" == *'; 1 stores"'* ]]
    # And twice: at each of the places in the next life, too, after each first death.
    rm -r out
    deaths --crashes 2
    [ "$status" -eq 0 ]
    [[ "$output" == *"complete: every schedule of 2 ranks with at most 2 crashes more, at $((places + places * places)) places"* ]]
}

@test "a program comes to the same outcomes with the reduction as in all orders" {
    # The plate is too small: which rank ends first, by itself, depends on the schedule.
    printf 'scenario "small" { protocol = "null", program = "laplace", ranks = 2,
  arguments = { "--size", 4 }, claims = { "H.progress", "I" } }\n' >s.lua
    run "$FAULTLINE" explore s.lua
    echo "$output"
    [[ "$output" == *'complete: every schedule of 2 ranks, 2 runs'* ]]
    few=$(sed -n 's/^    - "[0-9]* runs: \([^:]*\).*/\1/p' <<<"$output" | sort)
    [ "$(outcomes)" -eq 2 ]
    run "$FAULTLINE" explore --all-orders s.lua
    echo "$output"
    [[ "$output" =~ 'complete: every schedule of 2 ranks, '([0-9]+)' runs' ]]
    [ "${BASH_REMATCH[1]}" -ge 20 ]
    [ "$few" = "$(sed -n 's/^    - "[0-9]* runs: \([^:]*\).*/\1/p' <<<"$output" | sort)" ]
}

@test "ranks die in every life of a job whose own plan kills one" {
    printf 'scenario "killed" { protocol = "null", program = "%s", ranks = 2, arguments = { "order" },
  claims = { "H.progress", "I" }, plan = function(p)
    p:kill { rank = 1, event = "call", call = "MPI_Finalize" } end }\n' "$BUILD/tests/mpi/explore_order" >s.lua
    run "$FAULTLINE" explore --crashes 1 s.lua
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" =~ 'complete: every schedule of 2 ranks with at most 1 crash more, at '([0-9]+)' places' ]]
    # Before a send, a receive and MPI_Finalize, in the life that the plan ends and in the next one.
    [ "${BASH_REMATCH[1]}" -ge 5 ]
    # As it is a run has two lives, with a death more three.
    [[ "$output" == *'runs: pass'* ]]
}

@test "each death that is added has a life more, where the scenario allows one alone" {
    printf 'scenario "one life" { protocol = "null", program = "%s", ranks = 2, arguments = { "order" },
  claims = { "H.progress", "I" }, max_incarnations = 1 }\n' "$BUILD/tests/mpi/explore_order" >s.lua
    run -0 "$FAULTLINE" explore --crashes 2 s.lua
    echo "$output"
    [[ "$output" == *'complete: every schedule of 2 ranks with at most 2 crashes more, '* ]]
    [ "$(outcomes)" -eq 1 ]
    [[ "$output" == *' runs: pass'* ]]
}

@test "a death that comes before one of the plan's is judged, though the plan's does not come about" {
    printf 'scenario "killed" { protocol = "null", program = "%s", ranks = 2, arguments = { "order" },
  claims = { "H.progress", "I" }, plan = function(p)
    p:kill { rank = 1, event = "call", call = "MPI_Finalize", incarnation = 0 } end }\n' "$BUILD/tests/mpi/explore_order" >s.lua
    run "$FAULTLINE" explore --crashes 1 s.lua
    echo "$output"
    [ "$status" -eq 0 ]
    # Before MPI_Send, in the life in which the plan would have killed the rank later.
    [[ "$output" == *'vacuous I.installed'* ]]
}

@test "a line that is told to be committed is so before and after the death of another rank" {
    printf 'scenario "commit" { protocol = "null", program = "%s", ranks = 2, arguments = { "commit" },
  claims = { "C.restore", "H.progress", "I" } }\n' "$BUILD/tests/mpi/explore_order" >s.lua
    run "$FAULTLINE" explore --crashes 1 s.lua
    echo "$output"
    [ "$status" -eq 1 ]
    # It is lost where the rank that told it dies, and where the other one does.
    [[ "$output" == *'violation C.restore killed-initiator'* ]]
    [[ "$output" == *'violation C.restore initiator'* ]]
}

@test "a search that was cut off goes on where it stopped, to the same end" {
    deaths --jobs 1
    whole=$(grep -o 'complete: .*' <<<"$output")
    outcomes=$(grep '^    - "[0-9]* runs' <<<"$output")
    deaths --jobs 1 --runs 3
    [ "$status" -eq 2 ]
    [[ "$output" == *'not complete: 3 runs'* ]]
    folder=$(sed -n 's/^# runs in //p' <<<"$output")
    run "$FAULTLINE" explore --crashes 1 --resume "$folder" s.lua --jobs 1 --runs 6
    [ "$status" -eq 2 ]
    run "$FAULTLINE" explore --crashes 1 --resume "$folder" s.lua --jobs 1
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$whole" = "$(grep -o 'complete: .*' <<<"$output")" ]
    [ "$outcomes" = "$(grep '^    - "[0-9]* runs' <<<"$output")" ]
    run "$FAULTLINE" explore --resume "$folder" s.lua
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *'a search of something else'* ]]
    [[ "$output" != *'explored:'* ]]
    local other
    for other in --losses '--polls 2' '--preemptions 2' --all-orders; do
        # shellcheck disable=SC2086 # an option and its number
        run -64 "$FAULTLINE" explore --crashes 1 $other --resume "$folder" s.lua
        [[ "$output" == *'a search of something else'* ]] || { echo "$other: $output" && return 1; }
    done
    sed 's/"order"/"look"/' s.lua >other && mv s.lua same.lua && mv other s.lua
    run "$FAULTLINE" explore --crashes 1 --resume "$folder" s.lua
    echo "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *'a search of something else'* ]]
    mv same.lua s.lua
    head -c 600 "$folder/1/state" >cut && cp cut "$folder/1/state"
    run "$FAULTLINE" explore --crashes 1 --resume "$folder" s.lua
    [ "$status" -eq 3 ]
    [[ "$output" == *damaged* ]]
}

@test "a search that cannot write its state still ends with the status of the violation that it found" {
    explored race 3 --runs 2
    folder=$(sed -n 's/^# runs in //p' <<<"$output")
    # The state is first written under a name with the number of the process.
    # shellcheck disable=SC2016 # expanded there
    run -1 bash -c 'mkdir "$1/1/state.$$.new" && exec "$0" explore --resume "$1" s.lua' "$FAULTLINE" "$folder"
    [[ "$output" == *'error: "cannot write '*'/1/state: Is a directory"'* ]]
}

@test "the run in which a search is interrupted is made again when it goes on" {
    cat >prepare <<'END'
#!/bin/sh
# Says that a run begins; the second waits.
cd "$1" && echo >>begun
[ "$(wc -l <begun)" -ne 2 ] || while [ ! -e go ]; do sleep 0.1; done
END
    chmod +x prepare
    touch go
    printf 'for _, name in ipairs { "look", "look again" } do
  scenario(name) { protocol = "null", program = "%s", ranks = 2, arguments = { "look" },
    claims = { "H.progress" }, setup = { "./prepare", "%s" } } end\n' "$BUILD/tests/mpi/explore_order" "$PWD" >s.lua
    run -0 "$FAULTLINE" explore --jobs 1 --out whole s.lua
    whole=$(grep -E 'complete: |^    - "[0-9]* runs' <<<"$output")
    rm begun go
    # In a script a command in the background ignores SIGINT, unless it is told to.
    env --default-signal=INT "$FAULTLINE" explore --jobs 1 --out cut s.lua >tap 3>&- &
    search=$!
    until [ "$(wc -l <begun 2>/dev/null || echo 0)" -eq 2 ]; do
        kill -0 "$search"
        sleep 0.1
    done
    kill -INT "$search"
    local status=0
    wait "$search" || status=$?
    [ "$status" -eq 130 ]
    [ "$(grep -c '^not ok 1 - look # not exhausted' tap)" -eq 1 ]
    [ "$(tail -n 1 tap)" = 'Bail out! interrupted by SIGINT' ]
    run ! grep -q 'look again' tap
    touch go
    run -0 "$FAULTLINE" explore --jobs 1 --resume cut/latest s.lua
    echo "$output, and not $whole"
    [ "$whole" = "$(grep -E 'complete: |^    - "[0-9]* runs' <<<"$output")" ]
}

@test "few preemptions are few schedules, and what they leave out is told" {
    explored look 2 --preemptions 0
    [ "$status" -eq 0 ]
    few=$(sed -n 's/.* preemptions, \([0-9]*\) runs.*/\1/p' <<<"$output")
    [[ "$output" == *'choices with more than 0 preemptions, and what comes after them'* ]]
    explored look 2 --preemptions 1
    [ "$status" -eq 0 ]
    [ "$(sed -n 's/.* preemption, \([0-9]*\) runs.*/\1/p' <<<"$output")" -gt "$few" ]
}

# survived WHAT RANKS [OPTION...]: a job of explore_death, whose last rank dies and others go on.
survived() {
    local what=$1 ranks=$2
    shift 2
    printf 'scenario "%s" { protocol = "null", program = "%s", ranks = %d, arguments = { "%s" },
  survivors = true, claims = { "H.progress", "I" }, plan = function(p)
    p:kill { rank = %d, event = "call", call = "MPI_Finalize" } end }\n' \
        "$what" "$BUILD/tests/mpi/explore_death" "$ranks" "$what" $((ranks - 1)) >s.lua
    run "$FAULTLINE" explore "$@" s.lua
    echo "$output"
}

@test "where others survive, each of them is told of a death before or after each of its calls" {
    survived send 3
    [ "$status" -eq 0 ]
    # Two ranks send twice: each is told before the first, before the second, or later.
    [[ "$output" == *'complete: every schedule of 3 ranks, 9 runs, 0 of them cut short'* ]]
    [ "$(outcomes)" -eq 9 ]
    survived given 2
    [[ "$output" == *'complete: every schedule of 2 ranks, 1 runs'* ]]
}

@test "a death lets a receive from anybody go instead of a message, and a broadcast instead of its root" {
    survived any 2
    [ "$status" -eq 0 ]
    # The first receive gets the message, or the second one does, or none.
    [ "$(outcomes)" -eq 3 ]
    survived leave 3
    [ "$status" -eq 0 ]
    # Of rank 0 and of rank 1, each by itself.
    [ "$(outcomes)" -eq 4 ]
}

@test "a synchronous message comes to its receive before the receiver's death, or after it" {
    survived matched 2
    [ "$status" -eq 0 ]
    # It is received or not, and rank 0 is told of the death before its second send or after it.
    [[ "$output" == *'complete: every schedule of 2 ranks, 5 runs, 0 of them cut short'* ]]
    [ "$(outcomes)" -eq 4 ]
}

@test "a communicator is revoked before or after each call on it, and processes are made anew" {
    survived revoke 3
    [ "$status" -eq 0 ]
    [[ "$output" == *'complete: every schedule of 3 ranks, '* ]]
    [ "$(outcomes)" -eq 7 ]
    # Two ranks revoke it, and the one of them may come late enough to see what the other's revocation
    # has let a third one do.
    survived twice 3
    [[ "$output" == *'complete: every schedule of 3 ranks, 16 runs, 0 of them cut short'* ]]
    [ "$(outcomes)" -eq 5 ]
    # A receive by name gets its message or is told of the revocation, though the message is there when
    # its rank waits for it; and so is the send, where it waits for its receive.
    survived named 3
    [[ "$output" == *'complete: every schedule of 3 ranks, 13 runs, '* ]]
    [ "$(outcomes)" -eq 4 ]
    printf 'scenario "respawn" { protocol = "respawn", program = "laplace", ranks = 2,
  survivors = true, arguments = { "--iterations", 1, "--size", 16 }, claims = { "H" },
  plan = function(p) p:kill { rank = 1, event = "call", level = "wire", nth = 6 } end }\n' >s.lua
    run "$FAULTLINE" explore s.lua
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *'complete: every schedule of 2 ranks, '* ]]
    ! grep '^    - "[0-9]* runs: ' <<<"$output" | grep -v 'runs: pass'
}

@test "where others survive, two deaths are one part in whatever order they come about" {
    printf 'scenario "two" { protocol = "null", program = "%s", ranks = 2, survivors = true,
  arguments = { "send" }, claims = { "I" } }\n' "$BUILD/tests/mpi/explore_death" >s.lua
    # Rank 0 may die before its two sends and MPI_Finalize, rank 1 before MPI_Finalize. (Nobody takes
    # the place of who dies early, which violates H.progress.)
    run "$FAULTLINE" explore --crashes 1 s.lua
    echo "$output"
    [[ "$output" == *'at most 1 crash more, at 4 places'* ]]
    run "$FAULTLINE" explore --crashes 2 s.lua
    echo "$output"
    [[ "$output" == *'complete: every schedule of 2 ranks with at most 2 crashes more, at 7 places'* ]]
}

@test "programs of published shapes have the schedules that stand beside the published counts" {
    for only in 'server: 4' 'looks: 2' 'posted: 3' 'single: 3'; do
        ONLY=$only run "$REPO/scripts/explore_published.sh" "$BUILD"
        echo "$output"
        [ "$status" -eq 0 ]
    done
    # The script looks at runs and at what they came to.
    [[ "$output" == *'single: 3 ranks '*' 1 runs,   0 violate'* ]]
    ONLY='crossed, no' run "$REPO/scripts/explore_published.sh" "$BUILD"
    [[ "$output" == *'1 runs,   1 violate'* ]]
}

@test "races that runs under mpiexec do not show are found in each of the suite's programs" {
    run "$FAULTLINE" explore "$REPO/suites/explore/matching.lua"
    echo "$output"
    [ "$status" -eq 1 ]
    [ "$(grep -c 'complete: every schedule of 3 ranks, ' <<<"$output")" -eq 3 ]
    [ "$(grep -c '^    - "[0-9]* runs: violation H.progress ' <<<"$output")" -eq 3 ]
    [ "$(grep -c '^    - "[0-9]* runs: pass' <<<"$output")" -eq 3 ]
}
