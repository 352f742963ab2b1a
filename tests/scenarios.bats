#!/usr/bin/env bats
# What a scenario finds in its world, and whether the linter knows the same.

bats_require_minimum_version 1.5.0

setup() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    FAULTLINE=$BUILD/faultline
    cd "$REPO" || return 1
}

# The names that .luacheckrc knows, sorted, a line each.
names_of_linter() {
    lua5.4 - <<'LUA'
stds, files = {}, {}
dofile ".luacheckrc"
for key, entry in pairs(stds.scenario.read_globals) do
  if type(entry) == "string" then
    print(entry)
  elseif key ~= "_G" then
    for field in pairs(entry.fields) do print(key .. "." .. field) end
  end
end
LUA
}

# The names that a scenario sees.
names_of_sandbox() {
    cat >"$BATS_TEST_TMPDIR/names.lua" <<'LUA'
for name, value in pairs(_G) do
  if type(value) ~= "table" then
    print(name)
  elseif name ~= "_G" then
    for field in pairs(value) do print(name .. "." .. field) end
  end
end
scenario "names" { protocol = "null", program = "ring", ranks = 1 }
LUA
    "$FAULTLINE" list "$BATS_TEST_TMPDIR/names.lua" 2>&1 >/dev/null
}

@test "the linter knows exactly the names that a scenario sees" {
    names_of_linter | LC_ALL=C sort >"$BATS_TEST_TMPDIR/linter"
    names_of_sandbox | LC_ALL=C sort >"$BATS_TEST_TMPDIR/sandbox"
    diff "$BATS_TEST_TMPDIR/linter" "$BATS_TEST_TMPDIR/sandbox"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/sandbox")" -gt 60 ]
}

@test "the linter finds a name that a scenario does not see" {
    command -v luacheck >/dev/null || skip "luacheck is not installed"
    echo 'print(os.time())' >"$BATS_TEST_TMPDIR/bad.lua"
    run luacheck --config .luacheckrc --std scenario "$BATS_TEST_TMPDIR/bad.lua"
    [ "$status" -ne 0 ]
    [[ $output == *"undefined variable"*os* ]]
    luacheck --quiet --no-color --only 1 -- tests/scenarios suites examples
}

@test "every scenario of the repository loads" {
    run "$FAULTLINE" list suites examples tests/scenarios
    [ "$status" -eq 0 ]
}

@test "the examples of the man page load" {
    awk -v folder="$BATS_TEST_TMPDIR" '/^```/ { inside = !inside; number++; next }
        inside { print >(folder "/example" number ".lua") }' man/faultline-scenario.5.scd
    for example in "$BATS_TEST_TMPDIR"/example*.lua; do
        if grep -q '^wire ' "$example"; then # a wire file: loaded for a plan that names a message
            : >"$BATS_TEST_TMPDIR/libmine.so"
            mv "$example" "$BATS_TEST_TMPDIR/libmine.wire.lua"
            echo 'scenario "x" { protocol = "./libmine.so", program = "ring", ranks = 3,
                plan = function(p) p:await { event = "send", message = "stopLogging" } end }' \
                >"$example"
        elif grep -q '^plan = ' "$example"; then # a field of a scenario, not a whole one
            { echo 'scenario "x" { protocol = "null", program = "ring", ranks = 3,'
              cat "$example"; echo '}'; } >"$example.whole"
            mv "$example.whole" "$example"
        fi
        "$FAULTLINE" list "$example"
    done
}

# protocol NAME WIRE: a library NAME in a folder of protocols, with that wire file.
protocol() {
    mkdir -p "$BATS_TEST_TMPDIR/protocols"
    export FAULTLINE_PROTOCOLS="$BATS_TEST_TMPDIR/protocols"
    : >"$FAULTLINE_PROTOCOLS/lib$1.so"
    printf '%s\n' "$2" >"$FAULTLINE_PROTOCOLS/$1.wire.lua"
}

# plan NAME STEPS: NAME.lua with one scenario under the protocol "mine".
plan() {
    printf 'scenario "a" { protocol = "mine", program = "ring", ranks = 3, plan = function(p)
%s\nend }\n' "$2" >"$BATS_TEST_TMPDIR/$1.lua"
}

@test "list -v shows whole plans, and the messages that they name" {
    protocol mine 'wire { ask = { comm = "world#1", tag = 4 }, other = { tag = 5 } }'
    local name
    name=$(printf 'x%.0s' {1..63})
    plan a 'local h = p:hold { from = 0, to = 1, release = { event = "deliver", message = "ask" } }
            p:kill { rank = 2, after = h, event = "phase", name = ("x"):rep(63) }'
    run "$FAULTLINE" list -v "$BATS_TEST_TMPDIR/a.lua"
    [ "$status" -eq 0 ]
    [[ $output == *"  step 1: hold event=send rank=0 peer=1 release.event=deliver"* ]]
    [[ $output == *"  step 2: kill after=1 victims=2 event=phase rank=2 name=$name"* ]]
    [[ $output == *"  wire name=ask comm=world#1 tag=4"* ]]
    [[ $output != *"name=other"* ]]
}

@test "the wire file of a protocol that is a path lies beside it" {
    : >"$BATS_TEST_TMPDIR/libmine.so"
    plan a 'p:await { event = "send", message = "ask" }'
    sed -i 's|"mine"|"./libmine.so"|' "$BATS_TEST_TMPDIR/a.lua"
    run -64 "$FAULTLINE" list "$BATS_TEST_TMPDIR/a.lua"
    [[ $output == *'names no messages; a file '*'/libmine.wire.lua would'* ]]
    echo 'wire { ask = { tag = 4 } }' >"$BATS_TEST_TMPDIR/libmine.wire.lua"
    "$FAULTLINE" list "$BATS_TEST_TMPDIR/a.lua"
}

