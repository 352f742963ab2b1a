#!/usr/bin/env bats
# What is the same must be recorded as the same: no oracle may alarm on these correct programs.

load driver_common

judged() {
    cat >s.lua <<LUA
scenario "$1" {
  protocol = "null", program = "$BUILD/tests/mpi/$1", ranks = 2, claims = { "H", "I" },
}
LUA
    "$FAULTLINE" run s.lua
}

@test "bytes of padding make no difference" {
    judged identity_padding
}

@test "communicators that threads make at once are told apart by their tags" {
    judged identity_threads
}
