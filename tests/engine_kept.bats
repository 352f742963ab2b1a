#!/usr/bin/env bats
# Zygotes of the step engine that are kept over the runs of a command.

bats_require_minimum_version 1.5.0

load driver_common

# In which every step waits for a file: a broken test must not leave its processes.
teardown() {
    local pid
    touch begun.go
    [ -z "${DRIVER:-}" ] || kill -9 "$DRIVER" 2>/dev/null || true
    cat begun.here begun.child 2>/dev/null | tr ' ' '\n' | while read -r pid; do
        [ "$(readlink "/proc/$pid/exe")" != "$BUILD/tests/mpi/engine_kept" ] || kill -9 "$pid"
    done
}

# many NUMBER MODE [VARIABLE]: as many scenarios in s.lua.
many() {
    cat >s.lua <<EOF
for i = 1, $1 do
  scenario("run " .. i) { protocol = "null", program = "$BUILD/tests/mpi/engine_kept", ranks = 2,
    arguments = { "$PWD/begun", "$2", "${3:-}" }, engine = "step", claims = { "H", "I" } }
end
EOF
}

starts_by() {
    grep -c "$1" begun || true
}

# The process of an earlier line is gone or dead.
is_gone() {
    local state
    state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) || return 0
    [ "$state" = Z ]
}

@test "fifty runs start one zygote, and each leaves what a run that starts the program anew leaves" {
    many 50 say
    run "$FAULTLINE" run -j2 s.lua
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^ok' <<<"$output")" -eq 50 ]
    cat begun
    [ "$(starts_by command)" -eq 1 ]
    [ "$(starts_by job)" -ge 2 ]
    [ "$(starts_by job)" -lt 50 ]
    [ "$(sort faultline-out/latest/*/output/launcher | uniq -c)" = "  50000 said before" ]
    for run in faultline-out/latest/[0-9]*; do
        (cd "$run/trace" && sha256sum -- *)
    done | sort -u >traces
    [ "$(wc -l <traces)" -eq 2 ]
}

@test "scenarios that differ in one variable share no zygote" {
    many 8 say KEPT_KIND
    sed -i 's/engine = "step"/&, environment = { KEPT_KIND = "kind " .. i % 2 }/' s.lua
    "$FAULTLINE" run -j1 s.lua
    for i in 1 2 3 4 5 6 7 8; do
        [ "$(cat "faultline-out/latest/$i/output/r0.0.out")" = "kind $((i % 2))" ]
    done
}

@test "what the user has set holds in every run, but for what each run has of its own" {
    many 6 say FAULTLINE_HASH
    FAULTLINE_HASH=full "$FAULTLINE" run -j1 s.lua
    [ "$(cat faultline-out/latest/*/output/r0.0.out | uniq -c)" = "      6 full" ]
    many 6 say FAULTLINE_ENGINE_SEED
    FAULTLINE_ENGINE_SEED=of-nobody "$FAULTLINE" run -j1 s.lua
    cat faultline-out/latest/*/output/r0.0.out >seeds
    [ "$(grep -cx '[0-9][0-9]*' seeds)" -eq 6 ]
}

@test "a campaign starts one zygote for each of its programs" {
    many 1 say
    run "$FAULTLINE" campaign --engine step --runs 50 s.lua
    echo "$output"
    [ "$(grep -c '"kind": *"run"' faultline-out/latest/campaign.jsonl)" -eq 50 ] # whatever they find
    [ "$(starts_by command)" -eq 1 ]
    [ "$(starts_by job)" -lt 50 ]
}

@test "a program that did what each run has to do anew is started anew for each" {
    for mode in open ask share fork thread; do
        rm -f begun
        many 6 "$mode"
        "$FAULTLINE" run -j1 s.lua
        [ "$(starts_by job)" -eq 7 ] # the first run is made twice
        [ "$(starts_by command)" -eq 1 ]
    done
}

# begin MODE: starts a command in the background, and waits until a kept zygote has a run.
begin() {
    many 60 "$1"
    "$FAULTLINE" run -j1 --no-stacks --no-control s.lua >out 2>err &
    DRIVER=$!
    wait_until test -s begun.here
    read -r zygote launcher rank <begun.here
    job=$(pgrep -P "$DRIVER" -x faultline)
    child=$(cat begun.child)
}

gone() {
    local pid
    for pid in "$@"; do
        wait_until is_gone "$pid"
    done
}

ended_with() {
    local ended=0
    wait "$DRIVER" || ended=$?
    cat out
    [ "$ended" -eq "$1" ]
}

@test "a zygote that is killed during a run is made anew, and the run goes on" {
    begin wait
    kill -9 "$zygote"
    touch begun.go
    ended_with 0
    [ "$(grep -c '^ok' out)" -eq 60 ]
    [ "$(starts_by command)" -eq 2 ]
    gone "$zygote" "$launcher" "$rank" "$child"
}

@test "a launcher process that is killed during a run is a harness error of that run alone" {
    begin wait
    kill -9 "$launcher"
    touch begun.go
    ended_with 3
    [ "$(grep -c '^ok' out)" -eq 59 ]
    [[ "$(cat out)" == *"the launcher was ended, not by Faultline"* ]]
    gone "$launcher" "$rank"
}

@test "a job that is killed takes along what the zygote has begun for it, and nothing else" {
    begin wait
    kill -9 "$job"
    gone "$launcher" "$rank" "$child"
    touch begun.go
    ended_with 3
    [ "$(grep -c '^ok' out)" -eq 59 ]
    [ "$(starts_by command)" -eq 1 ]
}

@test "a command that is killed leaves nothing" {
    begin wait
    kill -9 "$DRIVER"
    gone "$DRIVER" "$job" "$zygote" "$launcher" "$rank" "$child"
}

@test "a command that is interrupted leaves nothing" {
    begin wait
    kill -TERM "$DRIVER"
    ended=0
    wait "$DRIVER" || ended=$?
    [ "$ended" -eq 143 ]
    gone "$DRIVER" "$job" "$zygote" "$launcher" "$rank" "$child"
}

# All of it: make same-traces.
@test "runs with the same decisions leave the same traces, killed or not, on a kept zygote or none" {
    run "$REPO/scripts/same_traces.sh" "$BUILD" 1 4
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == "30 of 30 runs"* ]]
}

@test "ranks are forked without plugins of hwloc and modules of UCX, unless the user names where plugins are" {
    local plugins
    printf 'scenario "plugins" { protocol = "null", program = "%s", ranks = 2, engine = "step", claims = { "H.progress" } }\n' \
        "$BUILD/tests/mpi/engine_plugins" >p.lua
    # said: what rank 0 says, alone and where a zygote is kept.
    said() { cat out/latest/*/output/r0.0.out | sort -u; }
    env -u HWLOC_PLUGINS_PATH "$FAULTLINE" run --out out --keep --repeat 4 p.lua
    [ "$(said)" = "plugins none, path not set" ]
    plugins=$(find /usr/lib -name hwloc_pci.so -printf '%h' -quit)
    [ -n "$plugins" ] || skip "hwloc has no plugins here"
    HWLOC_PLUGINS_PATH=$plugins "$FAULTLINE" run --out out --keep --repeat 4 p.lua
    [ "$(said)" = "plugins some, path $plugins" ]
}
