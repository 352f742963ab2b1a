#!/usr/bin/env bash
# make tsan: the recorder, and ranks with several threads under taps that were built with
# ThreadSanitizer; TIMES (1) times. Exit status 1: a data race, or a rank that did not finish.
# Usage: threads.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
out=$build/threads/runs
rm -rf "$out"
mkdir -p "$out"

# What limits the address space cannot do so here: of these two only the reports count.
for part in recording writer; do
    TSAN_OPTIONS="log_path=$out/$part exitcode=66" timeout -k 5 300 \
        setarch -R "$build/threads/$part.t" >"$out/$part.tap" || [ $? -ne 66 ]
done

status=0
RUNTIME=libtsan.so SUPPRESSIONS=$PWD/tests/sanitise/mpi.supp \
    FAULTLINE_MPIEXEC=$PWD/tests/sanitise/mpiexec.sh \
    FAULTLINE_TAPS=$build/threads/libfaultline.so FAULTLINE_PROGRAMS=$build/threads/tests/mpi \
    timeout -k 5 3000 "$build/faultline" run --out "$out" --timeout 120 --no-control --no-stacks \
    --repeat "${TIMES:-1}" tests/sanitise/threads.lua || status=1
if grep -r -A 40 'WARNING: ThreadSanitizer' "$out" --include='*.err' --include='recording.[0-9]*' \
    --include='writer.[0-9]*' | head -100 | grep .; then
    status=1
fi
exit $status
