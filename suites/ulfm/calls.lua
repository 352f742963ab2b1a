-- Every kind of call under the death of a member before it, inside it and after it: what the
-- others see is judged by family U. The program is made of steps; see
-- suites/programs/lives/survivors.c.

-- All of the table but U.cell.make.before-done: that a member has brought its part to the making of
-- a communicator and died before another one comes cannot be steered.
cover {
  "U.cell.send", "U.cell.receive", "U.cell.any", "U.cell.collective", "U.cell.root", "U.cell.late",
  "U.cell.agree", "U.cell.shrink", "U.cell.bystander", "U.cell.make.before-raised",
  "U.cell.make.before-revoked", "U.cell.make.inside-raised", "U.cell.make.inside-revoked",
  "U.cell.make.inside-done", "U.cell.make.after-done",
}

local steps = {
  -- Rank 1 dies; rank 2 is its peer, ranks 0 and 3 have nothing to do with it.
  { "send", "1:send=2", "2:recv=1", "0:send=3", "3:recv=0" },
  { "send to it", "2:send=1", "1:recv=2", "0:send=3", "3:recv=0" },
  { "large", "1:large=2", "2:recv=1" },
  { "large to it", "2:large=1", "1:recv=2" },
  { "ssend to it", "2:ssend=1", "1:recv=2", "3:ssend=0", "0:recv=3" },
  { "any source", "1:send=2", "2:recv=any", "0:send=2", "2:recv=any" },
  { "exchange", "1:exchange=2", "2:exchange=1", "0:exchange=3", "3:exchange=0" },
  { "probe", "1:send=2", "2:probe=1", "2:recv=1" },
  { "any probe", "1:send=2", "2:probe=any", "2:recv=any" },
  { "mprobe", "1:send=2", "2:mrecv=1" },
  { "started", "2:irecv=1", "2:isend=1", "1:isend=2", "1:irecv=2", "0:issend=3", "3:irecv=0",
    "wait" },
  { "started, any source", "2:irecv=any", "1:isend=2", "wait" },
  { "waited for together", "2:irecv=0", "2:irecv=1", "0:isend=2", "1:isend=2", "waitall", "wait" },
  { "persistent", "2:precv=1", "1:psend=2", "0:psend=3", "3:precv=0", "wait" },
  { "cancelled", "2:irecv=1", "2:cancel", "1:isend=2", "2:recv=1", "wait" },
  { "dup", "dup", "sure", "use", "barrier" },
  { "split", "split", "sure", "use", "barrier" },
  { "create", "create", "sure", "use", "barrier" },
  { "group", "group=3", "sure" },
  { "cart", "cart", "sure", "use", "allreduce" },
  { "intercommunicator", "inter", "sure", "use", "barrier", "allreduce" },
  { "merged", "inter", "sure", "use", "merge", "sure", "use", "barrier" },
  { "agree", "agree=3", "agree=1" },
  { "shrink", "shrink", "barrier" },
  { "spawn", "spawn=1", "sure", "use", "merge", "world", "sure", "use", "barrier" },
}

