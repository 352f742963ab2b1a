-- Every kind of call in every role, when a member dies before it, inside it or after it, and
-- however the call ends: what `make ulfm-product` runs with some schedules each, and counts. Rank 1
-- dies.

-- step = what makes the call in suites/programs/lives/survivors.c; start = its name without form
-- and root; blocked = what it waits in; unrevoked = no revocation ends it; rooted = by rank 0;
-- root = the root's rank, or false.
local kinds = {}
local function kind(name, step, blocked, more)
  local one = more or {}
  one.name, one.step, one.blocked = name, step, blocked
  kinds[#kinds + 1] = one
end

local collectives = {
  { "bcast", "Bcast", true }, { "scatter", "Scatter", true }, { "scatterv", "Scatterv", true },
  { "gather", "Gather", true }, { "gatherv", "Gatherv", true }, { "reduce", "Reduce", true },
  { "barrier", "Barrier" }, { "allgather", "Allgather" }, { "allgatherv", "Allgatherv" },
  { "alltoall", "Alltoall" }, { "alltoallv", "Alltoallv" }, { "alltoallw", "Alltoallw" },
  { "allreduce", "Allreduce" }, { "scan", "Scan" }, { "exscan", "Exscan" },
  { "reduce_scatter", "Reduce_scatter" }, { "reduce_scatter_block", "Reduce_scatter_block" },
}
for _, one in ipairs(collectives) do
  local step, call, rooted = table.unpack(one)
  for _, root in ipairs(rooted and { 0, 1 } or { 0 }) do
    local to = rooted and ", root " .. root or ""
    local function form(text, letter, blocked, request)
      kind(text .. step .. to, letter .. step .. "=" .. root, blocked,
        { request = request, rooted = rooted and root == 0, root = rooted and root, start = step })
    end
    form("", "", "MPI_" .. call, false)
    form("started ", "i", "MPI_Wait", true)
    form("persistent ", "p", "MPI_Wait", true)
  end
end
for _, one in ipairs {
  { "dup", "MPI_Comm_dup" }, { "split", "MPI_Comm_split" }, { "create", "MPI_Comm_create" },
  { "cart", "MPI_Cart_create" }, { "spawn=1", "MPI_Comm_spawn" }, { "agree=1", "MPIX_Comm_agree" },
  { "shrink", "MPIX_Comm_shrink" },
} do
  kind(one[1], one[1], one[2], { unrevoked = one[2]:match("^MPIX") })
end

local function job(name, steps, plan)
  scenario(name) {
    program = "survivors", ranks = 4, engine = "step", survivors = true, protocol = "null",
    arguments = { steps }, claims = { "U" }, plan = plan,
  }
end

local function nth_call(nth, position)
  return function(p)
    p:kill { rank = 1, event = "call", level = "wire", nth = nth, position = position }
  end
end

-- Rank 1 is killed once these ranks wait in these calls.
local function when_blocked(...)
  local state = {}
  for _, one in ipairs { ... } do state[#state + 1] = { rank = one[1], blocked = one[2] } end
  return function(p) p:kill { rank = 1, at = { state = state } } end
end

local FIRST = 5 -- the wire call of rank 1 that is its first step's; before it the program's start

-- What all take part in. Each with the others revoking when they learn of it, and not.
for _, one in ipairs(kinds) do
  for _, keep in ipairs { "", "--keep " } do
    local step, wait = one.step, one.request and " wait" or ""
    local told = keep == "" and "" or ", nobody revokes"
    local function each(text, steps, plan)
      job(("%s: death %s%s"):format(one.name, text, told), keep .. steps, plan)
    end
    for _, position in ipairs { "before", "inside", "after" } do
      each(position .. " it", step .. wait .. " barrier", nth_call(FIRST, position))
    end
    each("while it waits in it", step .. wait, when_blocked { 1, one.blocked })
    each("while the first waits in it", ("0:%s 2:%s 3:%s"):format(step, step, step) ..
      (wait ~= "" and " 0:wait 2:wait 3:wait" or "") .. " 1:recv=0",
      when_blocked { 0, one.blocked })
    each("while one comes late", ("1:%s 2:%s 3:%s%s 0:recv=1 0:%s%s"):format(step, step, step, wait,
      step, wait), when_blocked({ 1, one.blocked }, { 0, "MPI_Recv" }))
    each("when all have returned", step .. wait .. " 1:recv=0 0:recv=1 2:recv=1 3:recv=1",
      when_blocked({ 0, "MPI_Recv" }, { 1, "MPI_Recv" }, { 2, "MPI_Recv" }, { 3, "MPI_Recv" }))
    if one.rooted then -- rank 3 has returned from it when rank 2 comes
      each("when the last comes", ("0:%s 3:%s%s 3:send=2 2:recv=3 2:%s%s 1:recv=0"):format(step,
        step, wait, step, wait), function(p)
        p:kill { rank = 1, at = { rank = 2, call = one.blocked } }
      end)
    end
    if not one.unrevoked then
      each("before it, another revokes",
        ("1:barrier 3:revoke 0:%s 2:%s%s"):format(step, step, wait),
        nth_call(FIRST, "inside"))
      each("inside it, another revokes",
        ("0:%s 2:%s 1:%s 3:revoke%s"):format(step, step, step, wait),
        nth_call(FIRST, "inside"))
    end
  end
end

-- Messages: of rank 2 with rank 1, and of ranks 0 and 3, who have nothing to do with it.
local messages = {
  { "send", "2:send=1", "1:recv=2", "0:send=3", "3:recv=0", "MPI_Send" },
  { "large", "2:large=1", "1:recv=2", "0:large=3", "3:recv=0", "MPI_Send" },
  { "ssend", "2:ssend=1", "1:recv=2", "0:ssend=3", "3:recv=0", "MPI_Ssend" },
  { "large started", "2:ilarge=1", "1:recv=2", "0:ilarge=3", "3:recv=0", "MPI_Wait" },
  { "large persistent", "2:plarge=1", "1:recv=2", "0:plarge=3", "3:recv=0", "MPI_Wait" },
  { "isend", "2:isend=1", "1:recv=2", "0:isend=3", "3:recv=0", "MPI_Wait" },
  { "issend", "2:issend=1", "1:recv=2", "0:issend=3", "3:recv=0", "MPI_Wait" },
  { "psend", "2:psend=1", "1:recv=2", "0:psend=3", "3:recv=0", "MPI_Wait" },
  { "recv", "2:recv=1", "1:send=2", "0:recv=3", "3:send=0", "MPI_Recv" },
  { "irecv", "2:irecv=1", "1:send=2", "0:irecv=3", "3:send=0", "MPI_Wait" },
  { "precv", "2:precv=1", "1:send=2", "0:precv=3", "3:send=0", "MPI_Wait" },
  { "exchange", "2:exchange=1", "1:exchange=2", "0:exchange=3", "3:exchange=0", "MPI_Sendrecv" },
  { "probe", "2:probe=1", "1:send=2", "0:probe=3", "3:send=0", "MPI_Probe" },
  { "mrecv", "2:mrecv=1", "1:send=2", "0:mrecv=3", "3:send=0", "MPI_Mprobe" },
  { "recv any", "2:recv=any", "1:send=2", "0:recv=any", "3:send=0", "MPI_Recv" },
  { "irecv any", "2:irecv=any", "1:send=2", "0:irecv=any", "3:send=0", "MPI_Wait" },
  { "precv any", "2:precv=any", "1:send=2", "0:precv=any", "3:send=0", "MPI_Wait" },
  { "probe any", "2:probe=any", "1:send=2", "0:probe=any", "3:send=0", "MPI_Probe" },
  { "mrecv any", "2:mrecv=any", "1:send=2", "0:mrecv=any", "3:send=0", "MPI_Mprobe" },
}
for _, one in ipairs(messages) do
  local name, of_peer, of_dead, of_bystander, of_other, blocked = table.unpack(one)
  local all = table.concat({ of_peer, of_dead, of_bystander, of_other }, " ")
  for _, keep in ipairs { "", "--keep " } do
    local told = keep == "" and "" or ", nobody revokes"
    local function each(text, steps, plan)
      job(("%s: death %s%s"):format(name, text, told), keep .. steps, plan)
    end
    for _, position in ipairs { "before", "inside", "after" } do
      each(position .. " it", all .. " wait", nth_call(FIRST, position))
      -- The peer knows of the death, or has been told by a revocation, before it begins.
      each(position .. " it, a barrier first", "barrier " .. all .. " wait",
        nth_call(FIRST, position))
    end
    each("after its message", all .. " 1:recv=0 wait barrier", when_blocked { 1, "MPI_Recv" })
    each("while the peer waits", ("%s 1:recv=0 2:wait"):format(of_peer),
      when_blocked { 2, blocked })
    each("while the peer waits, another revokes", ("%s 1:recv=0 3:recv=1 3:revoke 2:wait")
      :format(of_peer), when_blocked { 2, blocked })
    each("while a bystander waits", ("%s 1:recv=2 3:recv=1 %s 0:wait"):format(of_bystander,
      of_other),
      when_blocked({ 0, blocked }, { 1, "MPI_Recv" }, { 3, "MPI_Recv" }))
    each("before it, another revokes", ("1:barrier 3:revoke %s %s wait"):format(of_peer,
      of_bystander), nth_call(FIRST, "inside"))
  end
end

-- ---- who knows, and who comes late --------------------------------------------------------------

-- Nobody revokes unless it is said. What is left to chance is little: product.sh runs these under
-- more schedules.
local function steered(kind_name, text, steps, plan)
  job(("%s, steered: %s"):format(kind_name, text), "--keep " .. steps, plan)
end

-- Stops a rank at the end of the program's start, until `release`; without, until it is released.
local function comes(p, rank, release)
  return p:stop { rank = rank, event = "call", level = "wire", nth = FIRST - 1,
    position = "after", release = release, after = "start" }
end

local function dies(p, rank, ...)
  p:kill { rank = rank, after = "start", at = { state = { ... } } }
end

local function blocked(rank, call) return { rank = rank, blocked = call or "MPI_Recv" } end
local function all_blocked(...)
  local state = {}
  for _, rank in ipairs { ... } do state[#state + 1] = blocked(rank) end
  return { state = state }
end
local function through(rank, call) return { rank = rank, call = call, position = "after" } end

-- What some ranks need to take part, to its end.
local function steps_of(one, ...)
  local steps = {}
  for _, rank in ipairs { ... } do
    steps[#steps + 1] = rank .. ":" .. one.step
    if one.request then steps[#steps + 1] = rank .. ":wait" end
  end
  return table.concat(steps, " ") .. " "
end

-- Members that need nothing of rank 2 (of rank 0, where `root`) are through without it.
local function who_needs_whom(one)
  local from_root = one.root and (one.start:match("^bcast") or one.start:match("^scatter"))
  return {
    from_root = from_root, root = one.root and not from_root,
    from_lower = one.start == "scan" or one.start == "exscan",
  }
end

local function know_before(one, each)
  local know = "0:recv=1 2:recv=1 3:recv=1 "
  each("it died before, all know", know .. steps_of(one, 0, 2, 3), nth_call(FIRST, "before"))
  each("it came and died, then the others come", steps_of(one, 1) ..
    "1:recv=0 0:sleep=1000 2:sleep=1000 3:sleep=1000 " .. know .. steps_of(one, 0, 2, 3),
    function(p)
      -- While they sleep rank 1 alone can go on: it has surely come. (Where a plan asks who is
      -- blocked it waits for all before such a call: injectors/README.md.)
      p:kill { rank = 1, at = { rank = 0, call = "MPI_Recv" } }
    end)
  each("two have come, one of them dies, then the others come", steps_of(one, 0, 1) ..
    "2:sleep=1000 3:sleep=2000 " .. steps_of(one, 2, 3), function(p)
      p:kill { rank = 1, at = { rank = 2, call = one.request and "MPI_Wait" or one.blocked } }
    end)
  if one.unrevoked then
    each("all have acknowledged", know .. "ack " .. steps_of(one, 0, 2, 3),
      nth_call(FIRST, "before"))
  else
    each("it died before, another revokes", know .. "3:revoke " .. steps_of(one, 0, 2),
      nth_call(FIRST, "before"))
  end
end

-- Rank 3 is told of a death, and is through when rank 2 comes, which is not told.
local function another_dies(one, each)
  for _, revoke in ipairs { "", "3:recv=0 3:revoke " } do
    each("one comes late, another dies" .. (revoke ~= "" and " and it is revoked" or ""),
      "1:recv=0 0:recv=2 " .. steps_of(one, 3) .. revoke .. steps_of(one, 2), function(p)
        dies(p, 1, blocked(1), blocked(0), blocked(3, one.blocked))
        p:detect { rank = 2, of = 1, at = { rank = 3, call = "MPIX_Comm_shrink" }, after = "start" }
        comes(p, 2, through(3, one.blocked))
        dies(p, 0, blocked(2, one.blocked))
      end)
  end
end

-- Ranks 0 and 1 are through when rank 2 comes.
local function after_the_first(one, each, revoke)
  local begin = steps_of(one, 0, 1) .. "0:recv=1 1:recv=3 3:recv=1 " .. revoke
  local held = one.request and "2:recv=1 2:wait" or ""
  each("one comes when the first is through, death while it is in it", begin .. "2:" .. one.step ..
    " " .. held, function(p)
    comes(p, 2, all_blocked(0, 1, 3))
    if one.request then
      p:kill { rank = 1, after = "start", at = all_blocked(0, 1, 2, 3) }
    else
      p:kill { rank = 1, after = "start", at = { rank = 2, call = one.blocked } }
    end
  end)
  each("one comes when the first is through, death after it", begin .. steps_of(one, 2) ..
    "2:recv=1", function(p)
    comes(p, 2, all_blocked(0, 1, 3))
    p:kill { rank = 1, after = "start", at = all_blocked(0, 1, 2, 3) }
  end)
  each("one comes when the first is through, death before", begin .. steps_of(one, 2), function(p)
    comes(p, 2, through(3, revoke ~= "" and "MPIX_Comm_revoke" or "MPI_Recv"))
    p:kill { rank = 1, after = "start", at = all_blocked(0, 1, 3) }
  end)
end

-- Rank 3 is through when the root, rank 0, comes.
local function before_the_root(one, each, revoke)
  local told = through(3, revoke ~= "" and "MPIX_Comm_revoke" or "MPI_Recv")
  local begin = steps_of(one, 3) .. "3:recv=1 " .. revoke
  local came = begin .. steps_of(one, 1) .. "1:recv=3 "
  each("the root comes late, death while it is in it", begin .. "1:recv=3 " .. steps_of(one, 0),
    function(p)
      comes(p, 0, all_blocked(1, 3))
      dies(p, 1, blocked(1), blocked(3), blocked(0, one.blocked))
    end)
  each("the root comes late, one that came dies", came .. steps_of(one, 0, 2), function(p)
    comes(p, 0, all_blocked(1, 3))
    comes(p, 2, told)
    dies(p, 1, blocked(1), blocked(3), blocked(0, one.blocked))
  end)
  each("the root comes late, death before", came .. steps_of(one, 2, 0), function(p)
    comes(p, 0, told)
    p:kill { rank = 1, after = "start", at = all_blocked(1, 3) }
  end)
  each("the root comes late, death after", came .. steps_of(one, 2, 0) .. "0:recv=1", function(p)
    comes(p, 0, all_blocked(1, 3))
    p:kill { rank = 1, after = "start", at = all_blocked(0, 1, 3) }
  end)
end

-- Who revokes has begun it, so it can end well at who is told neither of that nor of the death.
local function after_a_revocation(one, each)
  local begin = ("0:%s 1:%s 1:recv=2 3:%s 3:revoke 3:wait "):format(one.step, one.step, one.step)
  local function job_of(text, kill)
    each("one comes when the first is told of a revocation, death " .. text, begin ..
      steps_of(one, 2) .. "0:wait", function(p)
      local has_come = p:stop { rank = 1, call = "MPI_Recv", after = "start",
        release = { rank = 3, call = "MPIX_Comm_shrink" } }
      p:release(comes(p, 3), { after = has_come })
      comes(p, 2, through(3, "MPI_Wait"))
      p:detect { rank = 2, of = 1, at = { rank = 2, call = "MPIX_Comm_shrink" }, after = "start" }
      kill(p)
    end)
  end
  job_of("before", function(p)
    p:kill { rank = 1, after = "start", at = through(3, "MPI_Wait") }
  end)
  job_of("while it is in it", function(p)
    local stopped = p:stop { rank = 2, call = "MPI_Wait", level = "wire", after = "start" }
    p:release(stopped, { after = p:kill { rank = 1, after = stopped } })
  end)
  job_of("after it", function(p)
    p:kill { rank = 1, after = "start", at = { rank = 2, call = "MPIX_Comm_shrink" } }
  end)
end

-- Rank `held` is inside, and stopped before the library has seen its call (of a request: its
-- MPI_Wait), when rank 1 dies; it goes on when rank 3 has been told of that, or has revoked.
local function held_inside(one, each, needs)
  if not needs.root and not needs.from_root and not needs.from_lower then -- it needs all
    for _, held in ipairs { 0, 2 } do
      local other = 2 - held
      each(("held in it is rank %d, death"):format(held), steps_of(one, 0, 1, 2, 3), function(p)
        comes(p, held, { state = { blocked(1, one.blocked), blocked(other, one.blocked),
          blocked(3, one.blocked) } })
        local stopped = p:stop { rank = held, call = one.blocked, level = "wire", after = "start" }
        p:release(stopped, { after = p:kill { rank = 1, after = stopped } })
      end)
    end
    return
  end
  for _, revoke in ipairs { "", "3:revoke " } do
    for _, held in ipairs { 0, 2 } do
      local first = needs.root and steps_of(one, 3, 1) or steps_of(one, 1)
      local told = revoke ~= "" and " and it is revoked" or ""
      each(("held in it is rank %d, death%s"):format(held, told), first .. "1:recv=3 3:recv=1 " ..
        revoke .. steps_of(one, 2 - held, held), function(p)
        comes(p, held, { state = { blocked(3) } })
        local stopped = p:stop { rank = held, call = one.blocked, level = "wire", after = "start",
          release = through(3, revoke ~= "" and "MPIX_Comm_revoke" or "MPI_Recv") }
        p:kill { rank = 1, after = stopped }
      end)
    end
  end
end

for _, one in ipairs(kinds) do
  local needs = one.start and who_needs_whom(one) or {}
  local function plain(text, steps, plan) steered(one.name, text, steps, plan) end
  know_before(one, plain)
  if not one.unrevoked then
    held_inside(one, plain, needs)
    another_dies(one, plain)
  end
  for _, revoke in ipairs { "", "3:revoke " } do
    local function each(text, steps, plan)
      steered(one.name, text .. (revoke ~= "" and ", and it is revoked" or ""), steps, plan)
    end
    if needs.from_lower or needs.from_root and one.root == 0 then
      after_the_first(one, each, revoke)
    elseif needs.root and one.root == 0 then
      before_the_root(one, each, revoke)
    elseif one.request and not one.root and revoke ~= "" then
      after_a_revocation(one, each)
    end
  end
end

for _, one in ipairs(messages) do
  local name, of_peer, of_dead, of_bystander, of_other, of_blocked = table.unpack(one)
  local function each(text, steps, plan)
    steered(name, text, steps, plan)
  end
  local sent = of_dead:match(":send") and of_dead .. " " or name == "exchange" and "1:send=2 " or ""
  local both = table.concat({ of_peer, of_bystander, of_other }, " ")
  each("it died before, not all know", sent ..
    "1:recv=0 3:recv=1 3:send=2 3:send=0 2:recv=3 0:recv=3 " .. both .. " wait", function(p)
    p:detect { rank = 2, of = 1, at = { rank = 3, call = "MPIX_Comm_shrink" }, after = "start" }
    p:kill { rank = 1, after = "start", at = all_blocked(0, 1, 2, 3) }
  end)
  each("it died before, it is revoked before", sent .. "1:recv=0 3:recv=1 3:revoke " .. of_peer ..
    " " .. of_bystander .. " wait", function(p)
    comes(p, 0, through(3, "MPIX_Comm_revoke"))
    comes(p, 2, through(3, "MPIX_Comm_revoke"))
    p:kill { rank = 1, after = "start", at = all_blocked(1, 3) }
  end)
  each("death when all have returned", table.concat({ of_peer, of_dead, of_bystander, of_other,
    "wait", "0:barrier 2:barrier 3:barrier 1:recv=0" }, " "), function(p)
    dies(p, 1, blocked(0, "MPI_Barrier"), blocked(2, "MPI_Barrier"), blocked(3, "MPI_Barrier"))
  end)
  each("nobody takes part, death, and it is revoked", of_peer .. " " .. of_bystander ..
    " 1:recv=0 3:recv=1 3:revoke wait", function(p)
    p:kill { rank = 1, after = "start", at = name:match("large") and
      { state = { blocked(1), blocked(3), blocked(2, of_blocked) } } or all_blocked(1, 3) }
    p:detect { rank = 2, of = 1, at = { rank = 2, call = "MPIX_Comm_shrink" }, after = "start" }
  end)
end
