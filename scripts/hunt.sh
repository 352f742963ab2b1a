#!/usr/bin/env bash
# make hunt: mutants of protocols that were written without a look at what the suites test
# (suites/protocols/P/hunt/*.patch), each with programs drawn from seeds and with the scenarios of its
# protocol, on the step engine, until a claim is violated. Prints for each which claim found it, and
# where, and which others are violated there; or that it survived. Exit status 1: one survived that was
# found before (`Found: CLAIM` in the head of its patch; `Survives: REASON` is in that of one that was
# not).
# Usage: hunt.sh BUILD_FOLDER [GLOB]...
#     GLOB   only mutants of such names (c3-*); by itself all
# HUNT_SEEDS: chunks of drawn programs (default 4). HUNT_SUITES=no: drawn programs alone.
# HUNT_MINUTES: how long to go on with a mutant that none of these finds, with programs of further
# seeds; of protocols for which little is drawn with campaigns over their suites, too (default 0).
# JOBS: how many runs at once (default as many as there are processors).
# HUNT_ALL=yes: goes on after the first, and prints every claim that is violated anywhere.
# HUNT_DRAWN=N: instead of these, N mutants of each protocol that are drawn from HUNT_DRAWN_SEED
# (default 1; scripts/mutants/draw.lua). They are left in BUILD_FOLDER/mutants/drawn. A survivor may be
# equivalent: somebody has to read it. One that does not build does not count.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
. scripts/mutants/common.bash
build=$(realpath "$1")
shift
seeds=${HUNT_SEEDS:-4} minutes=${HUNT_MINUTES:-0} to_draw=${HUNT_DRAWN:-0} from_seed=${HUNT_DRAWN_SEED:-1}
[[ "$seeds $minutes $to_draw $from_seed" =~ ^([0-9]+\ ?){4}$ ]] || {
    echo "hunt.sh: HUNT_SEEDS=$seeds HUNT_MINUTES=$minutes HUNT_DRAWN=$to_draw HUNT_DRAWN_SEED=$from_seed:" \
        "whole numbers are accepted, 0 or more" >&2
    exit 64
}
all=${HUNT_ALL:+yes}
work=$(mktemp -d "${TMPDIR:-/tmp}/faultline-hunt.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Of each protocol, files that it passes as it should be.
declare -A suites=(
    [blocking]="suites/blocking/crash.lua suites/mutants/blocking.lua suites/storage/blocking.lua"
    [c3]="suites/c3/claims.lua suites/c3/collectives.lua suites/mutants/c3.lua suites/mutants/lines.lua
          suites/mutants/left.lua suites/c3/cells.lua suites/c3/crash.lua suites/storage/c3.lua"
    [chandy_lamport]="suites/chandy_lamport/channels.lua suites/mutants/lines.lua
          suites/mutants/left.lua suites/chandy_lamport/crash.lua suites/storage/others.lua"
    [cocheck]="suites/cocheck/claims.lua suites/cocheck/migration.lua suites/cocheck/crash.lua
          suites/mutants/lines.lua suites/storage/others.lua"
    [scmel]="suites/scmel/crash.lua suites/reserve/crash.lua suites/reserve/late.lua"
    [camel]="suites/camel/crash.lua suites/reserve/crash.lua suites/reserve/late.lua"
    [pessimistic]="suites/pessimistic/crash.lua suites/reserve/crash.lua suites/reserve/late.lua"
    [teams]="suites/teams/crash.lua"
    [standby]="suites/lives/crash.lua"
    [replication]="suites/replication/crash.lua suites/replication/lost.lua"
    [respawn]="suites/respawn/crash.lua"
    [transactions]="suites/transactions/crash.lua"
    [checkpoint_on_failure]="suites/checkpoint_on_failure/crash.lua"
    [ft_mpi]="suites/ft_mpi/crash.lua"
)

# hunted: the patches, one in a line. Some of those that are drawn are the same code in the end.
hunted() {
    local protocol folder
    [ "$to_draw" -gt 0 ] || {
        hunted_patches | sort
        return
    }
    rm -rf "$build/mutants/drawn"
    for protocol in "${!suites[@]}"; do
        folder=$build/mutants/drawn/$protocol/hunt
        mkdir -p "$folder"
        sources "$protocol" | xargs "${LUA:-lua5.4}" scripts/mutants/draw.lua "$from_seed" "$to_draw" "$folder"
    done
    find "$build/mutants/drawn" -name '*.patch' | sort
}

# sources PROTOCOL: what it is built from, shared rooms as well, without what it tells of itself.
sources() {
    make -s --no-print-directory BUILD="$build" "sources-of-$1" | grep -v '/figures\.c$' | sort
}

# built PATCH: the library of the mutant of that name; nothing: it does not compile, as some that are
# drawn, or is the same code as the protocol.
built() {
    local name library protocol
    name=$(mutant_name "$1")
    protocol=${name%%-*}
    library=$build/mutants/protocols/lib$name.so
    make -s BUILD="$build" "$library" >/dev/null 2>"$work/said" || {
        [ "$to_draw" -gt 0 ] && grep -q 'error:' "$work/said" && return 0
        cat "$work/said" >&2
        exit 3
    }
    ! cmp -s <(objdump -d "$library" | tail -n +4) <(objdump -d "$build/protocols/lib$protocol.so" | tail -n +4) ||
        return 0
    echo "$library"
}

# tries OPTION... FILE: the first scenario that fails, as "CLAIM SCENARIO"; nothing: none does. One
# that is vacuous has not failed. What is violated besides goes to $work/claims.
tries() {
    local status=0 verb=(run --confirm 0 --no-control --no-stacks)
    [ "$1" != --campaign ] || { verb=(campaign --until-failure --strategy auto --replays 1) && shift; }
    local first='/# (vacuous|unknown|harness-error|SKIP)/d; s/^not ok [0-9]+ - (.*) # ([^ #]+)$/\2 \1/; T; p; q'
    rm -rf "$work/runs"
    : >"$work/tap"
    FAULTLINE_PROTOCOLS=$work/shelf "$build/faultline" "${verb[@]}" --engine step \
        --jobs "${JOBS:-$(nproc)}" --out "$work/runs" "$@" >"$work/tap" 2>"$work/said" </dev/null &
    while [ -z "$all" ] && kill -0 $! 2>/dev/null && [ -z "$(sed -nE "$first" "$work/tap")" ]; do
        sleep 0.2
    done
    [ -n "$all" ] || kill -TERM $! 2>/dev/null || true # the first is enough; a job in the background ignores SIGINT
    wait $! || status=$?
    case $status in
    [0-3] | 143) ;;
    *)
        # Nothing of this protocol is in the file.
        grep -q 'no scenario' "$work/said" "$work/tap" && return 0
        echo "hunt.sh: faultline ${verb[0]} $*: status $status: $(tail -c 300 "$work/said")" >&2
        exit 3
        ;;
    esac
    find "$work/runs/" -mindepth 3 -maxdepth 3 -name verdict.json -exec \
        jq -r '.findings[] | select(.verdict == "violation").claim' {} + >>"$work/claims"
    sed -nE "$first" "$work/tap"
}

