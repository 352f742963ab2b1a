#!/usr/bin/env bats
# A library under test that the program calls, that calls MPI by its MPI_ names and keeps ranks of its
# own (library/keeper.c); and a protocol that hides a rank from the program (library/hider.c).

bats_require_minimum_version 1.5.0
load driver_common

setup_file() {
    local here=$BATS_TEST_DIRNAME/library to=$BATS_FILE_TMPDIR
    compile() {
        mpicc -std=c11 -D_GNU_SOURCE -O2 -I"$BATS_TEST_DIRNAME/../harness" -I"$here" "$@"
    }
    compile -shared -fPIC -o "$to/libkeeper.so" "$here/keeper.c" &&
        compile -o "$to/worker" "$here/worker.c" -L"$to" -lkeeper -Wl,-rpath,"$to" &&
        compile -DOPENED -o "$to/opener" "$here/worker.c" &&
        compile -shared -fPIC -o "$to/libhider.so" "$here/hider.c" &&
        compile -o "$to/plain" "$here/plain.c"
}

# keep NAME PROGRAM FIELDS: a scenario of the library; rank 1 dies after its second line, unless
# FIELDS has a plan.
keep() {
    local plan='plan = function(p)
    p:await { rank = 1, event = "commit", epoch = 2 }
    p:kill { rank = 1, level = "wire", event = "send" }
  end'
    case $3 in *plan\ =*) plan= ;; esac
    printf 'scenario "%s" { protocol = "null", program = "%s/%s", arguments = { "%s" }, ranks = 5,
  %s %s %s }\n' "$1" "$BATS_FILE_TMPDIR" "$2" "$BATS_FILE_TMPDIR/libkeeper.so" "$3" \
        "${3:+,}" "$plan" >>s.lua
}

# The library's own: what keep() is given where the scenario says so.
SAID='library = "libkeeper.so", helpers = { 0, 3 }'

# kills RANK: a keeper dies instead.
kills() {
    printf '%s, plan = function(p)
    p:await { rank = 1, event = "commit", epoch = 2 }
    p:kill { rank = %d, level = "wire", event = "send" }
  end' "$SAID" "$1"
}

@test "what a library calls, and its ranks, are taken for the program's unless the scenario says so" {
    keep "not said" worker ""
    run "$FAULTLINE" run --no-control s.lua
    [ "$status" -eq 1 ]
    jq -e '[.results[] | select(.violations > 0) | .claim] | contains(["H.loss", "H.collective"])' \
        faultline-out/latest/1/verdict.json
}

@test "said: no violation, whoever dies; and the run says what it took for what" {
    keep "a rank of the program" worker "$SAID"
    keep "keeper 0" worker "$(kills 0)"
    keep "keeper 3" worker "$(kills 3)"
    keep "opened by the program" opener "$SAID"
    run "$FAULTLINE" run --keep s.lua
    [ "$status" -eq 0 ]
    for number in 1 2 3 4; do
        jq -e '[.results[] | select(.claim | test("^H.(loss|collective|result|orphan)$")) |
            select(.situations > 0)] | length == 4' "faultline-out/latest/$number/verdict.json"
    done
    [ "$(grep -cE '^# libkeeper.so: [0-9]{3} calls of MPI taken for the protocol.s; helper ranks 0, 3$' \
        <<<"$output")" -eq 4 ]
    run "$FAULTLINE" check faultline-out/latest/2
    [ "$status" -eq 0 ]
    [[ "$output" == *"calls of MPI taken for the protocol's; helper ranks 0, 3"* ]]
}

@test "a call that is the last thing a function of the library does is the library's, too" {
    keep "last" worker "$SAID, plan = function() end"
    "$FAULTLINE" run s.lua
    objdump -d "$BATS_FILE_TMPDIR/libkeeper.so" | grep -q 'jmp.*<MPI_Barrier@plt>'
    "$FAULTLINE" trace faultline-out/latest/1 >all
    grep -q 'wire .*MPI_Barrier' all
    run ! grep -q 'app .*MPI_Barrier' all
    grep -q 'app .*MPI_Allreduce' all
}

