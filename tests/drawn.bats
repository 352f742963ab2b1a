#!/usr/bin/env bats
# Programs drawn from seeds, and long jobs, under each protocol: none raises an alarm.

bats_require_minimum_version 1.5.0

load driver_common
load drawn_common

@test "programs drawn from seeds pass under each protocol, with deaths" {
    none_fails programs '*: program [1-2]' 10 16
}

@test "programs of three lives whose messages are long on their way pass under each protocol" {
    run -0 "$FAULTLINE" run --engine step --no-control --no-stacks --filter '*: the first lines 1' \
        "$REPO/suites/drawn/grid.lua"
    [ "$(grep -c '^ok' <<<"$output")" -eq 4 ]
}

# What went wrong here: notes of messages on communicators that the program had freed were of none
# (C.late.log, S.channel, R.clear), a broadcast directly after the making of its communicator was not
# seen on the wire (D.bcast), and where messages are logged a newcomer did not follow what others knew
# of deliveries (M.order).
@test "programs that do what programs seldom do pass under each protocol" {
    none_fails rare '*e 1' 12 17
}

# What went wrong here, with no protocol at fault: a message was recorded before the call that made
# its communicator had returned (S.channel), and a receive that was brought back had been cancelled
# before the line (C.nondet).
@test "programs with a line at each step that die soon after one pass under each protocol" {
    none_fails grid '*: a line in each life [12]' 8 8 --seed 2
}

@test "programs with receives that are cancelled and outlive a line pass" {
    run -0 "$FAULTLINE" run --engine step --no-control --no-stacks \
        --filter '*: cancelled receives 1' "$REPO/suites/drawn/grid.lua"
    [ "$(grep -c '^ok' <<<"$output")" -eq 3 ]
}

@test "programs pass while messages that tell of a line are held" {
    none_fails lines '*: held messages [1-2]' 2 6
}

# What went wrong here, with C3: in recovery a synchronous send was waited for that had been over when a
# probe took its message in.
@test "programs in which all hangs on what nobody determines pass under each protocol" {
    none_fails tokens '*: tokens [12]' 10 14
}

@test "programs with many collective calls at once, and such that hear nothing from others, pass" {
    none_fails others '*[ys] [12]' 11 12
}

@test "programs whose ranks die soon after one another pass where messages are logged" {
    none_fails deaths '*: [ilo]* 1' 9 11
}

# What went wrong here, with no protocol at fault: a rank that agreed after a death did not hand on what
# the plan held (H.progress), what a rank had received from a survivor was from nobody when a second
# process took its place (H.orphan), and a process that had ended by itself could be killed (I.installed).
@test "ranks die in a repair, together, as new processes and at the end, and the world is repaired" {
    none_fails worlds '*: * [1-4]' 24 32
}

# drawn_again SEED SUITE FILTER: runs these scenarios, which must all pass, and prints how many they are.
# The seeds are those with which something went wrong once; since then programs are drawn otherwise, so
# that the same need not come about again.
drawn_again() {
    run -0 "$FAULTLINE" run --engine step --seed "$1" --no-control --no-stacks --filter "$3" \
        "$REPO/suites/drawn/$2.lua"
    grep -c '^ok' <<<"$output"
}

# What went wrong here: under CAMEL a new process got its contribution to a reduction back, and sent
# it again without the determinants of the messages that were delivered before it (M.orphan).
@test "programs whose ranks die by turns pass under CAMEL" {
    [ "$(drawn_again 2 deaths 'camel: by turns *')" -eq 4 ]
}

# What went wrong here: a probe with a tag had taken a message in, and C3 gave it to a receive with any
# tag, ahead of what the same rank had sent before (H.order).
@test "a receive with any tag gets what was sent first, though a probe has found what was sent later" {
    [ "$(drawn_again 1 tokens 'c3: tokens 4')" -eq 1 ]
}

# A message that was found before the line and is received beyond it, in the next life, is known by
# what the protocol tells of it when it brings it back.
@test "messages that a matched probe has found in another life are known when they are received" {
    local protocol
    for protocol in c3 chandy_lamport cocheck; do
        printf 'scenario "found" { protocol = "%s", program = "drawn", ranks = 4, claims = { "H" },
            arguments = { "--seed", 6, "--iterations", 40, "--size", 8, "--received", 5, "--nobody", 0,
                          "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0 },
            environment = { %s_EVERY = 1 },
            plan = function(p) p:kill { rank = 1, at = { event = "commit", epoch = 6 } } end }' \
            "$protocol" "$(cut -d _ -f 1 <<<"${protocol^^}")" >found.lua
        run -0 "$FAULTLINE" run --engine step --keep --no-control --out "$protocol" found.lua
        "$FAULTLINE" trace "$protocol/latest/1" | grep -E '^ +[0-9.]+ +r.#1:.* app .* MPI_Mrecv ' >received
        [ "$(wc -l <received)" -gt 50 ]
        run ! grep -v ' message [0-9]*: got ' received
    done
}

