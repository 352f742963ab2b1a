#!/usr/bin/env bats
# Correct programs that are easily misread: no oracle may alarm on them, and nothing may break them.

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

@test "datatypes freed while a request needs them" {
    judged identity_types_freed
}

@test "a datatype freed while another thread's receive needs it" {
    judged identity_type_in_use
}