for _, name in ipairs {
  "barrier", "bcast", "scatter", "scatterv", "gather", "gatherv", "allgather", "allgatherv",
  "alltoall", "alltoallv", "alltoallw", "reduce", "allreduce", "scan", "exscan", "reduce_scatter",
  "reduce_scatter_block",
} do
  steps[#steps + 1] = { name, name .. "=0", name .. "=1", name .. "=3" }
  steps[#steps + 1] = { "started " .. name, "i" .. name .. "=1", "barrier", "wait" }
  steps[#steps + 1] = { "persistent " .. name, "p" .. name .. "=1", "barrier", "wait" }
end

local function died(name, arguments, plan)
  scenario(name) {
    program = "survivors", ranks = 4, engine = "step", survivors = true, protocol = "null",
    arguments = arguments, claims = { "U" }, plan = plan,
  }
end

-- How many steps rank 1 takes; it does not die in what the program does at its end.
local function steps_of_one(list)
  local count = 0
  for i = 2, #list do
    if list[i]:match("^1:") or not list[i]:match("^%d:") then
      count = count + 1
    end
  end
  return math.min(count, 3)
end

-- Rank 1 makes at the wire: MPI_Init, Comm_set_errhandler, Comm_rank, Comm_get_parent, its steps.
for _, list in ipairs(steps) do
  local arguments = table.move(list, 2, #list, 1, {})
  for nth = 5, 4 + steps_of_one(list) do
    for _, position in ipairs { "before", "inside", "after" } do
      died(("%s: death %s call %d"):format(list[1], position, nth), arguments, function(p)
        p:kill { rank = 1, event = "call", level = "wire", nth = nth, position = position }
      end)
    end
  end
end

-- What is left of the table of calls, deaths and outcomes.
local function left(name, text, plan)
  died(name, { text }, plan or function(p)
    p:kill { rank = 1, call = "MPI_Barrier", position = "inside" }
  end)
end

left("calls to one that is known to be dead",
  "--keep 1:barrier 0:recv=1 0:send=1 0:recv=1 0:recv=any")
left("calls on what another one has revoked",
  "1:barrier 2:recv=1 0:recv=2 0:send=1 0:recv=1 0:recv=any 0:send=3 3:barrier")
-- Rank 1 dies in its call while rank 0 waits, who is told of it only at the end.
local function untold(name, text, call)
  left(name, text, function(p)
    p:kill { rank = 1, at = { state = {
      { rank = 0, blocked = "MPI_Recv" }, { rank = 1, blocked = call },
    } } }
    p:detect { rank = 0, of = 1, call = "MPIX_Comm_shrink" }
  end)
end
untold("a send to one that is dead, and not known to be",
  "--keep 0:recv=2 2:recv=1 2:send=0 0:send=1 1:recv=0", "MPI_Recv")

left("a broadcast past one that is dead",
  "--keep 1:barrier 2:recv=1 2:send=0 0:recv=2 0:bcast=0 0:bcast=0 0:bcast=0 0:bcast=0 0:send=3 " ..
  "3:recv=0 3:bcast=0 3:bcast=0 3:bcast=0 3:bcast=0")
left("a gather to which the root comes last",
  "--keep 2:gather=0 3:gather=0 3:send=0 0:recv=3 0:gather=0 1:recv=0", function(p)
    p:kill { rank = 1, at = { state = { { rank = 0, blocked = "MPI_Gather" } } } }
  end)

-- The plan watches rank 2, so its blocking receive is made of a request: which may stay pending.
left("a watched receive from any source", "2:recv=any 1:recv=2", function(p)
  p:kill { rank = 1, at = { state = { { rank = 2, blocked = "MPI_Recv" } } } }
end)

-- Rank 0 is told of the death only at the end; rank 2 revokes the communicator meanwhile.
for _, pair in ipairs {
  { "ssend=1", "MPI_Ssend" }, { "recv=1", "MPI_Recv" }, { "recv=any", "MPI_Recv" },
  { "gather=0", "MPI_Gather" },
} do
  local step, call = table.unpack(pair)
  left("revoked before the death is known: " .. step, ("0:%s 1:recv=0 2:recv=1"):format(step),
    function(p)
      p:kill { rank = 1, at = { state = { { rank = 0, blocked = call } } } }
      p:detect { rank = 0, of = 1, call = "MPIX_Comm_shrink" }
    end)
end

-- Rank 2 revokes the communicator when the persistent send is made and not started: where MPI_Start
-- is told of that, nothing is under way, and MPI_Wait returns.
for _, step in ipairs { "psend", "plarge" } do
  left("revoked before it is started: " .. step, ("1:barrier 2:revoke 0:%s=3 0:wait 3:recv=0")
    :format(step), function(p)
    p:kill { rank = 1, call = "MPI_Barrier", position = "inside", after = "start" }
    local late = p:stop { rank = 2, event = "call", level = "wire", nth = 4, position = "after",
      after = "start" }
    local made = p:stop { rank = 0, call = "MPI_Send_init", position = "after", after = "start" }
    p:release(late, { after = made })
    p:release(made, { rank = 2, call = "MPIX_Comm_revoke", position = "after" })
  end)
end
