-- Plans for tests/unit/script/lua_text.c, one step or a few each: every action with every field
-- that it may have, alone and together with others. Each is printed as Lua and must come back the
-- same.

local count = 0
local function plan(steps, ranks)
  count = count + 1
  scenario("plan " .. count) {
    protocol = "c3", program = "ring", ranks = ranks or 4, claims = { "C", "H" }, plan = steps,
  }
end

-- Calls back with every pair of entries of `list`, and with each alone.
local function alone_and_paired(list, use)
  for i = 1, #list do
    use(list[i], {})
    for k = i + 1, #list do use(list[i], list[k]) end
  end
end

local function merged(...)
  local all = {}
  for _, fields in ipairs { ... } do
    for name, value in pairs(fields) do all[name] = value end
  end
  return all
end

-- ---- conditions -------------------------------------------------------------------------------

local region = { region = "logging", line = 2 }
local anybody = { { incarnation = 1 }, { within = "commit \"it\"\\" }, region, { nth = 7 },
  { state = { rank = 2, region = "beyond", line = 1 } },
  { state = { rank = 1, blocked = "MPI_Recv" } },
  { state = { region = "before", line = 3, blocked = "MPI_Wait" } },
  { state = { { rank = 0, region = "before", line = 1 }, { blocked = "MPI_Barrier" } } } }

local of_calls = { { level = "wire" }, { position = "after" } }
local of_sends = { { peer = 3 }, { tag = 0 }, { comm = "world" }, { comm = "self" },
  { comm = "5a3" }, { call = "MPI_Isend" } }
local fields_of = {
  send = { of_calls, of_sends, { { message = "stopLogging" } } },
  recv = { of_calls, { { peer = 3 }, { tag = 5 }, { call = "MPI_Irecv" } } },
  deliver = { { { level = "wire" }, { peer = 1 }, { message = "stopLogging", epoch = 2 } } },
  probe = { of_calls, { { call = "MPI_Iprobe" }, { tag = 2147483647 } } },
  wait = { of_calls, { { call = "MPI_Waitall" } } },
  collective = { of_calls, { { peer = 0 }, { call = "MPI_Ibcast" }, { comm = "world" } } },
  call = { of_calls, { { call = "MPI_Comm_dup" }, { call = "MPI_Send", peer = 1 } } },
  commit = { { { epoch = 0 }, { epoch = 12 } } },
  logged = { { { epoch = 1 }, { peer = 2 }, { tag = 3 }, { comm = "world" } } },
  phase = { { { name = "c3:before the end" } } },
  result = { { { name = "ü" } } },
  sync = { { { file = "rank1/*" }, { position = "after" } } },
  rename = { { { file = "*" } } },
}

