#!/usr/bin/env bats
# Programs drawn from seeds, and long jobs, under each protocol: none raises an alarm.

bats_require_minimum_version 1.5.0

load driver_common

@test "programs drawn from seeds pass under each protocol, with deaths" {
    run -0 "$FAULTLINE" run --engine step --no-control --no-stacks --filter '*: program [1-8]' \
        "$REPO/suites/drawn/programs.lua"
    [ "$(grep -c '^ok' <<<"$output")" -eq 32 ]
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
        cancels sendrecv collectives nonblocking persistent-collectives; do
        off+="\"--$name\", 0, "
    done
    app '"--iterations", 200' >all.txt
    app "$off \"--iterations\", 200" >few.txt
    [ "$(wc -l <few.txt)" -gt 1000 ]
    for what in MPI_Ssend MPI_Ibsend MPI_Irsend MPI_Recv_init 'MPI_Recv .* from any' 'from any, tag any' \
        MPI_Iprobe MPI_Imrecv MPI_Cancel MPI_Sendrecv_replace MPI_Allgather MPI_Ialltoall \
        MPI_Scan_init; do
        grep -q "$what" all.txt || { echo "no $what" && return 1; }
        run ! grep "$what" few.txt
    done
}
