#!/bin/sh
# check.sh BUILD TEST...: what `make arm64` has built, run under an emulator: these unit tests, then
# jobs of two and three ranks whose programs, protocols and taps are those of arm64 while driver and
# launcher are this machine's. Fails where one comes to anything but what it must.
set -eu
build=$(cd "$1" && pwd)
shift
arm64=$build/arm64
out=$arm64/out

# qemu-user has no ptrace: the tests that need it say that they are skipped.
prove --failures --comments --exec "qemu-aarch64 -L $arm64/root" "$@"

export FAULTLINE_TAPS="$arm64/libfaultline.so" FAULTLINE_PROTOCOLS="$arm64/protocols"
export FAULTLINE_PROGRAMS="$arm64/emulated"
rm -rf "$out"
"$build/faultline" run --out "$out" suites/demo/survives.lua suites/c3/as_published.lua
status=0
"$build/faultline" run --out "$out" suites/demo/breaks.lua >"$arm64/breaks" || status=$?
cat "$arm64/breaks"
if [ "$status" != 1 ] || ! grep -q ' main at tally.c:' "$arm64/breaks"; then
    echo "check.sh: a violation with its call stacks was to be found; the exit status is $status" >&2
    exit 1
fi