@test "a message that the protocol does not have is refused, and one that is there proposed" {
    protocol mine 'wire { pleaseCheckpoint = { tag = 4 } }'
    plan a 'p:await { event = "send", message = "pleaseChekcpoint" }'
    run -64 "$FAULTLINE" list "$BATS_TEST_TMPDIR/a.lua"
    [[ $output == *'a.lua:2: scenario "a": await: field "message": '* ]]
    [[ $output == *'did you mean "pleaseCheckpoint"'* ]]
    protocol mine 'wire { pleaseCheckpoint = { tga = 4 } }'
    run -64 "$FAULTLINE" list "$BATS_TEST_TMPDIR/a.lua"
    [[ $output == *'/mine.wire.lua:1: message "pleaseCheckpoint": unknown field "tga"'* ]]
    sed -i 's/"mine"/"mien"/' "$BATS_TEST_TMPDIR/a.lua"
    run -64 "$FAULTLINE" list "$BATS_TEST_TMPDIR/a.lua"
    [[ $output == *'there is no protocol "mien" (did you mean "mine"?)'* ]]
}

@test "--ranks: the plan is built for the ranks in force" {
    protocol mine ''
    plan a 'p:kill { rank = p.ranks - 1 }'
    run "$FAULTLINE" list -v --ranks 6 "$BATS_TEST_TMPDIR/a.lua"
    [ "$status" -eq 0 ]
    [[ $output == *"under mine, 6 ranks"*"kill victims=5"* ]]
    plan a 'p:kill { rank = 2 }'
    run -64 "$FAULTLINE" list --ranks 2 "$BATS_TEST_TMPDIR/a.lua"
    [[ $output == *'a.lua:2: '*'"rank": an integer from 0 to 1 (ranks = 2) is expected, not 2'* ]]
}

@test "wire files of the suites come with their protocols" {
    local wire name patch found=0
    for wire in "$REPO"/suites/protocols/*/wire.lua; do
        [ -e "$wire" ] || continue
        name=$(basename "$(dirname "$wire")")
        found=1
        cmp "$wire" "$BUILD/protocols/$name.wire.lua"
        for patch in "$REPO/suites/protocols/$name/broken"/*.patch; do
            [ -e "$patch" ] || continue
            [ -s "$BUILD/protocols/$name-$(basename "$patch" .patch).wire.lua" ]
        done
    done
    [ "$found" -eq 1 ] || skip "no protocol here has one"
}

@test "what a scenario says is carried out" {
    run -0 timeout 600 "$FAULTLINE" run -v --out "$BATS_TEST_TMPDIR/out" tests/scenarios/steering.lua
    [ "$(grep -c '^ok ' <<<"$output")" -eq 8 ]
    [ "$(grep -c 'faults: { asked: "[123]", installed: "[123]" }' <<<"$output")" -eq 8 ]
    [[ "$output" != *'asked: "2", installed: "1"'* && "$output" != *'installed: "0"'* ]]
}

@test "a wrong file costs 64, one beyond a limit as well, and nothing is launched" {
    cd "$BATS_TEST_TMPDIR"
    echo 'scenario "a" { protocl = "null", program = "ring", ranks = 1 }' >wrong.lua
    run -64 "$FAULTLINE" run wrong.lua
    [[ $output == *'wrong.lua:1: '*'did you mean "protocol"'* ]]
    echo 'while true do local s = ("x"):rep(100000000) end' >endless.lua
    run -64 "$FAULTLINE" run endless.lua
    [[ $output == *'endless.lua:1: '*'MiB of memory'* ]]
    [ ! -e faultline-out ]
}

@test "doctor says what is there" {
    run "$FAULTLINE" doctor
    [ "$status" -eq 0 ]
    [[ $output == *"ok    mpiexec.hydra "* ]]
    [[ $output == *"ok    libfaultline  covers all "* ]]
    [[ $output == *"ok    survivors "* ]]
    [[ $output == *"call stacks"* ]]
    [[ $output == *"disk"* ]]
    [[ $output == *"/dev/shm"* ]]
}

@test "doctor notes that there is little shared memory" {
    unshare -m true 2>/dev/null || skip "mounting a small file system is not allowed here"
    TMPDIR=/tmp run unshare -m sh -c 'mount -t tmpfs -o size=10m none /dev/shm && exec "$0" doctor' "$FAULTLINE"
    [ "$status" -eq 0 ]
    [[ $output == *"note  /dev/shm      10 MiB free, "*"may abort"* ]]
}

@test "doctor says what is not there, and what to install" {
    run env FAULTLINE_MPIEXEC=/nowhere/mpiexec "$FAULTLINE" doctor
    [ "$status" -eq 3 ]
    [[ $output == *"NO    mpiexec.hydra "*/nowhere/mpiexec* ]]
    run env PATH=/nowhere "$FAULTLINE" doctor
    [ "$status" -eq 3 ]
    [[ ${lines[-1]} == *"apt-get install -y mpich "* ]]
}

@test "doctor tries libfaultline, and compares it with the MPI library" {
    echo junk >"$BATS_TEST_TMPDIR/junk.so"
    run env FAULTLINE_TAPS="$BATS_TEST_TMPDIR/junk.so" "$FAULTLINE" doctor
    [ "$status" -eq 3 ]
    [[ $output == *"NO    libfaultline  does not load: "* ]]
    run env FAULTLINE_TAPS="$(gcc -print-file-name=libm.so.6)" "$FAULTLINE" doctor
    [ "$status" -eq 3 ]
    [[ $output == *"functions pass it by"* ]]
}
