#!/usr/bin/env bash
# Signals to every process of `run`, `campaign`, `replay` and `shrink`, one a command, each at a
# moment and to a process that are drawn: whatever is hit, no verdict may blame the protocol for it,
# nothing may be left behind, and a campaign that goes on afterwards must come to all of its plans,
# once each. What the same commands come to without a signal is made first, and is the measure.
# Usage: signals.sh BUILD [COUNT [SEED]]; COUNT 300. Keeps OUT (BUILD/signals) and prints a line for
# each signal, what was wrong, and the sums. Exit status 1 if anything was wrong.
# ONLY="VERB SIGNAL VICTIM" (each may be "*") repeats one kind; DELAYS="0.1 0.5" the moments.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "$1")
COUNT=${2:-300}
SEED=${3:-1}
OUT=${OUT:-$BUILD/signals}
FAULTLINE=$BUILD/faultline
LIMIT_S=600 # only keeps a command that hangs from hanging this
PLANS=6     # of a campaign
VERBS=(run campaign replay shrink)
SIGNALS=(KILL TERM INT HUP QUIT STOP)
MARK=FAULTLINE_SIGNALS # in the environment of all that one command starts
RANDOM=$SEED

die() {
    echo "signals: $*" >&2
    exit 3
}

# Below /dev/shm nobody else is seen, where that is allowed: what is left there is ours.
if [ -z "${SIGNALS_INSIDE:-}" ] && unshare -m true 2>/dev/null; then
    exec env SIGNALS_INSIDE=1 unshare -m sh -c \
        'mount -t tmpfs -o size=2g none /dev/shm && exec "$@"' sh "$0" "$BUILD" "$COUNT" "$SEED"
fi

# --- the commands -----------------------------------------------------------------------------

write_scenarios() {
    cat >"$OUT/run.lua" <<'LUA'
local function ring(name, plan)
  scenario(name) { protocol = "blocking", program = "ring", ranks = 3, claims = { "H", "B" },
    arguments = { "--iterations", 20 }, plan = plan }
end
ring("no fault", nil)
ring("a kill", function(p) p:kill { rank = 1, event = "send", nth = 9 } end)
scenario("laplace") { protocol = "blocking", program = "laplace", ranks = 3, claims = { "H", "B" },
  plan = function(p) p:kill { rank = 1, event = "phase", name = "blocking:mid-write", nth = 2 } end }
scenario("c3") { protocol = "c3", program = "tally", ranks = 3, claims = { "H", "C" },
  plan = function(p) p:kill { rank = 2, event = "send", nth = 7 } end }
LUA
    cat >"$OUT/campaign.lua" <<'LUA'
scenario "ring" { protocol = "blocking", program = "ring", ranks = 3, claims = { "H", "B" },
  arguments = { "--iterations", 20 } }
LUA
}

# words_of VERB FOLDER: the words of a command whose output goes to FOLDER.
words_of() {
    case $1 in
        run) words=(run -j 2 --out "$2" "$OUT/run.lua") ;;
        campaign) words=(campaign -j 2 --strategy systematic --runs "$PLANS" --out "$2"
            "$OUT/campaign.lua") ;;
        replay) words=(replay --repeat 3 --out "$2" "$OUT/failure/latest/1") ;;
        shrink) words=(shrink --budget 20 --out "$2" "$OUT/failure/latest/1") ;;
    esac
}

# --- what came of one ---------------------------------------------------------------------------

# claims_of FOLDER: that its runs were found to violate. Left out is what shrink tries with fewer ranks
# than the program takes, which ends it with status 64: such a run stays when the command is ended.
claims_of() {
    find "$1" -name verdict.json -exec jq -r 'select(.verdict == "violation" and
        (.findings[0].why[0] // "" | test("exited with status 64, not by a fault") | not)).remark' \
        {} + 2>/dev/null | sort -u
}

# points_of TAP: each line of a result, without what passes for certain.
points_of() { sed -n 's/ # time=.*//; /^not ok/p' "$1" | sort -u; }

# runs_of FOLDER: the runs in the journal of a campaign, as far as the plan goes.
runs_of() {
    jq -c 'select(.kind == "run") | [.subject, .index, .plan]' "$1/latest/campaign.jsonl" 2>/dev/null |
        sort
}

declare -A usual_status usual_claims usual_ms
measure() {
    local verb start
    for verb in "${VERBS[@]}"; do
        words_of "$verb" "$OUT/usual-$verb"
        start=$(date +%s%N)
        "$FAULTLINE" "${words[@]}" >"$OUT/usual-$verb.tap" 2>"$OUT/usual-$verb.err"
        usual_status[$verb]=$?
        usual_ms[$verb]=$((($(date +%s%N) - start) / 1000000))
        usual_claims[$verb]=$(claims_of "$OUT/usual-$verb")
        echo "$verb without a signal: status ${usual_status[$verb]}, ${usual_ms[$verb]} ms," \
            "violations: ${usual_claims[$verb]:-none}"
    done
    [ "$(runs_of "$OUT/usual-campaign" | wc -l)" -eq $PLANS ] || die "the campaign has not $PLANS runs"
    [ "${usual_status[run]}" -eq 0 ] || die "the scenarios do not pass without a signal"
}

# --- processes ----------------------------------------------------------------------------------

# marked NUMBER: the processes that a command has started, and those that these have, alive.
marked() {
    local file pid state
    for file in /proc/[0-9]*/environ; do
        grep -qzxF "$MARK=$1" "$file" 2>/dev/null || continue
        pid=${file#/proc/}
        pid=${pid%/environ}
        state=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) || continue
        case $state in Z* | X* | "") ;; *) echo "$pid" ;; esac
    done
}

