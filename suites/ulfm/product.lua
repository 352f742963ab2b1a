-- Every kind of call in every role, when a member dies before it, inside it or after it, and
-- however the call ends: what `make ulfm-product` runs with some schedules each, and counts. Rank 1
-- dies.

-- kind = the step (of suites/programs/survivors.c) that makes the call, with %s for a peer or root;
-- blocked = the call in which it waits; unrevoked = no revocation ends it; rooted = by rank 0.
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
    kind(step .. to, step .. "=" .. root, "MPI_" .. call, { rooted = rooted and root == 0 })
    kind("started " .. step .. to, "i" .. step .. "=" .. root, "MPI_Wait",
      { request = true, rooted = rooted and root == 0 })
    kind("persistent " .. step .. to, "p" .. step .. "=" .. root, "MPI_Wait",
      { request = true, rooted = rooted and root == 0 })
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
