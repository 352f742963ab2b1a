#!/usr/bin/env bash
# make transparency: programs that were not written for Faultline must do the same with and without
# its taps. They are the test programs of the MPICH source package: each is built once, run natively
# and under `faultline exec`, and its output (lines sorted: ranks write in any order) and exit status
# are compared. Goes on where it was interrupted; what is known is in BUILD/transparency/results.
# Then everything is held against injectors/transparency.txt, which has the reason of each difference.
# With ENGINE=step each is run on the step engine instead, under the taps too, and what it gives is
# held against a native run and engine/transparency.txt. There a program that says "No Errors" and
# nothing else is right: these programs look at what they get by themselves.
# Usage: transparency.sh BUILD_FOLDER [PATTERN]    PATTERN: only these, as in "coll/*"
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
pattern=${2:-*}
list=$PWD/injectors/transparency.txt
work=$build/transparency
results=$work/results
ranks_max=4     # 2 cores, and ranks spin
limit_s=60     # only against hanging: of one run
native_more=4  # native runs more where something differs: who is heard at an abort varies
folders="attr group info topo init errhan comm datatype pt2pt coll threads/pt2pt threads/comm
errors/attr errors/comm errors/group errors/pt2pt errors/topo errors/coll errors/datatype errors/rma
errors/io part mpi_t rma io"
engine=${ENGINE:-mpiexec}
case $engine in
mpiexec) ;;
step) # what it does not do is refused by name, which a test of its own shows
    list=$PWD/engine/transparency.txt
    results=$work/results-step
    folders="attr group info topo init errhan comm datatype pt2pt coll errors/attr errors/comm
errors/group errors/pt2pt errors/topo errors/coll errors/datatype" ;;
*) echo "ENGINE is mpiexec or step, not $engine" >&2 && exit 64 ;;
esac

unpack() {
    rm -rf "$work"/mpich-* "$work/unpacked"
    tar -C "$work" -xf "$work"/source/mpich_*.orig.tar.* --wildcards --no-wildcards-match-slash \
        'mpich-*/test/mpi'
    mv "$work"/mpich-*/test/mpi "$work/unpacked"
    rmdir "$work"/mpich-*/test "$work"/mpich-*
    (cd "$work/unpacked" &&
        ./configure --disable-cxx --disable-fortran --disable-spawn CC=mpicc CFLAGS=-O0 >configure.log)
    make -s -C "$work/unpacked/dtpools" >"$work/unpacked/dtpools.log" 2>&1
    make -s -C "$work/unpacked/util" libmtest.la libmtest_single.la >"$work/unpacked/util.log" 2>&1
    mv "$work/unpacked" "$work/programs"
}

# programs FOLDER: "NAME RANKS ARGUMENT ..." of each line of its list; the first two of a program.
programs() {
    local line name ranks word words
    declare -A seen=()
    [ -e "$work/programs/$1/testlist" ] || return 0
    while read -r name ranks words; do
        case $name in '' | '#'*) continue ;; esac
        seen[$name]=$((${seen[$name]:-0} + 1))
        [ "${seen[$name]}" -le 2 ] || continue
        line="$name $((ranks < ranks_max ? ranks : ranks_max))"
        for word in $words; do
            case $word in arg=*) line+=" ${word#arg=}" ;; esac
        done
        echo "$line"
    done <"$work/programs/$1/testlist" | sort -u
}

# run OUT COMMAND ...: output in OUT, sorted, what varies from run to run taken out; prints the status.
run() {
    local out=$1 status=0
    shift
    timeout -k 5 "$limit_s" "$@" </dev/null >"$out.all" 2>&1 || status=$?
    grep -v '^faultline: ' "$out.all" |
        sed -E 's/0x[0-9a-f]{6,}/ADDRESS/g; s/(PID|pid|process) [0-9]+/\1 N/g; s/[0-9]+\.[0-9]+ *(s|sec|us|usec|MB\/s)/N \1/g' |
        sort >"$out" || true
    echo "$status"
}

