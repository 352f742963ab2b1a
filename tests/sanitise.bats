#!/usr/bin/env bats
# Every verb of a command that was built with AddressSanitizer, LeakSanitizer and
# UndefinedBehaviorSanitizer, over runs that pass, fail and are damaged; the recorder under
# ThreadSanitizer. In `make test` the taps and what they are loaded into are the usual ones;
# SANITISED=FOLDER names a whole build that is sanitised (`make sanitise`).

setup_file() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    if [ -z "${SANITISED:-}" ]; then
        SANITISED=$BUILD/checked
        export FAULTLINE_TAPS=$BUILD/libfaultline.so
        export FAULTLINE_PROTOCOLS=$BUILD/protocols FAULTLINE_PROGRAMS=$BUILD/programs
    else
        FIRST=$(gcc -print-file-name=libasan.so)
        export FIRST
    fi
    export REPO BUILD SANITISED PROGRAMS=${FAULTLINE_PROGRAMS:-$SANITISED/programs}
    export FOUND=$BATS_FILE_TMPDIR/found
    mkdir "$FOUND"
    export ASAN_OPTIONS=log_path=$FOUND/log UBSAN_OPTIONS=log_path=$FOUND/log:print_stacktrace=1
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >s.lua <<'LUA'
scenario "passes" { protocol = "blocking", program = "tally", ranks = 2, claims = { "H", "B" },
  plan = function(p) p:kill { rank = 1, event = "send", nth = 5 } end }
scenario "is violated" { protocol = "null", program = "tally", ranks = 2, claims = { "H", "I" },
  plan = function(p) p:kill { rank = 1, event = "send", nth = 5 } end, max_incarnations = 1 }
scenario "did not happen" { protocol = "c3", program = "ring", ranks = 2, claims = { "C" },
  plan = function(p) p:kill { rank = 1, event = "send", nth = 100000 } end }
LUA
}

setup() {
    bats_require_minimum_version 1.5.0
    cd "$BATS_FILE_TMPDIR" || return 1
}

# verb STATUS WORD...: the command ends with this status (any: one that is documented), and no
# sanitiser has found anything.
verb() {
    local expected=$1 status=0 report
    shift
    [ "$expected" != any ] || expected='0|1|2|3|64'
    timeout -k 5 900 "$SANITISED/faultline" "$@" >out.txt 2>err.txt || status=$?
    for report in "$FOUND"/* ; do
        [ ! -s "$report" ] || head -60 "$report"
        [ ! -s "$report" ] || return 1
    done
    # What a rank said went to its own file.
    if grep -rE 'ERROR: (Address|Leak)Sanitizer|runtime error: ' faultline-out --include='*.err'; then
        return 1
    fi
    [[ $status =~ ^($expected)$ ]] || head -20 out.txt err.txt
    [[ $status =~ ^($expected)$ ]]
}

@test "run, with every form of its results" {
    verb 1 run --keep --junit j.xml --json j.json --github g.txt --gitlab g.json --html html \
        --tap t.tap --durations s.lua
    [ "$(grep -cE '^(not )?ok' out.txt)" -eq 3 ]
    verb 0 run --filter passes --repeat 2 s.lua
}

@test "what was stored: check, trace, report, export" {
    local out=faultline-out/of-all run
    mkdir -p "$out"
    cp -r "$(find faultline-out -maxdepth 1 -name '2*' | sort | head -1)"/. "$out"
    verb 1 check -v --tap t.tap "$out"/1 "$out"/2 "$out"/3
    for run in 1 2; do
        verb 0 trace "$out/$run"
        for form in columns json shiviz perfetto; do
            verb 0 trace --format "$form" "$out/$run"
        done
        verb 0 trace --format otf2 --output "otf2-$run" "$out/$run"
        verb 0 report --text "$out/$run"
    done
    verb 0 report --beside "$out/1" -o page.html "$out/2"
    verb 0 report "$out"
    verb 0 export -o packed.tar.zst "$out/2"
    verb 0 replay --repeat 2 packed.tar.zst
}

@test "list, claims, doctor, help" {
    verb 0 list -v "$REPO/suites/storage/broken.lua"
    verb 0 claims
    verb 0 claims H.loss
    verb 0 run --help
    # It loads libfaultline.so by itself, which one that is sanitised does not allow.
    verb "${FIRST:+3|}0" doctor
}

@test "campaign, resumed; shrink; exec" {
    verb '0|1' campaign --runs 2 --replays 1 --filter 'is violated' --out camp s.lua
    verb '0|1' campaign --resume "camp/$(readlink camp/latest)" --runs 3
    verb 0 shrink --budget 1h --out shrunk faultline-out/of-all/2
    LD_PRELOAD=${FIRST:-} ASAN_OPTIONS=detect_leaks=0 \
        verb 0 exec --trace exec -- mpiexec -n 2 "$PROGRAMS/ring"
}

# damaged FILE COMMAND...: FILE of a run is put through the command; then all that reads runs.
damaged() {
    local file=$1 name
    shift
    rm -rf damaged
    cp -r faultline-out/of-all/2 damaged
    "$@" <"faultline-out/of-all/2/$file" >"damaged/$file"
    for name in check trace report; do
        verb any "$name" damaged
    done
}

@test "bad input: runs that are damaged, scenarios that are none, words that mean nothing" {
    local file
    for file in run.json verdict.json plan decisions trace/r0.0.trace; do
        damaged "$file" head -c 300
    done
    damaged run.json tr 0-9 9
    damaged trace/r1.0.trace tail -c +1025
    damaged decisions tail -c +101
    verb any replay damaged
    for file in "$REPO"/tests/fuzz/corpus/scenario/*; do
        cp "$file" bad.lua
        verb any list bad.lua
    done
    verb 64 list none.lua
    verb 64 campaign --strategy best s.lua
    verb 64 chek
    verb 64 trace --format nothing damaged
    verb 64 replay bad.lua
}

@test "the recorder with several threads" {
    # ThreadSanitizer wants memory where it expects it, which some kernels' random addresses are not.
    setarch -R env TSAN_OPTIONS="log_path=$FOUND/log exitcode=66" timeout -k 5 100 \
        "$BUILD/threads/recording.t" >out.txt
    [ -z "$(ls -A "$FOUND")" ]
}

@test "in ranks the runtime of a sanitiser stays in front of our libraries, others after" {
    local runtime
    runtime=$(gcc -print-file-name=libasan.so)
    LD_PRELOAD=$runtime:libm.so.6 ASAN_OPTIONS=detect_leaks=0 \
        "$BUILD/faultline" exec --trace first -- env >out.txt
    grep -q "^LD_PRELOAD=$runtime:$BUILD/libfaultline.so:libm.so.6\$" out.txt
    LD_PRELOAD=libm.so.6 "$BUILD/faultline" exec --trace second -- env >out.txt
    grep -q "^LD_PRELOAD=$BUILD/libfaultline.so:libm.so.6\$" out.txt
}
