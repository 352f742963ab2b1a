#!/usr/bin/env bats
# More programs drawn from seeds; tests/drawn.bats has some of these.

bats_require_minimum_version 1.5.0

load ../driver_common
load ../drawn_common

@test "programs with a line at each step that die soon after one pass under each protocol" {
    none_fails grid '*: a line in each life*' 16 16 --seed 2
}

@test "programs whose ranks die soon after one another pass where messages are logged" {
    none_fails deaths '*[ a-z] 1' 21 25
}
