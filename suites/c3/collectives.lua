-- Collective calls under C3. Each one with a line that runs through it, in every arrangement of
-- three ranks of which the initiator is beyond the line and at least one other before; then kills
-- wherever the protocol logs, replays, suppresses or repeats a call; then all calls mixed, in
-- every form: blocking, not blocking, persistent. Whatever happens, the job recovers to the result
-- of a run without faults.

-- No program makes a choice in it, so C.nondet has no situation. Where all members of a call stand
-- (D.cell) hangs on the schedule; suites/c3/cells.lua forces it.
cover { "H", "D.2", "D.all", "D.barrier", "D.bcast", "D.gather", "C.1.1", "C.1.2", "C.1.3",
  "C.late", "C.early", "C.class", "C.epoch", "C.commit", "C.restore", "C.initiate", "C.cell",
  { fault = "kill", role = "initiator" },
  { fault = "kill", role = "participant", phase = "c3:result-replayed" } }

local RANKS, EVERY, LINE = 3, 6, 1
local STRADDLING = 9 -- calls that the line runs through

-- As the program numbers them: --call N.
local calls = { "barrier", "bcast", "scatter", "scatterv", "gather", "gatherv", "allgather",
  "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce", "allreduce", "scan", "exscan",
  "reduce_scatter", "reduce_scatter_block" }
local ways = { "separate", "piggyback", "auto" }
local turn = 0

-- The next way of sending the bits.
local function way()
  turn = turn + 1
  return ways[turn % #ways + 1]
end

-- These ranks are not asked for their checkpoints before they have done some calls more.
local function stay_before(p, ranks, count)
  for _, rank in ipairs(ranks) do
    p:hold { message = "pleaseCheckpoint", to = rank, epoch = LINE, after = "start",
             release = { rank = rank, event = "collective", nth = EVERY + count } }
  end
end

-- The rest of the steps is for the line to come to its end.
local function arguments(number)
  return { "--iterations", 60, "--call", number, "--seed", number, "--compute-us", 200 }
end

local function collectives(name, fields)
  fields.protocol, fields.program, fields.claims = "c3", "collectives", { "C", "D", "H" }
  fields.ranks = fields.ranks or RANKS
  fields.environment = { C3_EVERY = EVERY, C3_COLLECTIVE_BITS = fields.bits or way() }
  fields.bits = nil
  scenario(name)(fields)
end

-- ---- each call ----------------------------------------------------------------------------------

local arrangements = { { "1", { 1 } }, { "2", { 2 } }, { "1 and 2", { 1, 2 } } }

for number, call in ipairs(calls) do
  for _, arrangement in ipairs(arrangements) do
    local who, before = table.unpack(arrangement)
    collectives(("%s: rank %s before the line"):format(call, who), {
      arguments = arguments(number),
      plan = function(p)
        stay_before(p, before, STRADDLING)
        p:kill { rank = before[1], at = { rank = 0, event = "commit", epoch = LINE },
                 after = "start" }
      end,
    })
  end
end

-- ---- what the protocol does with a call ---------------------------------------------------------

-- Phase → call, who dies there. Rank 1 is before the line. In recovery: of a first crash, when the
-- line is committed.
local logging = {
  { "result-logged", "bcast", 0 }, { "result-logged", "bcast", 2 },
  { "result-logged", "gatherv", 0 }, { "result-logged", "reduce", 2 },
  { "result-logged", "allreduce", 0 },
  { "result-logged", "alltoallw", 2 }, { "result-logged", "exscan", 2 },
  { "call-listed", "bcast", 1 }, { "call-listed", "scatter", 1 }, { "call-listed", "scatterv", 1 },
  { "after-barrier-checkpoint", "barrier", 1 },
}
local recovery = {
  { "result-replayed", "bcast", 0 }, { "result-replayed", "scatterv", 2 },
  { "result-replayed", "gather", 0 }, { "result-replayed", "allgatherv", 2 },
  { "result-replayed", "reduce_scatter", 0 }, { "result-replayed", "scan", 2 },
  { "call-suppressed", "gather", 0 }, { "call-suppressed", "gatherv", 2 },
  { "call-suppressed", "reduce", 0 }, { "before-again", "bcast", 1 }, { "after-again", "bcast", 1 },
  { "before-again", "scatter", 1 }, { "after-again", "scatterv", 1 },
}

local number_of = {}
for number, call in ipairs(calls) do number_of[call] = number end

local function at_phase(rank, phase, incarnation)
  return { rank = rank, event = "phase", name = "c3:" .. phase, after = "start",
           incarnation = incarnation }
end

for _, point in ipairs(logging) do
  local phase, call, rank = table.unpack(point)
  collectives(("%s: rank %d, %s"):format(call, rank, phase), {
    arguments = arguments(number_of[call]),
    plan = function(p)
      stay_before(p, { 1 }, STRADDLING)
      p:kill(at_phase(rank, phase))
    end,
  })
end

for _, point in ipairs(recovery) do
  local phase, call, rank = table.unpack(point)
  collectives(("%s: rank %d, in recovery, %s"):format(call, rank, phase), {
    arguments = arguments(number_of[call]),
    plan = function(p)
      stay_before(p, { 1 }, STRADDLING)
      p:kill { rank = (rank + 1) % RANKS, at = { rank = 0, event = "commit", epoch = LINE },
               after = "start" }
      p:kill(at_phase(rank, phase, 1))
    end,
  })
end

-- ---- all calls, and messages --------------------------------------------------------------------

local SEEDS = 12

for seed = 1, SEEDS do
  local ranks = 2 + seed % 3
  collectives(("mixed, seed %d"):format(seed), {
    ranks = ranks, arguments = { "--seed", seed, "--nonblocking", -1 },
    plan = function(p)
      p:kill { rank = seed % ranks, at = { event = "commit", epoch = 1 + seed % 4 },
               after = "start" }
      p:kill { rank = 0, event = "checkpoint", epoch = 2 + seed % 4, incarnation = 1,
               after = "start" }
    end,
  })
end