@test "a library that really is broken is found, and replayed" {
    keep "mixed" worker "$SAID, environment = { KEEPER_BREAKS = \"mixed\" }"
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"not ok 1 - mixed # H.result"* ]]
    [[ "$output" == *'control: "passes without faults"'* ]]
    run "$FAULTLINE" replay faultline-out/latest/1
    [ "$status" -eq 0 ]
    [[ "$output" == *"replayed 1/1"* ]]
}

@test "a library that no process has loaded, or that made no call" {
    keep "wrong name" worker 'library = "libkeepr.so", helpers = { 0, 3 }, plan = function() end'
    keep "no call" worker 'library = "libc.so", helpers = { 0, 3 }, plan = function() end'
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 3 ]
    [[ "$output" == *"not ok 1 - wrong name # harness-error"* ]]
    [[ "$output" == *"names the library libkeepr.so, and no process of the run has loaded"* ]]
    [[ "$output" == *"not ok 2 - no call # vacuous"* ]]
    [[ "$output" == *"libc.so, and it made no call of MPI by an MPI_ name"* ]]
}

@test "a protocol that hides a rank from the program: ranks are counted as the program counts them" {
    printf 'scenario "%s" { protocol = "%s/libhider.so", program = "%s/plain", ranks = 4, %s }\n' \
        "hidden" "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR" 'helpers = { 0 }, plan = function(p)
    p:kill { rank = 2, event = "call", call = "MPI_Sendrecv", nth = 2 }
  end' "not said" "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR" 'claims = { "H" }' >s.lua
    run "$FAULTLINE" run s.lua
    [ "$status" -eq 1 ]
    [[ "$output" == *"ok 1 - hidden"*"# helper rank 0"*"not ok 2 - not said # H.orphan"* ]]
    jq -e '.results[] | select(.claim == "H.result").situations == 3' \
        faultline-out/latest/1/verdict.json
}

# keep_example: examples/library, built here.
keep_example() {
    cp -r "$REPO/examples/library" here
    cd here
    make -s clean all PKG_CONFIG="PKG_CONFIG_PATH=$BUILD/pkgconfig pkg-config"
}

@test "the example of a library: survives what it is made for, and bad configurations are found" {
    keep_example
    run -0 "$FAULTLINE" run --engine step library.lua
    [ "$(grep -c '^ok' <<<"$output")" -eq 13 ]
    [ "$(grep -c '^# libkeep.so: .* helper rank 4$' <<<"$output")" -eq 13 ]
    # Files by their names: of the node that is named, and of both where the partner's copies go, too.
    [ "$(cat faultline-out/latest/7/durable/lost)" = $'removed node0/r1.0\nremoved node0/r1.1' ]
    [ "$(wc -l <faultline-out/latest/11/durable/lost)" -eq 4 ]
    "$FAULTLINE" trace faultline-out/latest/7 >all
    grep 'fault .* lost r1 and files of the store, step 1 of the plan$' all
    # What a node is lost with is what its disk had, and only that.
    run -0 "$FAULTLINE" run --keep --no-stacks --filter "lost with its disk" library.lua
    [ "$(grep -c '^ok' <<<"$output")" -eq 3 ]
    "$FAULTLINE" trace faultline-out/latest/3 >all
    [ "$(grep -c 'fault .* lost r[01] and the storage of its node, step 1 of the plan$' all)" -eq 2 ]
    [ -z "$(ls faultline-out/latest/3/store/node0)" ]
    [ "$(ls faultline-out/latest/3/store/node1)" != "" ]
    run -0 "$FAULTLINE" replay --repeat 2 faultline-out/latest/3
    [[ $output == *"replayed 2/2"* ]]
}

