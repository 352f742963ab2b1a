#!/usr/bin/env bats
# Open MPI, the second MPI library: what `make tests` has built for it (MPI=openmpi), next to MPICH's.

bats_require_minimum_version 1.5.0

load driver_common

# Its build is inside the other one.
use_openmpi() {
    BUILD=$BUILD/openmpi
    FAULTLINE=$BUILD/faultline
    LIFE=$BUILD/tests/mpi/driver_life
}

# runs STATUS ARGUMENT...
runs() {
    local status=$1
    shift
    use_openmpi
    run -"$status" timeout -k 5 250 "$FAULTLINE" run "$@"
}

functions_of() {
    nm -D --defined-only "$1" | awk '$2 ~ /[TW]/ { sub(/@.*/, "", $3); print $3 }' |
        grep -E '^P?MPIX?_' | sort
}

@test "every function that the library exports is defined by both taps, or listed with why not" {
    use_openmpi
    ldd "$LIFE" | awk '/libmpi\.so/ { print $3; exit }' >library
    echo 'for name in pairs(dofile(arg[1]).untapped) do print(name); print("P" .. name) end' >names.lua
    lua5.4 names.lua "$REPO/injectors/generate/functions.lua" | sort >listed
    functions_of "$(cat library)" >theirs
    functions_of "$BUILD/libfaultline.so" >ours
    [ "$(grep -c '^MPI' ours)" -gt 400 ]
    comm -23 theirs listed >expected
    [ -z "$(comm -23 expected ours)" ]
    [ "$(comm -13 expected ours)" = PMPIX_Query_cuda_support ] # it has no such name, and we have both
    [ -z "$(nm -D "$BUILD/libfaultline.so" | grep ' ompi_' | tee /dev/stderr)" ] # loads without MPI
}

@test "jobs end as they do under MPICH, by their verdicts" {
    local how
    for how in ok abort deadlock exit segv; do
        scenario "$how" "\"$how\"" 'timeout = 60'
    done
    run timeout 200 "$FAULTLINE" run --no-control --no-stacks s.lua
    grep -E '^(not )?ok|^  (verdict|end):' <<<"$output" >mpich
    sed -i "s|$BUILD/tests|$BUILD/openmpi/tests|" s.lua
    runs 1 --no-control --no-stacks s.lua
    grep -E '^(not )?ok|^  (verdict|end):' <<<"$output" >openmpi
    diff mpich openmpi
    [ "$(grep -c "^not ok" openmpi)" -eq 4 ]
    grep -q 'rank 1 aborted the job' openmpi
    [ -z "$(find faultline-out -name launcher-files)" ]
}

@test "programs run under the taps; protocols bring them back from a death" {
    cat >s.lua <<'LUA'
for _, program in ipairs { "ring", "laplace" } do
  scenario("null " .. program) { protocol = "null", program = program, ranks = 3 }
end
LUA
    runs 0 s.lua "$REPO/tests/scenarios/four_protocols.lua"
    [ "$(grep -c '^ok' <<<"$output")" -eq 6 ]
}

@test "what is broken is found there, too" {
    runs 0 --filter "stale-piece" "$REPO/suites/blocking/broken.lua" # passes if it is found
    [ "$(grep -c '^ok' <<<"$output")" -ge 1 ]
}

@test "a job that is ended leaves no shared memory and no files of the launcher" {
    scenario "ended" '"spin"' 'timeout = 10'
    runs 1 --no-control --no-stacks s.lua
    all_gone
    [ -z "$(find faultline-out -name launcher-files)" ]
    [ ! -e faultline-out/latest/1/shared-memory ]
}

@test "the step engine is refused by name" {
    scenario "step" '"ok"'
    runs 3 --engine step s.lua
    [[ "$output" == *"the step engine is built with MPICH alone"* ]]
}

@test "a scenario whose ranks live on when one dies is refused: mpirun would end the job" {
    scenario ok '"ok"' 'survivors = true'
    sed -i "s|$BUILD/tests|$BUILD/openmpi/tests|" s.lua
    runs 64 s.lua
    [[ "$output" == *"under Open MPI's mpirun a death ends the job"* ]]
}

@test "what is known to fail with Open MPI 5 is told as such, and nothing else is let through" {
    printf 'fault slow: the library sleeps\ns.lua: rank ? dies (at *)\nt.lua: other\n' >known
    printf 'ok 1 - other\nnot ok 2 - rank 1 dies (at 3) # H.progress\nok 3 - rank 2 dies (at 4)\n' >tap
    run -0 lua5.4 "$REPO/scripts/ulfm/known.lua" s.lua tap known
    [[ "$output" == *'known fault of Open MPI 5.0.7: rank 1 dies (at 3) (H.progress): the library sleeps'* ]]
    [[ "$output" == *'passes, though it is known to fail: s.lua: rank 2 dies (at 4)'* ]]
    [[ "$output" == *'s.lua: 2 pass, 1 known to fail, 0 more fail'* ]]
    printf 'not ok 4 - other # H.loss\n' >>tap # known in another suite
    run -1 lua5.4 "$REPO/scripts/ulfm/known.lua" s.lua tap known
    [[ "$output" == *'fails, and is not known to: s.lua: other (H.loss)'* ]]
    printf 'nothing\n' >>known
    run -1 lua5.4 "$REPO/scripts/ulfm/known.lua" s.lua tap known
    printf 'Bail out!\n' >tap
    run -1 lua5.4 "$REPO/scripts/ulfm/known.lua" s.lua tap known
}
