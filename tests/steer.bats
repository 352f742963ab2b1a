#!/usr/bin/env bats
# Steering: messages held, wildcards and tests told what to say, with every kind of call. The MPI
# programs (tests/mpi/steer_*.c) check what they see; I.installed that the fault was there, I.legal
# that what went over the wire is something MPI allows.

bats_require_minimum_version 1.5.0

setup() {
    REPO=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    BUILD=${BUILD:-$REPO/build}
    case $BUILD in /*) ;; *) BUILD=$REPO/$BUILD ;; esac
    FAULTLINE=$BUILD/faultline
    unset FAULTLINE_RUN FAULTLINE_RANK FAULTLINE_RANKS FAULTLINE_OUT FAULTLINE_HASH FAULTLINE_RECORD
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >s.lua <<LUA
local function try(name, program, ranks, arguments, plan, claims, protocol)
  scenario(name) {
    protocol = protocol or "null", program = "$BUILD/tests/mpi/" .. program, ranks = ranks,
    arguments = arguments, timeout = 60, plan = plan,
    claims = claims or { "I", "H.progress", "H.order", "H.payload", "H.duplicate", "H.orphan" },
  }
end

local function mpi(call)
  return "MPI_" .. call:sub(1, 1):upper() .. call:sub(2)
end

local looked = { event = "phase", rank = 1, name = "looked" }
LUA
}


# passes COUNT: so many scenarios, and all pass.
passes() {
    local status=0
    timeout -k 10 600 "$FAULTLINE" run -j 2 --out out s.lua >tap 2>said || status=$?
    grep -A 30 '^not ok' tap || true
    cat said
    echo "exit status $status, $(grep -c '^ok' tap) of $1 pass"
    [ "$status" -eq 0 ] && [ "$(grep -c '^ok' tap)" -eq "$1" ]
}

trace() {
    "$FAULTLINE" trace "out/latest/$1"
}

# --- held messages --------------------------------------------------------------------------------

@test "a held message is not seen, whatever kind of send it is" {
    cat >>s.lua <<'LUA'
for _, kind in ipairs { "send", "bsend", "rsend", "isend", "ibsend", "irsend", "issend",
    "send_init", "bsend_init", "rsend_init", "ssend_init", "sendrecv", "sendrecv_replace",
    "isendrecv", "isendrecv_replace", "ssend" } do
  try(kind, "steer_hold", 2, { kind }, function(p)
    p:hold { from = 0, to = 1, comm = "world", release = looked }
  end)
end
LUA
    passes 16
    local i
    for i in {1..15}; do # ssend cannot tell that it is held
        trace "$i" | grep -q 'phase "unseen"'
    done
    for i in {1..16}; do
        trace "$i" | grep -q 'held r1'
        trace "$i" | grep -q 'released r1'
    done
}

@test "a message over an intercommunicator is held, though its sender's side is smaller" {
    cat >>s.lua <<'LUA'
try("across", "steer_hold", 3, { "send", "across" }, function(p)
  p:hold { from = 0, to = 1, tag = 1, release = looked }
end)
LUA
    passes 1
    trace 1 | grep -q 'phase "unseen"'
}

@test "a message of no bytes is held as well" {
    cat >>s.lua <<'LUA'
for _, kind in ipairs { "send", "isend", "issend", "sendrecv_replace" } do
  try(kind, "steer_hold", 2, { kind, "empty" }, function(p)
    p:hold { from = 0, to = 1, comm = "world", release = looked }
  end)
end
LUA
    passes 4
    local i
    for i in {1..4}; do
        trace "$i" | grep -q 'phase "unseen"'
    done
}

@test "without the hold the same message is seen" {
    cat >>s.lua <<'LUA'
try("send", "steer_hold", 2, { "send" }, function() end)
LUA
    passes 1
    run ! grep -q 'phase "unseen"' <(trace 1)
}

@test "a rank that holds a message waits in no call inside the library" {
    cat >>s.lua <<'LUA'
for _, call in ipairs { "recv", "probe", "mprobe", "wait", "waitall", "waitany", "waitsome", "send",
    "ssend", "sendrecv", "barrier", "bcast", "scatter", "scatterv", "gather", "gatherv",
    "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce", "allreduce",
    "reduce_scatter", "reduce_scatter_block", "scan", "exscan", "neighbor_allgather", "comm_split",
    "comm_dup", "comm_create", "intercomm", "window", "file", "comm_free" } do
  try(call, "steer_calls", 3, { call }, function(p)
    p:hold { from = 0, to = 1, tag = 1, release = looked }
  end)
end
LUA
    passes 35
}

@test "what nothing else lets go is let go when the job cannot go on, and that is said" {
    cat >>s.lua <<'LUA'
try("attempt", "steer_calls", 3, { "finalize" }, function(p)
  p:hold { from = 0, to = 1, tag = 1, attempt = true, release = looked }
end)
try("no attempt", "steer_calls", 3, { "finalize" }, function(p)
  p:hold { from = 0, to = 1, tag = 1, release = looked }
end)
LUA
    run -2 timeout 100 "$FAULTLINE" run -j 2 --out out s.lua
    [[ $output == *"ok 1 - attempt"* && $output == *"not ok 2 - no attempt # vacuous"* ]]
    [[ $output == *"because the job could not go on otherwise"* ]]
}

@test "several senders' messages are let go in the order that is asked for" {
    cat >>s.lua <<'LUA'
for _, order in ipairs { { 3, 1, 2 }, { 3, 2, 1 }, { 2, 3, 1 }, { 1, 2, 3 } } do
  local text = table.concat(order)
  try(text, "steer_order", 4, { "senders", text }, function(p)
    p:hold { to = 0, tag = 1, comm = "world", count = 3, order = order }
  end)
end
try("tags apart", "steer_order", 2, { "tags", "123" }, function(p)
  p:hold { from = 1, to = 0, comm = "world", count = 3, order = { 3, 1, 2 }, tags_apart = true }
end)
try("synchronous", "steer_order", 4, { "synchronous", "123" }, function(p)
  p:hold { to = 0, tag = 1, comm = "world", count = 3, order = { 3, 1, 2 } }
end)
LUA
    passes 6
}

@test "an order that the receiver's own excludes ends, and is not taken for one that was seen" {
    cat >>s.lua <<'LUA'
try("named", "steer_order", 4, { "named", "123" }, function(p)
  p:hold { to = 0, tag = 1, comm = "world", count = 3, order = { 3, 1, 2 } }
end)
LUA
    run -2 timeout 100 "$FAULTLINE" run -j 2 --out out s.lua
    [[ $output == *"because the job could not go on otherwise"* ]]
}

@test "a delayed message waits, also when its sender is in MPI_Finalize" {
    cat >>s.lua <<'LUA'
try("order", "steer_order", 4, { "senders", "231" }, function(p)
  p:delay { from = 1, to = 0, tag = 1, ms = 300 }
end)
LUA
    passes 1
    trace 1 | grep -q 'released r0'
}

@test "jitter changes nothing that a program can tell" {
    cat >>s.lua <<LUA
for _, one in ipairs { { "taps_messages", 3 }, { "taps_requests", 2 }, { "taps_communicators", 4 },
    { "identity_types_freed", 2 }, { "identity_threads", 2 }, { "taps_threads", 2 } } do
  try(one[1], one[1], one[2], nil, function(p) p:jitter { ms = 3 } end)
end
LUA
    passes 6
}

@test "jitter that delays no message changes nothing either, and is not taken for installed" {
    cat >>s.lua <<LUA
local quiet = { "I.installed", "I.complete", "H.progress" } -- no message between ranks
for _, one in ipairs { { "taps_collectives", 3 }, { "identity_padding", 2 }, { "taps_rest", 2 } } do
  try(one[1], one[1], one[2], { "$PWD/data" }, function(p) p:jitter { ms = 3 } end, quiet)
end
LUA
    run -2 timeout 200 "$FAULTLINE" run -j 2 --out out s.lua
    [ "$(grep -c '^not ok .* # vacuous' <<<"$output")" -eq 3 ]
    [ "$(grep -c 'step 1 of the plan delayed no message' <<<"$output")" -eq 3 ]
}

@test "a communicator is made while a message is held, with jitter too" {
    cat >>s.lua <<'LUA'
try("group", "steer_waits", 2, { "group" }, function(p)
  p:jitter { ms = 3 }
  p:hold { from = 0, to = 1, tag = 1, comm = "world", release = { event = "phase", rank = 1, name = "made" } }
end)
LUA
    passes 1
}

@test "a call over a communicator that the library refuses on one rank alone waits for nobody" {
    cat >>s.lua <<'LUA'
try("refused", "steer_waits", 2, { "refused" }, function(p) p:jitter { ms = 3 } end)
LUA
    passes 1
}

@test "hundreds of synchronous sends at once are delayed, and all are completed" {
    cat >>s.lua <<'LUA'
try("many", "steer_waits", 2, { "many" }, function(p) p:jitter { ms = 1 } end)
LUA
    passes 1
}

@test "what a protocol sends of its own inside a call is not held in place of the message" {
    mpicc -shared -fPIC -o libhead.so "$REPO/tests/steer/head.c"
    cat >>s.lua <<'LUA'
try("head", "steer_hold", 2, { "send" }, function(p)
  p:hold { from = 0, to = 1, comm = "world", release = looked }
end, nil, "./libhead.so")
LUA
    passes 1
    trace 1 | grep -q 'phase "unseen"'
}

# --- choices --------------------------------------------------------------------------------------

@test "a wildcard receive or probe takes the message that is chosen" {
    cat >>s.lua <<'LUA'
for _, call in ipairs { "recv", "sendrecv", "irecv", "probe", "mprobe", "iprobe", "improbe" } do
  for source = 1, 3 do
    try(call .. " " .. source, "steer_choices", 4, { call, tostring(source) }, function(p)
      p:choose { rank = 0, source = source, event = call:find("probe") and "probe" or "recv" }
    end)
  end
end
LUA
    passes 21
}

@test "a choice that cannot be had ends: the call takes what is there, and that is said" {
    cat >>s.lua <<'LUA'
for _, call in ipairs { "recv", "irecv", "probe", "improbe" } do
  try(call, "steer_choices", 4, { call, "0" }, function(p)
    p:choose { rank = 0, source = 0, event = call:find("probe") and "probe" or "recv" }
  end)
end
try("tag", "steer_choices", 4, { "recv", "0" }, function(p)
  p:choose { rank = 0, source = 2, tag = 11 } -- the second of that rank
end)
LUA
    run -2 timeout 200 "$FAULTLINE" run -j 2 --out out s.lua
    [ "$(grep -c '^not ok .* # vacuous' <<<"$output")" -eq 5 ]
}

@test "a receive that waits for its choice can be cancelled" {
    cat >>s.lua <<'LUA'
try("cancel", "steer_choices", 4, { "cancel", "0" }, function(p)
  p:choose { rank = 0, source = 1, at = { event = "recv", tag = 99 } }
end)
LUA
    # Taken back before its message was there: the choice was not made.
    run -2 timeout 100 "$FAULTLINE" run -j 2 --out out s.lua
    [[ $output == *"cancel: rank 0 ok"* && $output == *"was never done: choose"* ]]
}

@test "where a receive that waits for its choice is cancelled the next one gets it" {
    cat >>s.lua <<'LUA'
try("again", "steer_choices", 4, { "again", "3" }, function(p) p:choose { rank = 0, source = 3 } end)
LUA
    run -0 timeout 100 "$FAULTLINE" run --out out s.lua
}

@test "neither a probe nor a receive takes a message past a receive that waits for its choice" {
    cat >>s.lua <<'LUA'
for how, event in pairs { behind = "probe", after = "recv" } do
  try(how, "steer_waits", 3, { how }, function(p)
    p:choose { rank = 0, source = 2, event = "recv" }
    p:choose { rank = 0, source = 1, event = event, after = "start" }
  end)
end
LUA
    run -2 timeout 100 "$FAULTLINE" run --out out s.lua
    [[ $output == *"behind: rank 0 ok"* && $output == *"after: rank 0 ok"* ]]
    [ "$(grep -c "step 1 of the plan could not be done: choose" <<<"$output")" -eq 2 ]
}

# --- answers --------------------------------------------------------------------------------------

@test "a call says no although it could say yes" {
    cat >>s.lua <<'LUA'
for _, call in ipairs { "test", "testany", "testall", "testsome", "iprobe", "improbe" } do
  try(call, "steer_answers", 2, { call, "no3" }, function(p)
    p:answer { rank = 0, call = mpi(call), answer = false, times = 3 }
  end)
end
LUA
    passes 6
}

@test "a call says yes, and waits until that is true" {
    cat >>s.lua <<'LUA'
for _, call in ipairs { "test", "testall", "iprobe", "improbe" } do
  try(call, "steer_answers", 2, { call, "yes" }, function(p)
    p:answer { rank = 0, call = mpi(call), answer = true }
  end)
end
LUA
    passes 4
}

@test "Waitany, Testany, Waitsome and Testsome complete the requests that are named" {
    cat >>s.lua <<'LUA'
for _, call in ipairs { "testany", "waitany" } do
  try(call, "steer_answers", 2, { call, "pick" }, function(p)
    p:answer { rank = 0, call = mpi(call), answer = 2 }
  end)
end
for _, call in ipairs { "testsome", "waitsome" } do
  try(call, "steer_answers", 2, { call, "pick" }, function(p)
    p:answer { rank = 0, call = mpi(call), answer = { 2, 0 } }
  end)
end
LUA
    passes 4
}

@test "what a protocol asks of its own inside a call is not answered in place of the program" {
    cat >>s.lua <<'LUA'
try("test", "steer_answers", 2, { "test", "no3" }, function(p)
  p:answer { rank = 0, call = "MPI_Test", answer = false, times = 3 }
end, nil, "c3")
LUA
    passes 1
}

@test "an answer that a protocol keeps from the program was not given" {
    mpicc -shared -fPIC -o libhead.so "$REPO/tests/steer/head.c"
    cat >>s.lua <<'LUA'
try("test", "steer_answers", 2, { "test", "free" }, function(p)
  p:answer { rank = 0, call = "MPI_Test", answer = false }
end, nil, "./libhead.so")
LUA
    run -2 timeout 100 "$FAULTLINE" run --out out s.lua
    [[ $output == *"the protocol gave the program another"* ]]
}
