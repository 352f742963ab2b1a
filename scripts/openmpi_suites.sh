#!/bin/sh
# openmpi_suites.sh BUILD [I/N]: the suites with MPICH's build and with Open MPI's (BUILD/openmpi), and
# where their verdicts differ: exit status 1 where openmpi_differences.txt does not say so. With I/N
# every N-th scenario, the I-th of them. Hours; a suite that both have done is not run again.
set -eu
build=$1
shard=${2:-1/1}
out=$build/openmpi-suites/$(echo "$shard" | tr / -)
mkdir -p "$out"
suites=${SUITES:-"suites/blocking/*.lua suites/c3/*.lua suites/chandy_lamport/*.lua suites/cocheck/*.lua suites/storage/*.lua"}

# verdicts BUILD SUITE FILE: "SUITE: NAME: pass", or what the run came to instead.
verdicts() {
    [ ! -e "$3" ] || return 0
    "$1/faultline" run --no-control --no-stacks --shard "$shard" --out "$out/runs" "$2" >"$3.tap" 2>&1 || true
    sed -n "s|^ok [0-9]* - \(.*\)|$2: \1: pass|p; s|^not ok [0-9]* - \(.*\) # \(.*\)|$2: \1: \2|p" \
        "$3.tap" >"$3.new"
    rm -rf "$out/runs"
    mv "$3.new" "$3"
}

different=0
# shellcheck disable=SC2086 # a list of words on purpose
for suite in $suites; do
    name=$(echo "$suite" | tr / -)
    verdicts "$build" "$suite" "$out/$name.mpich"
    verdicts "$build/openmpi" "$suite" "$out/$name.openmpi"
    echo "  SUITE   $suite: $(wc -l <"$out/$name.openmpi") verdicts"
    for library in mpich openmpi; do
        sed 's/: [^:]*$//' "$out/$name.$library" | sort >"$out/names.$library"
    done
    if [ ! -s "$out/names.mpich" ] || ! cmp -s "$out/names.mpich" "$out/names.openmpi"; then
        echo "$suite: not the same scenarios have ended with both libraries (remove $out to begin anew)"
        different=1
    fi
    sort "$out/$name.mpich" >"$out/mpich"
    sort "$out/$name.openmpi" | comm -13 "$out/mpich" - >"$out/differ"
    while read -r line; do
        grep -qxF "$line" scripts/openmpi_differences.txt && continue
        echo "differs with Open MPI: $line"
        different=1
    done <"$out/differ"
done
exit $different
