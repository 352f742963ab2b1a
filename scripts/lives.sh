#!/usr/bin/env bash
# Ranks live on when others die, many times under mpiexec. Afterwards no process of it may be there,
# nor shared memory that was not there before: so nothing else of MPI may run on the machine
# meanwhile. Usage: lives.sh BUILD SUITE.lua. Keeps BUILD/lives.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=$(realpath "$1")
OUT=$BUILD/lives

shared_memory() {
    find /dev/shm -name 'ucx_shm_posix_*' -o -name 'mpich_shar_tmp*' | sort
    ipcs -m | awk '$6 == 0 { print $2 }' | sort
}

rm -rf "$OUT"
mkdir "$OUT"
shared_memory >"$OUT/before"
"$BUILD/faultline" run -j 2 --out "$OUT" "$2"
if pgrep -f "$OUT" || ! diff "$OUT/before" <(shared_memory); then
    echo "lives.sh: this was left behind" >&2
    exit 1
fi