# kind_of PID NAME: what it is to the command.
kind_of() {
    case $2 in
        mpiexec*) echo launcher ;;
        hydra*) echo proxy ;;
        faultline-rank) echo parent ;;
        faultline*) if [ "$1" = "$command" ]; then echo command; else echo job; fi ;;
        *) echo rank ;;
    esac
}

# The command and all below it, "PID NAME" each: in one look, for a rank may live shorter than many.
below() {
    ps -e -o pid=,ppid=,stat=,comm= | awk -v top="$command" '
        $3 !~ /^[ZX]/ { parent[$1] = $2; name[$1] = $4 }
        END {
            for (pid in parent) {
                for (at = pid; at in parent && at != top; at = parent[at]);
                if (at == top) print pid, name[pid]
            }
        }'
}

# Draws one of those that live, by kind first: there are many ranks and one command.
draw_victim() {
    local pid name kind list=()
    declare -A of=()
    while read -r pid name; do
        kind=$(kind_of "$pid" "$name")
        [ -n "${of[$kind]:-}" ] || list+=("$kind")
        of[$kind]+=" $pid"
    done < <(below)
    [ "${#list[@]}" -gt 0 ] || return 1
    victim_kind=${wanted_victim:-${list[RANDOM % ${#list[@]}]}}
    # shellcheck disable=SC2206 # a list of numbers
    local pids=(${of[$victim_kind]:-})
    [ "${#pids[@]}" -gt 0 ] || return 1
    victim=${pids[RANDOM % ${#pids[@]}]}
}

# --- one signal ---------------------------------------------------------------------------------

wrong=0
complain() {
    wrong=$((wrong + 1))
    echo "    WRONG: $*"
    broken=1
}

# The number of a signal, as a shell adds it to 128.
number_of() { kill -l "$1"; }

check_status() {
    local expected=$((128 + $(number_of "$signal")))
    if [ "$victim_kind" = command ] && [ "$signal" != STOP ]; then
        # It may have come to its end before.
        [ "$status" -eq $expected ] || [ "$status" -eq "${usual_status[$verb]}" ] ||
            complain "exit status $status, not $expected"
    elif [ "$status" -ne "${usual_status[$verb]}" ] && [ "$status" -ne 3 ] && [ "$status" -ne 2 ]; then
        complain "exit status $status"
    fi
    [ "$verb" != shrink ] || [ "$status" -ne 2 ] || [ "$victim_kind" = command ] ||
        complain "shrink says that the failure is gone"
}

check_claims() {
    local claim
    for claim in $(claims_of "$folder"); do
        grep -qxF "$claim" <<<"${usual_claims[$verb]}" || complain "a violation of $claim"
    done
    ! grep -qE '^not ok .* # (H|B|C)\.' "$folder.tap" || [ -n "${usual_claims[$verb]}" ] ||
        complain "$(grep -E '^not ok .* # (H|B|C)\.' "$folder.tap" | head -1)"
}

check_left() {
    local tries left
    for ((tries = 0; tries < 600; tries++)); do
        left=$(marked "$number")
        [ -n "$left" ] || break
        sleep 0.1
    done
    if [ -n "$left" ]; then
        complain "left behind: $(for pid in $left; do echo "$pid $(cat "/proc/$pid/comm")"; done | xargs)"
        # shellcheck disable=SC2086
        kill -9 $left 2>/dev/null
    fi
    [ -n "${SIGNALS_INSIDE:-}" ] || return 0
    left=$(find /dev/shm -type f)
    [ -z "$left" ] || complain "left in /dev/shm: $(xargs <<<"$left")"
    find /dev/shm -type f -delete
}

# A campaign goes on until it has come to its end: with all plans, once each.
check_campaign() {
    local tries latest=$folder/latest
    [ -e "$latest/campaign.json" ] || return 0 # it had not begun
    for ((tries = 0; tries < 3; tries++)); do
        timeout -k 10 $LIMIT_S env "$MARK=$number" "$FAULTLINE" campaign -j 2 --resume "$latest" \
            >"$folder.resume.tap" 2>"$folder.resume.err"
        [ "$(runs_of "$folder" | wc -l)" -lt $PLANS ] || break
    done
    cmp -s <(runs_of "$folder") <(runs_of "$OUT/usual-campaign") ||
        complain "the plans of the campaign are not those it has without a signal: $(runs_of \
            "$folder" | wc -l) of $PLANS"
    jq -e 'select(.kind == "run" and .verdict == "violation")' "$latest/campaign.jsonl" >/dev/null 2>&1 &&
        complain "a run of the campaign is a violation"
}

send_one() {
    local verb signal delay_ms folder status broken=0 words wanted wanted_victim=""
    number=$1
    verb=${VERBS[RANDOM % ${#VERBS[@]}]}
    signal=${SIGNALS[RANDOM % ${#SIGNALS[@]}]}
    if [ -n "${ONLY:-}" ]; then
        read -r wanted_verb wanted wanted_victim <<<"$ONLY"
        [ "$wanted_verb" = "*" ] || verb=$wanted_verb
        [ "$wanted" = "*" ] || signal=$wanted
        [ "$wanted_victim" != "*" ] || wanted_victim=""
    fi
    delay_ms=$((RANDOM * usual_ms[$verb] / 32768))
    folder=$OUT/$number
    words_of "$verb" "$folder"
    env --default-signal=INT,QUIT "$MARK=$number" timeout -k 10 $LIMIT_S \
        "$FAULTLINE" "${words[@]}" >"$folder.tap" 2>"$folder.err" &
    started=$!
    command=''
    until command=$(pgrep -P "$started" -x faultline) || ! kill -0 "$started" 2>/dev/null; do :; done
    sleep "$((delay_ms / 1000)).$(printf '%03d' $((delay_ms % 1000)))"
    victim=''
    victim_kind=none
    if draw_victim && kill "-$signal" "$victim" 2>/dev/null; then
        sent=$((sent + 1))
        if [ "$signal" = STOP ]; then
            sleep 0.3
            kill -CONT "$victim" 2>/dev/null
        fi
    else
        victim_kind=none
    fi
    wait "$started"
    status=$?
    printf '%3d %-8s %-4s %-8s at %5d ms: status %d\n' "$number" "$verb" "$signal" "$victim_kind" \
        "$delay_ms" "$status"
    [ "$status" -ne 124 ] || complain "it hung"
    check_status
    check_left
    check_claims
    [ "$verb" != campaign ] || check_campaign
    if [ "$broken" -eq 0 ]; then
        rm -rf "$folder" "$folder".*
    fi
    count_of["$verb $signal $victim_kind"]=$((${count_of["$verb $signal $victim_kind"]:-0} + 1))
}

# When this is ended itself: the command under way clears up and ends, and so does what it started.
started=''
stop() {
    [ -z "$started" ] || kill -TERM "$started" 2>/dev/null
    wait
    exit 3
}
trap stop TERM INT HUP

# --- all ----------------------------------------------------------------------------------------

declare -A count_of=()
sent=0
rm -rf "$OUT"
mkdir -p "$OUT"
write_scenarios
"$FAULTLINE" run --out "$OUT/failure" suites/demo/breaks.lua >"$OUT/failure.tap" 2>&1
[ "$(claims_of "$OUT/failure")" = B.empty ] || die "the failure to be replayed and shrunk is none"
measure
for ((n = 1; n <= COUNT; n++)); do
    send_one "$n"
done
echo "$sent of $COUNT commands were sent a signal; $wrong things wrong"
for what in "${!count_of[@]}"; do echo "$what ${count_of[$what]}"; done | awk '
    { verb[$1] += $4; signal[$2] += $4; victim[$3] += $4 }
    END {
        for (v in verb) printf "  %s %d", v, verb[v]; print ""
        for (s in signal) printf "  %s %d", s, signal[s]; print ""
        for (w in victim) printf "  %s %d", w, victim[w]; print ""
    }'
[ "$wrong" -eq 0 ]
