#!/usr/bin/env bats
# Files that are none of ours stand in a run folder or are named on the command line: FIFOs, links
# that lead out of it, devices. Nothing waits for them, reads on for ever, or shows what they hold.

bats_require_minimum_version 1.5.0
load driver_common

# One run that failed, in the folder `run`, with all that such a run leaves.
a_run() {
    printf 'scenario "killed" { protocol = "null", program = "ring", ranks = 2, max_incarnations = 1,
      arguments = { "--iterations", 3 }, claims = { "H" },
      plan = function(p) p:kill { rank = 1, event = "send", nth = 2 } end }\n' >s.lua
    run -1 "$FAULTLINE" run s.lua
    cp -r faultline-out/latest/1 run
}

# verb WORD...: ends by itself, with a status that is documented. Its output is in `output`.
verb() {
    status=0
    timeout -k 5 120 "$FAULTLINE" "$@" >out.txt 2>&1 || status=$?
    output=$(cat out.txt)
    case $status in 0 | 1 | 2 | 3 | 64) return 0 ;; esac
    echo "$*: status $status" "$output"
    return 1
}

# in_place_of FILE COMMAND...: a copy of the run, with what the command makes in place of a file.
in_place_of() {
    local file=$1
    shift
    rm -rf strange
    cp -r run strange
    rm -f "strange/$file"
    "$@" "strange/$file"
}

files() { (cd run && find . -type f ! -path './control/*' | sort); }

@test "whatever of a stored run is a FIFO, a device or a folder: no verb waits for it" {
    a_run
    local file
    for file in $(files); do
        for made in mkfifo "ln -s /dev/zero" mkdir; do
            # shellcheck disable=SC2086 # a command and its words
            in_place_of "$file" $made
            for words in check trace report "report --text" "export -o packed"; do
                # shellcheck disable=SC2086
                verb $words strange
            done
        done
    done
}

@test "what a verb needs and is no regular file is named, and what it is" {
    a_run
    for file in run.json plan decisions trace/r0.0.trace; do
        in_place_of "$file" mkfifo
        verb export -o packed strange
        [ "$status" = 64 ] || [ "$file" = trace/r0.0.trace ]
        [[ $output == *"strange/$file: is a FIFO; only regular files are read"* ]]
    done
    in_place_of run.json mkfifo
    verb check strange
    [ "$status" = 64 ]
    [[ $output == *"strange/run.json: is a FIFO; only regular files are read"* ]]
    in_place_of decisions mkfifo
    verb replay strange
    [ "$status" = 64 ]
    [[ $output == *"strange/decisions: is a FIFO"* ]]
    mkfifo fifo
    for words in "run fifo" "list fifo" "check fifo" "replay fifo" "shrink fifo" "report fifo"; do
        # shellcheck disable=SC2086
        verb $words
        [ "$status" = 64 ]
        [[ $output == *fifo* ]]
    done
    run -64 "$FAULTLINE" run fifo
    [[ $output == *"fifo: is a FIFO; only regular files are read"* ]]
}

@test "a link out of a run folder shows nothing of where it leads to" {
    a_run
    echo 'secret: 42' >secret
    local file
    for file in $(files); do
        in_place_of "$file" ln -s "$PWD/secret"
        for words in check "trace" "report" "report --text" "export -o packed"; do
            # shellcheck disable=SC2086
            verb $words strange
            # Each page is one of ours: nothing goes through a link.
            [ ! -e strange/report.html ] || [ ! -L strange/report.html ] || rm strange/report.html
            run ! grep -rI 'secret: 42' out.txt strange/report.html
        done
    done
}

# The program replaces all that is in its run folder, and all that will be, by FIFOs.
@test "a program that leaves FIFOs in its run folder: the run ends, and nothing is left" {
    printf 'scenario "fifos" { protocol = "null", program = "%s", ranks = 2, claims = { "H" },
      arguments = { "fifos" } }\n' "$LIFE" >s.lua
    verb run s.lua
    [ "$status" = 3 ]
    grep -q '^not ok 1 - fifos # harness-error' out.txt
    grep -q 'is a FIFO; only regular files are read' out.txt
    all_gone
    # What we write stands there all the same.
    [ -f faultline-out/latest/1/run.json ] && [ -f faultline-out/latest/1/verdict.json ]
}

# In each of its lives: the driver looks at the run folder between them, too.
@test "and so do one that fails, one that is started again, and one whose store is taken back" {
    for more in '"fifos-exit" }' '"fifos" }, plan = function(p)
        p:kill { rank = 1, event = "call", call = "MPI_Finalize" } end' '"fifos" },
        plan = function(p)
        p:kill { rank = 1, event = "call", call = "MPI_Finalize", lose = "rank" } end'; do
        printf 'scenario "fifos" { protocol = "null", program = "%s", ranks = 2, claims = { "H" },
          max_incarnations = 3, arguments = { %s }\n' "$LIFE" "$more" >s.lua
        verb run s.lua
        all_gone
        [ -f faultline-out/latest/1/run.json ]
    done
}
