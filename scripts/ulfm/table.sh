#!/usr/bin/env bash
# make ulfm-table: claims of family U by MPI library: in how many runs of suites/ulfm/claims.lua each
# claim held, was violated, was not reached, or the run came to nothing (void). Each library is run
# where it is there: the step engine and Debian's MPICH always, ch3:nemesis after `make
# ulfm-nemesis`, Open MPI 5 where `make test-ulfm` has built for it.
# Usage: table.sh BUILD ROOT [LIBRARY...]    LIBRARY: run again these alone, or none; ROOT: see root.sh
# Runs are in BUILD/ulfm-table/LIBRARY; the table of all that is there is BUILD/ulfm-table/table.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 root=$2
shift 2
out=$build/ulfm-table
suite=suites/ulfm/claims.lua
limit_s=8 # for the faults of a run, and again to end; where every rank is blocked it ends sooner
claims="nostall class local revoke shrink agree ack suspect object"

# run_suite COMMAND...: the suite under mpiexec; what does not pass is what is looked for.
run_suite() {
    "$@" run --engine mpiexec --timeout "$limit_s" --keep --no-control --no-stacks \
        --out "$folder" "$suite" >"$folder.tap" 2>"$folder.said" || [ $? -le 3 ]
}

version_of() {
    case $1 in
    engine) git describe --always --dirty ;;
    mpich) mpichversion | sed -n 's/^MPICH Version:[[:space:]]*//p' ;;
    nemesis) "$build/nemesis/install/bin/mpichversion" | sed -n 's/^MPICH Version:[[:space:]]*//p' ;;
    openmpi) scripts/ulfm/inside.sh "$root" ompi_info --version | sed -n 's/^Open MPI v//p' ;;
    esac
}

# is_there LIBRARY
is_there() {
    case $1 in
    nemesis) [ -e "$build/nemesis/built" ] ;;
    openmpi) [ -e "$root/.faultline-root" ] && [ -x "$build-ulfm/faultline" ] ;;
    *) true ;;
    esac
}

run_library() {
    folder=$out/$1
    rm -rf "$folder" "$folder".*
    mkdir -p "$folder"
    case $1 in
    engine)
        "$build/faultline" run --keep --no-control --no-stacks --out "$folder" "$suite" \
            >"$folder.tap" 2>"$folder.said" || [ $? -le 3 ]
        ;;
    mpich) run_suite "$build/faultline" ;;
    nemesis)
        LD_LIBRARY_PATH="$(realpath "$build")/nemesis/install/lib" FAULTLINE_MPICH_ULFM=1 \
            FAULTLINE_MPIEXEC="$(realpath "$build")/nemesis/install/bin/mpiexec.hydra" \
            run_suite "$build/faultline"
        ;;
    openmpi) run_suite scripts/ulfm/inside.sh "$root" "$build-ulfm/faultline" ;;
    esac
    echo "$(version_of "$1"), $(date -u +%F)" >"$folder.version"
}

# count LIBRARY: a line "CLAIM HELD VIOLATED NOT_REACHED VOID" for each claim, and of H.progress. A run
# that the library or its launcher has not brought to an end of its own says nothing about claims.
count() {
    jq -rs --arg claims "$claims" '
        . as $runs | (($claims | split(" ") | map("U." + .)) + ["H.progress"])[] as $claim
        | [$runs[] | . as $run | [.results[] | select(.claim == $claim)][0]
            | if . == null or $run.verdict == "harness-error" or $run.verdict == "unknown" then "void"
              elif .verdict == "violation" then "violated"
              elif .verdict == "pass" and .situations > 0 then "held"
              else "missed" end] as $kinds
        | [$claim] + [("held", "violated", "missed", "void") as $kind
            | [$kinds[] | select(. == $kind)] | length | tostring]
        | join(" ")' "$out/$1"/latest/*/verdict.json
}

table() {
    local library heads=() there=() claim
    for library in engine openmpi nemesis mpich; do
        [ -e "$out/$library.version" ] || continue
        there+=("$library")
        heads+=("$(case $library in
        engine) echo "step engine" ;;
        openmpi) echo "Open MPI" ;;
        nemesis) echo "MPICH, ch3:nemesis" ;;
        mpich) echo "MPICH of Debian" ;;
        esac) $(cat "$out/$library.version")")
        count "$library" >"$out/$library.counts"
    done
    printf '| claim |'
    printf ' %s |' "${heads[@]}"
    printf '\n|---|'
    printf -- '---|%.0s' "${heads[@]}"
    echo
    for claim in $claims H; do
        [ "$claim" = H ] && claim=H.progress || claim=U.$claim
        printf '| %s |' "$claim"
        for library in "${there[@]}"; do
            awk -v claim="$claim" '$1 == claim { printf " %d / %d / %d / %d |", $2, $3, $4, $5 }' \
                "$out/$library.counts"
        done
        echo
    done
}

mkdir -p "$out"
[ $# -gt 0 ] || set -- engine mpich nemesis openmpi
for library in "$@"; do
    [ "$library" != none ] || continue
    if is_there "$library"; then
        echo "# $library" >&2
        run_library "$library"
    else
        echo "# $library: it is not there, see scripts/ulfm/README.md" >&2
    fi
done
table | tee "$out/table.md"
