#!/usr/bin/env bats
# Campaigns that take too long for `make test`: `make test-long`.

bats_require_minimum_version 1.5.0
load ../driver_common

# first STRATEGY SEED: which run is the first to find it; MOST: none did.
first() {
    local status=0
    "$FAULTLINE" campaign -j 2 --engine step --strategy "$1" --seed "$2" --runs "$MOST" --until-failure \
        --replays 0 --out "$1-$2" two.lua >tap || status=$?
    [ "$status" -le 2 ] || return "$status"
    jq "[.groups[] | select(.claim == \"H.result\") | .first, $MOST] | min // $MOST" "$1-$2/latest/campaign.json"
}

# Random plans and orders show each of the two in about one run of fifteen, both in one of two hundred.
@test "a mistake behind two orders, one after the other, is found in fewer guided runs than random ones" {
    local seed drawn=0 guided=0 run MOST=200
    two_orders
    for seed in 1 2 3 4 5 6; do
        run=$(first random "$seed")
        drawn=$((drawn + run))
        run=$(first guided "$seed")
        guided=$((guided + run))
    done
    echo "# random: $drawn runs, guided: $guided"
    [ "$guided" -lt $((drawn * 9 / 10)) ]
}