# What went wrong here: C3 gave the program the message that its first probe had found, but its second
# one, beyond the log, had found another.
@test "a probe finds in recovery what the one before it has found" {
    run -0 "$FAULTLINE" run --engine step --no-control --no-stacks \
        --filter 'a probe asks again *' "$REPO/suites/mutants/c3.lua"
    [ "$(grep -c '^ok' <<<"$output")" -eq 12 ]
}

# What went wrong here: a marker, or a notification, came to a rank that had not registered its state,
# and its checkpoint was empty.
@test "a rank that comes late to checkpoint_restore has its state in the first line" {
    run -0 "$FAULTLINE" run --engine step --no-control --no-stacks --filter '*comes late*' \
        "$REPO/suites/mutants/lines.lua"
    [ "$(grep -c '^ok' <<<"$output")" -eq 2 ]
}

@test "a hundred lines and twenty deaths under each protocol" {
    run -0 "$FAULTLINE" run --engine step -v --no-control --no-stacks --filter '*: 100 lines*' \
        "$REPO/suites/drawn/long.lua"
    [ "$(grep -c '^  end: "finished after 21 incarnations' <<<"$output")" -eq 4 ]
}

# app ARGUMENTS: the calls of a drawn program with these, as the application made them.
app() {
    printf 'scenario "drawn" { protocol = "null", program = "%s", ranks = 4, arguments = { %s } }\n' \
        "$BUILD/programs/drawn" "$1" >drawn.lua
    "$FAULTLINE" run --engine step --keep --no-control --out drawn drawn.lua >/dev/null
    "$FAULTLINE" trace drawn/latest/1 | grep ' app '
}

@test "a drawn program whose features are switched off does without them, and else has them all" {
    local off='' name what
    for name in synchronous buffered ready persistent any-source any-tag probes matched-probes \
        matched-ahead cancels cancelled-ahead sendrecv collectives nonblocking outstanding \
        persistent-collectives nobody lasting; do
        off+="\"--$name\", 0, "
    done
    app '"--iterations", 200' >all.txt
    app "$off \"--iterations\", 200" >few.txt
    [ "$(wc -l <few.txt)" -gt 1000 ]
    for what in MPI_Ssend MPI_Ibsend MPI_Irsend MPI_Recv_init 'MPI_Recv .* from any' 'from any, tag any' \
        MPI_Iprobe MPI_Imrecv MPI_Cancel MPI_Sendrecv_replace MPI_Allgather MPI_Ialltoall \
        MPI_Scan_init 'MPI_Mprobe .* for null' 'MPI_Recv_init .* tag 30010' 'MPI_Recv_init .* tag 30011'; do
        grep -q "$what" all.txt || { echo "no $what" && return 1; }
        run ! grep "$what" few.txt
    done
}

@test "a drawn program makes communicators by the constructors that it is given" {
    local name
    app '"--iterations", 200' >none.txt
    app '"--iterations", 200, "--constructors", 3' >few.txt
    app '"--iterations", 200, "--constructors", 8' >all.txt
    for name in dup create create_group; do
        grep -q " MPI_Comm_$name " all.txt || { echo "no $name" && return 1; }
    done
    for name in MPI_Cart_create MPI_Graph_create MPI_Dist_graph_create_adjacent; do
        grep -q " $name " all.txt || { echo "no $name" && return 1; }
        run ! grep " $name " few.txt
    done
    grep -q ' MPI_Comm_create ' few.txt
    run ! grep ' MPI_Comm_create ' none.txt
}

@test "a drawn program probes in several ways for what it receives later, if it is to" {
    local others='"--probes", 0, "--nobody", 0, "--lasting", 0'
    app "\"--sought\", 0, $others" >without
    run ! grep -E 'MPI_(Ip|P)robe' without
    app "\"--sought\", 1, $others" >with
    grep -q 'MPI_Probe ' with
    for asked in 'any, tag any' 'any, tag [01],' 'r[0-9], tag any' 'r[0-9], tag [01],'; do
        grep -qE "MPI_Iprobe +for $asked" with
    done
}

@test "drawn programs that are varied do without this or that, as their seed has it" {
    local seed
    for seed in 1 2 3 4 5 6 7 8; do
        app "\"--varied\", 1, \"--seed\", $seed, \"--iterations\", 40" >"varied.$seed"
        [ "$(wc -l <"varied.$seed")" -gt 100 ]
    done
    [ "$(grep -l MPI_Cancel varied.* | wc -l)" -ge 1 ]
    [ "$(grep -L MPI_Cancel varied.* | wc -l)" -ge 1 ]
    [ "$(grep -l MPI_Sendrecv_replace varied.* | wc -l)" -ge 1 ]
    [ "$(grep -L MPI_Sendrecv_replace varied.* | wc -l)" -ge 1 ]
}

# A receive of any source is begun ahead of the first line of a second life, and completed beyond its
# checkpoint, as a late message; then its rank sends itself a message of no bytes.
@test "the grid: a trace gives the cells that it has seen, and the table their letters" {
    printf '{"event":"r0#1:%s\n' \
        'e0","level":"self","kind":"note","note":"restored","value":1}' \
        'e1","level":"app","kind":"recv","call":"MPI_Irecv","enter_ns":1,"comm":1,"want_peer":"any","want_tag":7,"request":3}' \
        'e2","level":"self","kind":"note","note":"checkpoint","value":2}' \
        'e3","level":"self","kind":"note","note":"logged","value":2,"peer":1,"tag":7}' \
        'e4","level":"app","kind":"complete","call":"MPI_Wait","enter_ns":5,"request":3,"peer":1,"tag":7}' \
        'e5","level":"self","kind":"note","note":"saved","value":2}' \
        'e6","level":"app","kind":"send","call":"MPI_Send","enter_ns":8,"comm":1,"peer":0,"tag":7,"bytes":0}' \
        'e7","level":"app","kind":"call","call":"MPI_Testany","enter_ns":9,"request":3}' \
        'e8","level":"app","kind":"complete","call":"MPI_Testsome","enter_ns":10,"done":true,"request":3}' \
        'e9","level":"app","kind":"complete","call":"MPI_Testsome","enter_ns":11,"done":true,"request":4}' \
        'e10","level":"app","kind":"call","call":"MPI_Testsome","enter_ns":9,"request":3}' \
        'e11","level":"app","kind":"call","call":"MPI_Waitsome","enter_ns":12,"request":3}' \
        >trace.json
    lua5.4 "$REPO/scripts/grid/read.lua" c3 <trace.json >cells
    printf 'c3\t%s\n' $'MPI_Irecv, any source\tbetween\t2\t1' $'MPI_Irecv, any source\tlate\t2\t1' \
        $'MPI_Irecv, any source\tpending\t2\t1' $'MPI_Send\tbetween\t2\t2' \
        $'MPI_Testany: no\tbetween\t2\t2' $'MPI_Testsome: several\tbetween\t2\t2' \
        $'MPI_Testsome: yes\tbetween\t2\t2' $'MPI_Wait\tlogging\t2\t1' \
        $'send of no bytes\tbetween\t2\t2' \
        $'send to itself\tbetween\t2\t2' | diff - cells
    run -0 lua5.4 "$REPO/scripts/grid/table.lua" "$REPO/scripts/grid" <cells
    grep -qE '^MPI_Irecv, any source +late +\. +\. +\. +3 +\. ' <<<"$output"
    grep -qE '^c3 \(3\): 10 of [0-9]+ cells seen' <<<"$output"
}

# What went wrong here: a follower that waited in MPI_Init forgot what its leader had told it when that
# one died (H.progress, H.orphan), and a receive that was under way over two lines was taken for
# complete, with no protocol at fault (R.buffer).
@test "a leader dies while its follower begins, a receive goes on over two lines" {
    [ "$(drawn_again 3 deaths 'replication: begins late *')" -eq 4 ]
    [ "$(drawn_again 4001 tokens 'cocheck: tokens 4')" -eq 1 ]
}

@test "messages that are longer than their receives, under each protocol" {
    none_fails rare '*: too long *' 10 10
}

@test "calls with arguments that are wrong do nothing, by the library, on the engine and under each protocol" {
    for engine in mpiexec step; do
        echo "scenario 'wrong' { protocol = 'null', program = 'drawn', ranks = 3, claims = { 'H' },
          engine = '$engine', arguments = { '--wrong', 1, '--seed', 4 } }" >s.lua
        run -0 "$FAULTLINE" run --no-control --no-stacks s.lua
    done
    [ "$(drawn_again 1 rare '*: rare 9')" -ge 7 ]
}