# stepped RANKS PROGRAM ...: one run on the step engine, what the ranks say in "stepped".
stepped() {
    local arguments='' status=0 ranks=$1 program=$2
    shift 2
    [ $# -eq 0 ] || arguments=$(printf '"%s", ' "$@")
    printf 'scenario "x" { protocol = "null", program = "%s", ranks = %d, engine = "step",
  arguments = { %s}, claims = { "H.progress", "I.legal" } }\n' "$PWD/$program" "$ranks" \
        "$arguments" >x.lua
    rm -rf out
    "$build/faultline" run --no-stacks --no-control --timeout "$limit_s" --keep --out out x.lua \
        >tap 2>&1 || status=$?
    cat out/latest/1/output/* >stepped 2>/dev/null || true
    return "$status"
}

# compare_stepped RANKS PROGRAM ...: prints the verdict of the step engine, and a reason.
compare_stepped() {
    local native status=0 why
    stepped "$@" || status=$?
    sort stepped >tapped
    why=$(grep -m1 '^    - "' tap | cut -c1-200) || true
    rm -rf out
    if [ "$status" = 0 ] && [ "$(cat tapped)" = " No Errors" ]; then
        echo same
        return
    fi
    case $why in *'the step engine does not do'*) echo "refused $why" && return ;; esac
    native=$(run native mpiexec -n "$@")
    run tapped cat stepped >/dev/null
    if [ "$native" = 124 ]; then
        echo "not-run natively it takes more than $limit_s s"
    elif [ "$native" != 0 ] && [ "$status" = 1 ]; then # the words of an abort are the library's own
        echo "fails natively as well: $(tail -n 1 native | cut -c1-120)"
    elif [ "$native" = 0 ] && [ "$status" = 0 ] && cmp -s native tapped; then
        echo same
    else
        echo "different status $native natively, $status on the engine $why" \
            "$(diff native tapped | grep -m1 '^[<>]' | cut -c1-160)"
    fi
}

# compare_tapped RANKS PROGRAM ...: prints the verdict, and a reason after it.
compare_tapped() {
    local native tapped again i ranks=$1
    shift
    native=$(run native mpiexec -n "$ranks" "$@")
    [ "$native" != 124 ] || { echo "not-run natively it takes more than $limit_s s" && return; }
    rm -rf trace
    tapped=$(run tapped "$build/faultline" exec --trace trace -- mpiexec -n "$ranks" "$@")
    grep -q '^faultline: [0-9]* trace' tapped.all || {
        echo "different nothing was recorded: $(grep -m1 '^faultline: ' tapped.all || echo silent)"
        return
    }
    rm -rf trace
    [ "$native" != "$tapped" ] || ! cmp -s native tapped || { echo same && return; }
    for ((i = 0; i < native_more; i++)); do
        again=$(run again mpiexec -n "$ranks" "$@")
        if [ "$native" != "$again" ] || ! cmp -s native again; then
            break
        fi
    done
    # Where two native runs differ as well, the output proves nothing; the status still does.
    if [ "$tapped" = "$native" ] || [ "$tapped" = "$again" ] && ! cmp -s native again; then
        echo "varies two native runs differ: status $native and $again, under the taps $tapped"
    else
        echo "different status $native natively, $tapped under the taps," \
            "$(diff native tapped | grep -c '^[<>]') lines: $(diff native tapped | grep -m1 '^[<>]' | cut -c1-160)"
    fi
}

compare() {
    if [ "$engine" = step ]; then
        compare_stepped "$@"
    else
        compare_tapped "$@"
    fi
}

examine() {
    local folder=$1 name=$2
    shift
    local test="$folder $*"
    ! awk -F'\t' -v test="$test" '$1 == test { found = 1 } END { exit !found }' "$results" || return 0
    cd "$work/programs/$folder"
    [ -x "$name" ] || make -s "$name" CFLAGS=-O0 >"$work/make.log" 2>&1 || true
    if [ -x "$name" ]; then
        printf '%s\t%s\n' "$test" "$(compare "$2" "./$name" "${@:3}")" | tee -a "$results"
    else
        printf '%s\t%s\n' "$test" "not-run it cannot be built here: $(grep -m1 -i error "$work/make.log" |
            cut -c1-120)" | tee -a "$results"
    fi
}

scripts/mpich_source.sh "$work"
[ -d "$work/programs" ] || unpack
touch "$results"
for folder in $folders; do
    while read -r test; do
        # shellcheck disable=SC2086,SC2254 # words and patterns on purpose
        case $folder/${test%% *} in $pattern) (examine "$folder" $test) ;; esac
    done < <(programs "$folder")
done

# A difference must be known to the list, with its reason. Which programs need longer than the limit
# natively, or vary, depends on the machine; the list need not know what is the same.
bad=0
while IFS=$'\t' read -r test verdict; do
    known=$(awk -F'\t' -v test="$test" '$1 == test { print $2; exit }' "$list")
    case "${verdict%% *}/${known%% *}" in
    different/ | different/[!d]*)
        echo "$test: $verdict; the list says ${known:-nothing}" >&2
        bad=1
        ;;
    esac
done <"$results"
for verdict in same varies fails refused different not-run; do
    echo "$verdict: $(cut -f2 "$results" | grep -c "^$verdict") programs"
done
exit $bad