@test "files that a death takes along: none that matches is said, and what does not go together refused" {
    keep_example
    lost() { # lost FIELDS OF_SCENARIO
        printf 'scenario "s" { protocol = "null", program = "./solver", ranks = 5, claims = { "H" },
  library = "libkeep.so", helpers = { 4 }, nodes = { { 0, 1 }, { 2, 3 }, { 4 } },
  files = { ["keep.conf"] = "partner 2\\nsync yes\\nverify yes\\n" }, %s
  plan = function(p) p:kill { rank = 1, at = { rank = 4, event = "commit", epoch = 3 }, %s } end }\n' \
            "${2:-}" "$1" >lost.lua
        "$FAULTLINE" run --engine step lost.lua
    }
    run -0 lost 'lose_files = "nobody*"'
    [ "$(cat faultline-out/latest/1/durable/lost)" = "no file matches nobody*" ]
    run -64 lost 'lose_files = "x", lose = "rank"'
    [[ $output == *'lose_files and lose = "rank" or "node" do not go together in a plan'* ]]
    run -64 lost 'lose_files = "x"' 'survivors = true,'
    [[ $output == *'lose_files is done when the job starts again, and with "survivors" it does not'* ]]
    run -64 lost 'lose_files = 3'
    [[ $output == *'field "lose_files": a text is expected, not 3'* ]]
}

@test "within a function of the library that the program is linked with" {
    keep_example
    within() { # within FUNCTION
        printf 'scenario "within" { protocol = "null", program = "./solver", ranks = 5, claims = { "H" },
  library = "libkeep.so", helpers = { 4 }, nodes = { { 0, 1 }, { 2, 3 }, { 4 } },
  files = { ["keep.conf"] = "partner 2\\nsync yes\\nverify yes\\n" },
  plan = function(p) p:kill { rank = 1, event = "write", within = "%s", nth = 4 } end }\n' "$1" >within.lua
        "$FAULTLINE" run --engine step --keep within.lua
    }
    run -0 within keep_checkpoint
    grep -q '^keep_checkpoint .*/libkeep.so$' faultline-out/latest/1/functions
    "$FAULTLINE" trace faultline-out/latest/1 | grep -q 'fault .* kill r1, step 1 of the plan'
    run -64 within keep_chekpoint
    [[ $output == *'within: function "keep_chekpoint" is neither in '*' nor in what they are linked with; did you mean "keep_checkpoint"?'* ]]
    strip --strip-unneeded libkeep.so # it has no table but that of what it exports, and the program has
    run -0 within keep_checkpoint
}