# drawn PROTOCOL SEED: "OPTION... FILE" of programs that are drawn, a line each, with tabs in between.
drawn() {
    printf -- '--seed\t%s\t--filter\t%s: *\tsuites/drawn/programs.lua\n' "$2" "$1"
    printf -- '--seed\t%s\t--filter\t%s: *\tsuites/drawn/rare.lua\n' "$2" "$1"
    printf -- '--seed\t%s\t--filter\t%s: *\tsuites/drawn/lines.lua\n' "$2" "$1"
    printf -- '--seed\t%s\t--filter\t%s: *\tsuites/drawn/tokens.lua\n' "$2" "$1"
    printf -- '--seed\t%s\t--filter\t%s: *\tsuites/drawn/others.lua\n' "$2" "$1"
    printf -- '--seed\t%s\t--filter\t%s: *\tsuites/drawn/deaths.lua\n' "$2" "$1"
    printf -- '--seed\t%s\t--filter\t%s: *\tsuites/drawn/worlds.lua\n' "$2" "$1"
}

# each PROTOCOL: the same of all that is tried.
each() {
    local seed file
    case $1 in
    blocking | c3 | chandy_lamport | cocheck) printf -- '--filter\t%s: *\tsuites/drawn/grid.lua\n' "$1" ;;
    esac
    for ((seed = 1; seed <= seeds; seed++)); do
        drawn "$1" "$seed"
    done
    [ "${HUNT_SUITES:-yes}" = yes ] || return 0
    for file in ${suites[$1]}; do
        case $file in
        suites/mutants/lines.lua | suites/mutants/left.lua | suites/storage/others.lua)
            printf -- '--filter\t%s: *\t%s\n' "$1" "$file" ;;
        suites/reserve/*) printf -- '--filter\t%s, *\t%s\n' "$1" "$file" ;;
        *) printf '%s\n' "$file" ;;
        esac
    done
}

# further PROTOCOL SEED: what is tried in the minutes that are left.
further() {
    local files
    case $1 in
    standby | respawn | transactions | checkpoint_on_failure | ft_mpi)
        read -ra files <<<"${suites[$1]}"
        printf -- '--campaign\t--budget\t60s\t--seed\t%s' "$2"
        printf '\t%s' "${files[@]}"
        echo
        ;;
    esac
    drawn "$1" "$2"
}

# found PROTOCOL: what is found first of all that is tried with the mutant on the shelf, and where.
found() {
    local first='' end seed
    : >"$work/claims"
    look < <(each "$1")
    end=$((SECONDS + minutes * 60))
    for ((seed = seeds + 1; SECONDS < end; seed++)); do
        [ -z "$first" ] || [ -n "$all" ] || break
        look < <(further "$1" "$seed")
    done
    [ -z "$first" ] || echo "$first (violated: $(sort -u "$work/claims" | paste -sd ' '))"
}

# Sets `first` of found, from what is to be tried on standard input.
look() {
    local line what
    local -a options
    while read -r line; do
        IFS=$'\t' read -ra options <<<"$line"
        what=$(tries "${options[@]}")
        [ -z "$what" ] || first=${first:-$what, ${options[*]}}
        [ -z "$first" ] || [ -n "$all" ] || break
    done
}

is_wanted() {
    local pattern
    [ $# -gt 1 ] || return 0
    for pattern in "${@:2}"; do
        # shellcheck disable=SC2053 # a pattern it is to be
        [[ $1 != $pattern ]] || return 0
    done
    return 1
}

count=0 caught=0 lost=0
while read -r patch; do
    name=$(mutant_name "$patch")
    is_wanted "$name" "$@" || continue
    protocol=${name%%-*}
    library=$(built "$patch")
    [ -n "$library" ] || continue
    rm -rf "$work/shelf"
    mkdir "$work/shelf"
    ln -s "$build/protocols"/* "$work/shelf/"
    cp --remove-destination "$library" "$work/shelf/lib$protocol.so"
    what=$(found "$protocol")
    count=$((count + 1))
    if [ -n "$what" ]; then
        echo "$name: $what"
        caught=$((caught + 1))
    elif [ "$to_draw" -gt 0 ]; then
        echo "$name: survived"
    elif [ -n "$(mutant_says "$patch" Survives)" ]; then
        echo "$name: survived: $(mutant_says "$patch" Survives)"
    else
        echo "$name: survived, was found by $(mutant_says "$patch" Found)"
        lost=$((lost + 1))
    fi
done < <(hunted)
[ "$count" -gt 0 ] || {
    echo "hunt.sh: no mutant is called $*" >&2
    exit 64
}
echo "$count mutants, $caught found, $lost that were found before survived"
[ "$lost" -eq 0 ]
