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
        if grep -q '^plan = ' "$example"; then # a field of a scenario, not a whole one
            { echo 'scenario "x" { protocol = "null", program = "ring", ranks = 3,'
              cat "$example"; echo '}'; } >"$example.whole"
            mv "$example.whole" "$example"
        fi
        "$FAULTLINE" list "$example"
    done
}

@test "a wrong file costs 64, one beyond a limit 3, and nothing is launched" {
    cd "$BATS_TEST_TMPDIR"
    echo 'scenario "a" { protocl = "null", program = "ring", ranks = 1 }' >wrong.lua
    run -64 "$FAULTLINE" run wrong.lua
    [[ $output == *'wrong.lua:1: '*'did you mean "protocol"'* ]]
    echo 'while true do local s = ("x"):rep(100000000) end' >endless.lua
    run -3 "$FAULTLINE" run endless.lua
    [[ $output == *'endless.lua:1: '*'MiB of memory'* ]]
    [ ! -e faultline-out ]
}

@test "doctor says what is there" {
    run "$FAULTLINE" doctor
    [ "$status" -eq 0 ]
    [[ $output == *"ok    mpiexec "* ]]
    [[ $output == *"ok    libfaultline  covers all "* ]]
    [[ $output == *"call stacks"* ]]
    [[ $output == *"disk"* ]]
}

@test "doctor says what is not there, and what to install" {
    run env FAULTLINE_MPIEXEC=/nowhere/mpiexec "$FAULTLINE" doctor
    [ "$status" -eq 3 ]
    [[ $output == *"NO    mpiexec "*/nowhere/mpiexec* ]]
    run env PATH=/nowhere "$FAULTLINE" doctor
    [ "$status" -eq 3 ]
    [[ ${lines[-1]} == *"apt-get install -y mpich "* ]]
}

@test "doctor tries libfaultline, and compares it with the MPI library" {
    echo junk >"$BATS_TEST_TMPDIR/junk.so"
    run env FAULTLINE_LIBRARY="$BATS_TEST_TMPDIR/junk.so" "$FAULTLINE" doctor
    [ "$status" -eq 3 ]
    [[ $output == *"NO    libfaultline  does not load: "* ]]
    run env FAULTLINE_LIBRARY="$(gcc -print-file-name=libm.so.6)" "$FAULTLINE" doctor
    [ "$status" -eq 3 ]
    [[ $output == *"functions pass it by"* ]]
}
