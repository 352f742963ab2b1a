#!/usr/bin/env bats
# Open MPI 5, in the Debian 13 of `make ulfm-root`: what `make test-ulfm` runs there.

bats_require_minimum_version 1.5.0

load ../../tests/driver_common

# The folder of this file is one deeper than that of the others.
eval "common_$(declare -f setup)"
setup() {
    common_setup
    REPO=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    BUILD=$REPO/${BUILD##*/}
    FAULTLINE=$BUILD/faultline
    LIFE=$BUILD/tests/mpi/driver_life
}

functions_of() {
    nm -D --defined-only "$1" | awk '$2 ~ /[TW]/ { sub(/@.*/, "", $3); print $3 }' |
        grep -E '^P?MPIX?_' | sort
}

# passes COUNT ARGUMENT...: so many scenarios, and each passes.
passes() {
    local count=$1
    shift
    run -0 timeout -k 5 900 "$FAULTLINE" run --engine mpiexec --no-control --no-stacks "$@"
    grep -c '^ok' <<<"$output" >passed
    [ "$(cat passed)" -eq "$count" ] || {
        echo "$(cat passed) pass, not $count"
        return 1
    }
}

# expected SUITE FILTER: each scenario passes or is one of known.txt.
expected() {
    timeout -k 5 1500 "$FAULTLINE" run --engine mpiexec --no-control --no-stacks --timeout 20 \
        --filter "$2" "$REPO/$1" >tap 2>stderr || [ $? -le 3 ]
    run -0 lua5.4 "$REPO/scripts/ulfm/known.lua" "$1" tap
    echo "# ${output//$'\n'/$'\n'# }" >&3
    [ "$(grep -cE '^(not )?ok ' tap)" -eq "$(sed -n 's/^1\.\.//p' tap)" ]
}

nothing_left() {
    [ -z "$(ls -A /dev/shm)" ]
    [ -z "$(find faultline-out -name launcher-files)" ]
    ! pgrep -f 'mpirun|faultline-rank' || return 1
}

@test "every function that the library exports is defined by both taps, or listed with why not" {
    ldd "$LIFE" | awk '/libmpi\.so/ { print $3; exit }' >library
    echo 'for name in pairs(dofile(arg[1]).untapped) do print(name); print("P" .. name) end' >names.lua
    lua5.4 names.lua "$REPO/injectors/generate/functions.lua" | sort >listed
    functions_of "$(cat library)" >theirs
    functions_of "$BUILD/libfaultline.so" >ours
    grep -qx PMPIX_Comm_revoke theirs
    [ "$(grep -c '^MPI' ours)" -gt 400 ]
    comm -23 theirs listed >expected
    [ -z "$(comm -23 expected ours | tee /dev/stderr)" ]
}

@test "jobs end by their verdicts" {
    local how
    for how in ok abort deadlock exit segv; do
        scenario "$how" "\"$how\"" 'timeout = 60'
    done
    run -1 timeout 200 "$FAULTLINE" run --no-control --no-stacks s.lua
    [ "$(grep -c "^not ok" <<<"$output")" -eq 4 ]
    [[ "$output" == *'rank 1 aborted the job'* ]]
    [[ "$output" == *'deadlock after 1 incarnation'* ]]
    nothing_left
}

@test "protocols bring programs back from a death" {
    passes 4 "$REPO/tests/scenarios/four_protocols.lua"
    nothing_left
}

@test "a rank dies at 100 places, and the job comes to the result of a run without faults" {
    passes 100 --filter 'rank ?, at its call number *' "$REPO/suites/respawn/crash.lua"
    cat faultline-out/latest/*/output/r*.out | sort | uniq -c >printed
    cat printed
    [ "$(wc -l <printed)" -eq 1 ]
    grep -q '^ *100 laplace: 10 iterations' printed
    # The newcomer is process 4, and the dead one's trace ends with its END.
    run -0 "$FAULTLINE" trace faultline-out/latest/1
    [[ "$output" == *'signal 9 (Killed)'* ]]
    nothing_left
}

@test "several ranks die in a row, and at once" {
    passes 3 --filter 'two *' "$REPO/suites/respawn/crash.lua"
    passes 1 --filter 'the same rank three times' "$REPO/suites/respawn/crash.lua"
    passes 1 --filter 'all but one at once' "$REPO/suites/respawn/crash.lua"
}

@test "a process dies while another is replaced: all pass but those that the library hangs in" {
    expected suites/respawn/crash.lua 'a new process*'
    expected suites/respawn/crash.lua 'in recovery*'
}

@test "every situation of ULFM: all pass but those that the library hangs in" {
    expected suites/ulfm/claims.lua '*'
    nothing_left
}

@test "windows and files while a member dies: all pass but those that the library crashes or hangs in" {
    expected suites/ulfm/windows.lua '*'
    nothing_left
}

@test "each broken variant is found by the claim that is said" {
    passes 7 --timeout 20 "$REPO/suites/respawn/broken.lua"
}

@test "who is told of a death when is the library's" {
    cat >s.lua <<'LUA'
scenario "detect" { protocol = "respawn", program = "laplace", ranks = 2, survivors = true,
  claims = { "H" }, plan = function(p)
    p:kill { rank = 1, call = "MPI_Isend" }
    p:detect { rank = 0, of = 1 }
  end }
LUA
    run -64 "$FAULTLINE" run s.lua
    [[ "$output" == *'"detect" is for engine = "step"'* ]]
}