local conditions = {}
local function condition(fields)
  conditions[#conditions + 1] = fields
end
for event, groups in pairs(fields_of) do
  local all = {}
  for _, group in ipairs(groups) do
    for _, fields in ipairs(group) do all[#all + 1] = fields end
  end
  for _, fields in ipairs(anybody) do all[#all + 1] = fields end
  condition { event = event }
  condition { event = event, rank = 3 }
  alone_and_paired(all, function(one, other)
    local both = merged(one, other, { event = event })
    if not (both.message and both.level) then condition(both) end
  end)
end
condition { rank = 2, region = "beyond", line = 1 }
condition { rank = 2,
  state = { { rank = 1, region = "beyond", line = 1 }, { blocked = "MPI_Recv" } } }
condition { rank = 2, region = "before", line = 4,
  state = { rank = 1, region = "beyond", line = 1 } }
condition { state = { rank = 0, blocked = "MPI_Recv" } }
condition { call = "MPI_Allreduce" }

for _, fields in ipairs(conditions) do
  plan(function(p)
    local stopped = p:stop { ranks = { 0, 2 }, at = fields, release = fields }
    p:await(merged(fields, { after = "start" }))
    p:release(stopped, fields)
    p:kill { rank = 1, at = fields }
    if not fields.event or fields.rank then p:kill(merged(fields, { rank = 3, state = {
      { rank = 3, region = "logging", line = 1 } } })) end
  end)
end

-- ---- actions ----------------------------------------------------------------------------------

plan(function(p)
  p:kill { rank = 1 }
  p:kill { ranks = { 3, 1, 0 }, lose = "node" }
  p:kill { rank = 1, event = "unlink", file = "a", lose = "rank" }
  p:kill { rank = 1, call = "MPI_Allreduce", position = "inside", incarnation = 1 }
  p:stop { rank = 0, ms = 4, attempt = true }
  p:jitter { ms = 1 }
  p:jitter { ms = 2, seed = 3 }
  p:jitter { ms = 2, seed = -1 }
end)

local letting_go = { { ms = 5 }, { attempt = true }, { release = { event = "send" } },
  { release = { rank = 1, event = "call", nth = 9 } }, { tags_apart = true }, { count = 3 },
  { from = 0 }, { to = 1 }, { after = "start" } }
alone_and_paired(letting_go, function(one, other)
  plan(function(p)
    p:hold(merged(one, other))
    for _, order in ipairs { { 2, 3, 1 }, { 3, 2, 1 }, "reverse", "random" } do
      p:reorder(merged(one, other, { order = order, count = 3 }))
    end
  end)
end)
plan(function(p)
  p:delay { ms = 5 }
  p:delay { from = 1, events = 5, count = 2, tags_apart = true }
  p:delay { from = 1, events = 1 }
  p:hold { message = "pleaseCheckpoint", to = 1, release = { rank = 1, event = "call" } }
  p:choose { source = 1 }
  p:choose { rank = 0, nth = 3, source = 2, tag = 4 }
  p:choose { rank = 0, source = 2, event = "probe" }
  p:choose { rank = 0, source = 2, call = "MPI_Mprobe" }
  p:choose { source = 2, call = "MPI_Irecv" }
  p:choose { source = 2, tag = 1, at = { event = "recv", tag = 7, rank = 1 } }
  p:answer { call = "MPI_Test", answer = false, times = 10 }
  p:answer { call = "MPI_Iprobe", answer = true, rank = 2, nth = 4 }
  p:answer { call = "MPI_Waitany", answer = 0 }
  p:answer { call = "MPI_Testany", answer = 3 }
  p:answer { call = "MPI_Testany", answer = false }
  p:answer { call = "MPI_Waitsome", answer = { 0, 2 } }
  p:answer { call = "MPI_Testsome", answer = { 1 }, region = "logging", line = 1 }
  p:answer { call = "MPI_Testsome", answer = false }
end)
plan(function(p)
  for _, name in ipairs { "EACCES", "EBUSY", "EDQUOT", "EEXIST", "EINTR", "EIO", "EMFILE",
    "ENFILE", "ENOENT", "ENOMEM", "ENOSPC", "EROFS" } do
    p:fail { event = "rename", error = name, file = "x", rank = 1, nth = 2 }
  end
  p:short { bytes = 0 }
  p:short { bytes = 12, file = "line.*" }
  p:tear { bytes = 1 }
  p:tear { rank = 2, nth = 3, bytes = 100, lose = "node" }
end)

plan(function(p)
  p:kill { rank = 1, lose_files = "node0/*.1" }
  p:kill { rank = 1, lose_files = "node%/ram/*" }
end)

-- ---- steps that name others ---------------------------------------------------------------------

plan(function(p)
  local held = p:hold { from = 0 }
  local stopped = p:stop { rank = 1 }
  local also = p:hold { from = 2 }
  local reached = p:await { event = "commit", after = held }
  p:release(also)
  p:release(held, { after = reached })
  p:release(stopped, { event = "send", after = stopped })
end)

-- More than a function may have local variables.
plan(function(p)
  local steps = {}
  for i = 1, 120 do steps[i] = p:hold { from = 0, nth = i, after = steps[i - 1] } end
  for i = 1, 120 do p:release(steps[i]) end
  for i = 1, 16 do p:kill { rank = 1, after = steps[i] } end
end)
