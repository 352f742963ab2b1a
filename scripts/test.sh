#!/usr/bin/env bash
# make test: the tests, under prove. What the failed ones said is printed again after the summary,
# so that the end of the output of a long run is enough to see what failed.
# Two test files more run at a time than there are processors: a quarter of the time of most is waiting.
# The CPU time that prove prints of a file is that of all that ended meanwhile, other files' too: only
# the sum in the end is right.
# Usage: test.sh TEST...
set -uo pipefail
readonly LINES_EACH=40

# The folders of the tests are made in memory if there is room for them.
readonly ROOM_KB=$((8 << 20))
free_kb=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
[ "${free_kb:-0}" -lt "$ROOM_KB" ] || shm=/dev/shm
folder=$(mktemp -d "${shm:-${TMPDIR:-/tmp}}/faultline-tests.XXXXXX")
trap 'rm -rf "$folder"' EXIT
export TMPDIR=$folder
export BATS_PRINT_OUTPUT_ON_FAILURE=1 # what the last command said that a test ran with run
unset MAKEFLAGS MFLAGS MAKELEVEL # a test that calls make does it as a user
said=$folder/said
prove -j "$(($(nproc) + 2))" --exec '' --timer --failures --comments "$@" 2>&1 | tee "$said" && exit 0
echo
echo "What failed:"
grep -A "$LINES_EACH" '^not ok' "$said" | grep '^[n#]'
grep '^Result:' "$said" # CI reads this line where it is the last
exit 1
