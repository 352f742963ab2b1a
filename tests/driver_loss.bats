#!/usr/bin/env bats
# What is a loss, and what the program leaves unreceived by itself: the run without faults tells.

bats_require_minimum_version 1.5.0

load driver_common

# leave_unreceived CLAIM [ARGUMENT]: a program that leaves two messages of tag 9 unreceived, killed
# once and started again.
leave_unreceived() {
    cat >s.lua <<LUA
scenario "leaves two messages" {
  protocol = "null", program = "$BUILD/tests/mpi/driver_unreceived", ranks = 2, claims = { "$1" },
  arguments = { ${2:+"'$2'"} },
  plan = function(p) p:kill { rank = 1, event = "recv", nth = 3 } end,
}
LUA
    "$FAULTLINE" run -v s.lua
}

# unreceived VALUE: what the stored run says of the run without faults.
unreceived() {
    sed '/^  "unreceived": \[/,/^  \]/c\  "unreceived": '"$1"',' <original >stored/run.json
    run ! cmp -s original stored/run.json
}

@test "messages that the program leaves unreceived without faults too are no loss" {
    run leave_unreceived H
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"the program leaves 2 messages unreceived, the first of them on m(0→1, tag 9)"* ]]
}

@test "messages left unreceived on a communicator of the program's own are no loss either" {
    run leave_unreceived H apart
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "H.loss alone asks for the run without faults" {
    run leave_unreceived H.loss
    echo "$output"
    [ "$status" -eq 0 ]
    [ -d faultline-out/latest/reference/1 ]
}

@test "more than without faults, none without faults, no run without faults" {
    leave_unreceived H.loss
    cp -rL faultline-out/latest/1 stored
    cp stored/run.json original
    grep -q '"messages": "2"' original

    sed -i 's/"messages": "2"/"messages": "1"/' stored/run.json
    run "$FAULTLINE" check stored
    echo "$output"
    [ "$status" -eq 2 ]
    [[ "$output" == *"1 message was sent and never received; the first is m(0→1, tag 9, #1)"* ]]
    [[ "$output" == *"without faults too the program leaves messages unreceived, but not as many"* ]]

    unreceived '[]'
    run "$FAULTLINE" check stored
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"# H.loss"* ]]

    unreceived null
    run "$FAULTLINE" check stored
    echo "$output"
    [ "$status" -eq 2 ]
    [[ "$output" == *"there is no finished run without faults"* ]]

    unreceived 4
    run "$FAULTLINE" check stored
    [ "$status" -eq 64 ]
    [[ "$output" == *'field "unreceived" is missing or not a list or null'* ]]
}
