-- Every claim of family U with its situation, and what ULFM is meant for: who waits for whom, two
-- and three deaths, deaths while others repair, two communicators, two libraries.

cover {
  "U.nostall", "U.class", "U.local", "U.revoke", "U.shrink", "U.agree", "U.ack", "U.suspect",
  "U.object",
}

local function job(name, steps, plan, expect)
  scenario(name) {
    program = "survivors", ranks = 4, engine = "step", survivors = true, protocol = "null",
    arguments = { steps }, claims = { "U" }, plan = plan, expect = expect,
  }
end

local function dies(rank, call, position, nth)
  return function(p)
    p:kill { rank = rank, call = call, position = position or "inside", nth = nth }
  end
end

-- 2 waits for 3, 3 for 0, 0 for 1, and 1 dies.
local circle = "2:recv=3 3:recv=0 0:recv=1 1:recv=0 shrink barrier"
job("figure 1", circle, dies(1, "MPI_Recv"))
job("figure 1, and rank 0 does not revoke", "--keep " .. circle, dies(1, "MPI_Recv"),
  { violates = "H.progress" })

job("a receive from any source, until the death is acknowledged",
  "--keep 1:barrier 0:recv=any 0:ack 0:acked 0:send=2 2:recv=0 2:send=0 0:recv=any 0:ack",
  dies(1, "MPI_Barrier"))
job("a receive from any source that nobody answers, after it is acknowledged",
  "--keep 1:barrier 0:recv=any 2:recv=1 0:ack 0:acked 0:recv=any", dies(1, "MPI_Barrier"),
  { violates = "H.progress" })
job("a request from any source is left pending, and ends once the death is acknowledged",
  "--keep 0:irecv=any 0:wait 1:barrier", dies(1, "MPI_Barrier"))
job("a named receive raises, acknowledged or not",
  "--keep 1:barrier 0:recv=1 0:acked 0:ack 0:acked 0:recv=1 0:recv=1 0:acked",
    dies(1, "MPI_Barrier"))
job("point to point goes on beside the dead",
  "--keep 1:barrier 0:recv=1 0:ack 0:send=2 2:recv=0 2:ssend=3 3:recv=2 3:isend=0 "
    .. "0:irecv=3 wait",
  dies(1, "MPI_Barrier"))
job("requests are under way when the communicator is revoked",
  "0:irecv=2 0:irecv=3 0:precv=3 0:send=2 1:issend=3 1:send=2 3:irecv=0 3:send=2 "
    .. "2:recv=0 2:recv=1 2:recv=3 2:revoke wait waitall dup cart split",
    function() end)
job("collectives are under way when the communicator is revoked",
  "0:ibarrier 1:ibarrier 3:ibarrier 2:revoke wait shrink barrier", function() end)
job("a collective waits for one that revokes instead",
  "0:barrier 1:barrier 3:barrier 2:revoke shrink barrier", function() end)
job("messages on a communicator that each has revoked",
  "revoke 0:send=1 1:send=0 2:ssend=3 3:recv=2 0:recv=1 shrink barrier", function() end)
job("revoked by all, one after the other", "revoke revoke barrier agree=5 shrink barrier",
  dies(1, "MPIX_Comm_revoke"))
job("a communicator is revoked while others still make it",
  "dup use 1:revoke barrier shrink allreduce", function() end)
job("revoked and shrunk again and again",
  "revoke shrink barrier revoke shrink barrier revoke shrink barrier",
    dies(2, "MPI_Barrier"))

for nth = 1, 2 do
  for _, position in ipairs { "before", "inside", "after" } do
    job(("a death %s shrink %d"):format(position, nth),
      "barrier shrink barrier shrink barrier",
      dies(1, "MPIX_Comm_shrink", position, nth))
    job(("a death %s agreement %d"):format(position, nth),
      "0:agree=3 1:agree=1 2:agree=7 3:agree=3 agree=6 ack agree=5 shrink",
      dies(1, "MPIX_Comm_agree", position, nth))
  end
end
for _, position in ipairs { "before", "inside", "after" } do
  for _, rank in ipairs { 0, 1 } do
    local repair = "spawn=1 sure use merge world sure use barrier"
    job(("rank %d dies %s spawn"):format(rank, position), repair,
      dies(rank, "MPI_Comm_spawn", position))
    job(("rank %d dies %s merge"):format(rank, position), repair,
      dies(rank, "MPI_Intercomm_merge", position))
  end
  job(("the new process dies %s merge"):format(position),
    "spawn=1 sure use merge world sure use barrier",
    dies(4, "MPI_Intercomm_merge", position))
end

local repair = "barrier allreduce shrink barrier agree=3 shrink barrier"
job("two deaths, one after the other", repair, function(p)
  p:kill { rank = 1, call = "MPI_Barrier", position = "inside" }
  p:kill { rank = 2, call = "MPIX_Comm_shrink", position = "inside" }
end)
job("two deaths at once",
  "barrier allreduce shrink barrier agree=3 shrink allreduce gather allgather barrier",
    function(p)
  p:kill { ranks = { 1, 2 }, at = { rank = 3, call = "MPI_Barrier" } }
end)
job("three deaths, the last two in the repair", repair, function(p)
  p:kill { rank = 1, call = "MPI_Barrier", position = "inside" }
  p:kill { rank = 0, call = "MPIX_Comm_shrink", position = "inside" }
  p:kill { rank = 2, call = "MPIX_Comm_agree", position = "inside" }
end)
job("three deaths at once", repair, function(p)
  p:kill { ranks = { 0, 1, 2 }, at = { rank = 3, call = "MPI_Barrier" } }
end)

-- Ranks 0, 1, 2 and 1, 2, 3 have a communicator each; of each one dies.
local overlapping = "group=3 sure put=0 world group=0 sure put=1 get=0 barrier get=1 barrier "
job("two overlapping communicators, a death in each, a shrink each",
  overlapping .. "get=0 shrink barrier get=1 shrink barrier", function(p)
    p:kill { ranks = { 0, 3 }, at = { rank = 1, call = "MPI_Barrier" } }
  end)
job("the same, and the two in both shrink in another order",
  overlapping .. "1:get=0 1:shrink 1:get=1 1:shrink 2:get=1 2:shrink 2:get=0 2:shrink",
    function(p)
    p:kill { ranks = { 0, 3 }, at = { rank = 1, call = "MPI_Barrier" } }
  end, { violates = "H.progress" })

-- Section 5.5: a library works on a duplicate of its program's communicator.
job("two libraries, repaired from the top",
  "dup sure put=1 get=1 barrier revoke world revoke shrink dup sure put=1 barrier get=1 "
    .. "barrier",
  dies(1, "MPI_Barrier"))
job("two libraries, the lower one repairs itself: its program does not hear of the death",
  "--keep dup sure put=1 get=1 1:barrier 0:barrier 3:barrier 0:shrink 3:shrink world "
    .. "2:recv=3 3:send=2",
  dies(1, "MPI_Barrier"), { violates = "H.progress" })