@test "stores with names: told to the ranks, of all or of each node, named by conditions, lost one by one" {
    cat >stores.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *const name[] = {"SCRATCH", "RAM", "SSD"};
int main(int argc, char **argv)
{
    int rank;
    char path[8192], variable[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++)
        for (int i = 0; i < 3; i++) {
            snprintf(variable, sizeof variable, "FAULTLINE_STORE_%s", name[i]);
            const char *store = getenv(variable);
            snprintf(path, sizeof path, "%s/r%d", store, rank);
            if (step == 0)
                printf("r%d %s %s\n", rank, store + strlen(getenv("FAULTLINE_STORE")),
                       access(path, F_OK) == 0 ? "kept" : "empty");
            MPI_Barrier(MPI_COMM_WORLD);
            FILE *file = fopen(path, "w");
            fprintf(file, "%d\n", step);
            fclose(file);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
    mpicc -o stores stores.c
    one() { # one NAME LOSES: both ranks of node 1 die when rank 0 writes to its node's RAM for the third time
        printf 'scenario "%s" { protocol = "null", program = "./stores", ranks = 4, claims = { "H.progress" },
  nodes = { { 0, 1 }, { 2, 3 } }, stores = { "scratch", ram = "node", ssd = "node" },
  plan = function(p) p:kill { node = 1, %s, at = { rank = 0, event = "write", store = "ram", nth = 3 } } end }\n' \
            "$1" "$2"
    }
    one "RAM" 'lose_store = "ram"' >s.lua
    one "scratch" 'lose_store = "scratch"' >>s.lua
    one "node" 'lose = "storage"' >>s.lua
    local engine
    for engine in step mpiexec; do
        run -0 "$FAULTLINE" run --keep --engine $engine s.lua
        cd faultline-out/latest
        sort 1/output/r[02].1.out | diff - <(printf '%s\n' "r0 /node0/ram kept" "r0 /node0/ssd kept" \
            "r0 /scratch kept" "r2 /node1/ram empty" "r2 /node1/ssd kept" "r2 /scratch kept")
        sort 2/output/r[02].1.out | diff - <(printf '%s\n' "r0 /node0/ram kept" "r0 /node0/ssd kept" \
            "r0 /scratch empty" "r2 /node1/ram kept" "r2 /node1/ssd kept" "r2 /scratch empty")
        sort 3/output/r[02].1.out | diff - <(printf '%s\n' "r0 /node0/ram kept" "r0 /node0/ssd kept" \
            "r0 /scratch kept" "r2 /node1/ram empty" "r2 /node1/ssd empty" "r2 /scratch kept")
        # What was lost is told once, although two ranks of the node died.
        [ "$(sort 1/durable/lost)" = $'removed node1/ram/r2\nremoved node1/ram/r3' ]
        [ "$(wc -l <2/durable/lost)" -eq 4 ]
        cd ../..
    done
    # A node's power takes what was not synced, whatever store it is in; the two do not go together.
    one "both" 'lose = "node", lose_store = "ram"' >s.lua
    run -64 "$FAULTLINE" run s.lua
    [[ $output == *'lose_files and lose = "rank" or "node" do not go together in a plan'* ]]
}

@test "nodes and files: what the ranks are told, and what run folders of strangers may not" {
    keep_example
    cat >tells.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank;
    char line[64] = "", name[8192];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s/a.b", getenv("FAULTLINE_FILES") ? getenv("FAULTLINE_FILES") : "");
    FILE *file = fopen(name, "r");
    if (file != NULL && fgets(line, sizeof line, file) != NULL)
        printf("file %s", line);
    if (getenv("FAULTLINE_NODE") != NULL)
        printf("rank %d node %s %s\n", rank, getenv("FAULTLINE_NODE"),
               getenv("FAULTLINE_NODE_STORE") + atoi(argv[1]));
    MPI_Finalize();
    return 0;
}
END
    mpicc -o tells tells.c
    printf 'scenario "told" { protocol = "null", program = "./tells", ranks = 3, arguments = { 0 },
        nodes = { { 1 }, { 2, 0 } }, files = { ["a.b"] = "one\\ntwo" }, claims = { "H.progress" } }
        scenario "not" { protocol = "null", program = "./tells", ranks = 2, arguments = { 0 },
            claims = { "H.progress" } }' >told.lua
    for engine in mpiexec step; do
        run -0 "$FAULTLINE" run --keep --engine $engine told.lua
        cat faultline-out/latest/1/output/r*.out | sed 's|[^ ]*/store/|S/|' | sort >said
        printf 'file one\nfile one\nfile one\nrank 0 node 1 S/node1\nrank 1 node 0 S/node0\nrank 2 node 1 S/node1\n' |
            diff - said
        [ -z "$(cat faultline-out/latest/2/output/r*.out)" ]
    done
    # In what somebody else has packed a file may have any name.
    jq '.scenario.files = ["../../out=x"]' faultline-out/latest/1/run.json >run.json
    cp run.json faultline-out/latest/1/run.json
    run -64 "$FAULTLINE" replay faultline-out/latest/1
    [[ $output == *'field "files"'* ]]
    [ ! -e faultline-out/out ] && [ ! -e out ]
}
