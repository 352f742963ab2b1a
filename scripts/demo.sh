#!/bin/sh
# demo.sh BUILD_FOLDER: two real jobs, one protocol that survives a crash and one that does not.
set -eu
build=$1
out=${2:-faultline-out}

echo "A rank of a real MPI job is killed with SIGKILL. The protocol brings the job back from disk:"
echo
"$build/faultline" run --out "$out" suites/demo/survives.lua
echo
echo "From its trace: the kill, and rank 1 (r1) in its two lives (#0 and #1):"
echo
"$build/faultline" trace --kind fault "$out/latest/1"
"$build/faultline" trace --kind note --rank 1 "$out/latest/1" |
    grep -E 'checkpoint|restored|result'
echo
echo "The same protocol with its barrier taken out. The oracles find what that breaks:"
echo
status=0
"$build/faultline" run --out "$out" suites/demo/breaks.lua || status=$?
echo
if [ "$status" != 1 ]; then
    echo "demo: the broken protocol should have been found out (exit status 1), not $status" >&2
    exit 1
fi
cat <<END
What to look at now:
  $build/faultline trace $out/latest/1 | less    what every rank did, up to the violation
  $build/faultline check $out/latest/1           the same trace judged again
  suites/demo/breaks.lua                   the scenario: where the fault goes in
  suites/protocols/blocking/               the protocol; broken/ holds the patch that breaks it
  examples/own-protocol/                   a protocol of your own, tested in five minutes
END
