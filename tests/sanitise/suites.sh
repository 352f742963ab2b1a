#!/usr/bin/env bash
# make sanitise: all verbs, and suites of each protocol, with everything of ours sanitised
# (BUILD_FOLDER/sanitised). Exit status 1: a sanitiser has found something. Whether a scenario
# passes is not the question here: what is that slow comes to other places.
# Usage: suites.sh BUILD_FOLDER [SCENARIO.lua...]
set -euo pipefail
cd "$(dirname "$0")/../.."
export BUILD SANITISED RUNTIME=libasan.so SUPPRESSIONS=
BUILD=$(realpath "$1")
SANITISED=$BUILD/sanitised
shift
export FAULTLINE_MPIEXEC=$PWD/tests/sanitise/mpiexec.sh
suites=(suites/storage/*.lua suites/{blocking,c3,chandy_lamport,cocheck}/broken.lua
    suites/c3/{cells,broken_collectives}.lua)
[ $# -eq 0 ] || suites=("$@")
found=$SANITISED/found
rm -rf "$found" "$SANITISED/runs"
mkdir -p "$found"

failed=0
bats tests/sanitise.bats || failed=1

export ASAN_OPTIONS=log_path=$found/log UBSAN_OPTIONS=log_path=$found/log:print_stacktrace=1
"$SANITISED/faultline" run -j 2 --out "$SANITISED/runs" --timeout 120 --no-control "${suites[@]}" \
    >"$SANITISED/suites.tap" || [ $? -ne 64 ]
# The same on the step engine, and what tries all of it: there the program is started without a
# launcher, so the runtime comes first in the command, too, and stays there.
engine=$SANITISED/engine.lua
printf 'local function tries(program, ranks, ...)
  scenario(program) { protocol = "null", program = "%s/" .. program, ranks = ranks,
                      arguments = { ... }, claims = { "H.progress", "I" },
                      environment = { FAULTLINE_ENGINE_GOES_ON = "1" } }
end
tries("programs/drawn", 4, "--iterations", "400")
tries("tests/mpi/engine_random", 4, "1", "20", "20")
tries("tests/mpi/engine_ulfm", 4)
tries("tests/mpi/engine_spawn", 2)
' "$BUILD" >"$engine"
LD_PRELOAD=$(gcc -print-file-name="$RUNTIME") UCX_MEM_EVENTS=no \
    ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0 \
    "$SANITISED/faultline" run --engine step --out "$SANITISED/runs" --timeout 120 --no-control \
    "${suites[@]}" "$engine" >>"$SANITISED/suites.tap" || [ $? -ne 64 ]
echo "$(grep -c '^ok' "$SANITISED/suites.tap") scenarios came to what they expect," \
    "$(grep -c '^not ok' "$SANITISED/suites.tap") did not; what sanitisers found:"
if grep -rE 'ERROR: (Address|Leak)Sanitizer|runtime error: ' "$found" "$SANITISED/runs" \
    --include='*.err' --include='log.*' | head -40 | grep .; then
    exit 1
fi
echo nothing
exit $failed
