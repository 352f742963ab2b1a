-- Each program under CoCheck, killed at every phase of the protocol: before, at and after each
-- message of its own, at its sender and its receivers; around the flush; in the checkpoint and the
-- commit; in recovery; at the end. Whatever happens, the job recovers to the result of a run
-- without faults. Kills in a migration: migration.lua.

local RANKS = 3
local COORDINATOR, ALL = { 0 }, { 0, 1, 2 }

-- Message → who sends it, who receives it. The central instance tells its own process as well.
local messages = {
  { "request", COORDINATOR, COORDINATOR },
  { "notification", COORDINATOR, ALL },
  { "ready", ALL, ALL },
  { "saved", ALL, COORDINATOR },
  { "resume", COORDINATOR, ALL },
}

-- Phase → at which ranks.
local phases = {
  { "before-flush", ALL }, { "after-flush", ALL }, { "before-write", ALL }, { "mid-write", ALL },
  { "before-sync", ALL }, { "before-rename", ALL }, { "after-rename", ALL },
  { "before-commit", COORDINATOR }, { "mid-commit", COORDINATOR },
  { "before-commit-rename", COORDINATOR }, { "after-commit-rename", COORDINATOR },
  { "before-remove", ALL }, { "after-remove", ALL },
}
local recovery = { "before-restore", "before-load", "after-past", "after-restore" }

local points = {} -- { name, plan }
local promised = { "H", "R.clear", "R.atomic" } -- what all of them together must bring about

local function add(name, plan) points[#points + 1] = { name, plan } end

-- A kill in that phase, at ranks of each role that comes to it.
local function promise(phase, ranks)
  local name = "cocheck:" .. phase
  if ranks[1] == 0 then
    promised[#promised + 1] = { fault = "kill", role = "initiator", phase = name }
  end
  if ranks[#ranks] > 0 then
    promised[#promised + 1] = { fault = "kill", role = "participant", phase = name }
  end
end

local function at_phase(rank, phase, nth, incarnation)
  return { rank = rank, event = "phase", name = "cocheck:" .. phase, nth = nth,
           incarnation = incarnation }
end

-- Now in the first line, now in the second, so that there is nothing, or something, to go back to.
local turn = 0
local function phase_points(phase, ranks)
  promise(phase, ranks)
  for _, rank in ipairs(ranks) do
    turn = turn + 1
    local nth = turn % 2 + 1
    add(("rank %d, %s number %d"):format(rank, phase, nth),
      function(p) p:kill(at_phase(rank, phase, nth)) end)
  end
end

for _, message in ipairs(messages) do
  local name, senders, receivers = table.unpack(message)
  phase_points("before-send-" .. name, senders)
  phase_points("after-send-" .. name, senders)
  phase_points("before-receive-" .. name, receivers)
  phase_points("after-receive-" .. name, receivers)
end
for _, point in ipairs(phases) do phase_points(point[1], point[2]) end

for _, phase in ipairs(recovery) do
  promise(phase, ALL)
  for rank = 0, RANKS - 1 do
    add(("rank %d, in recovery, %s"):format(rank, phase), function(p)
      p:kill { rank = (rank + 1) % RANKS, at = { event = "commit", epoch = 1 } }
      p:kill(at_phase(rank, phase, 1, 1))
    end)
  end
end
add("three times in a row", function(p)
  p:kill { rank = 1, at = { event = "commit", epoch = 1 } }
  p:kill { rank = 2, event = "checkpoint", epoch = 2, incarnation = 1 }
  p:kill { rank = 0, event = "saved", epoch = 2, incarnation = 2 }
end)
add("two ranks at once, while channels are flushed", function(p)
  p:kill { ranks = { 0, 2 }, at = { rank = 1, event = "notified", epoch = 2 } }
end)
for rank = 0, RANKS - 1 do
  add(("rank %d, when all is done"):format(rank),
    function(p) p:kill(at_phase(rank, "before-finish", 1)) end)
end
promise("before-finish", ALL)
cover(promised)

-- In an arrangement ranks look at where the others are; what they find there is a decision.
local own = { arrangement = { "--told", 1, "--message", 1 } }

for _, program in ipairs { "ring", "laplace", "cg", "neuron", "master_worker", "tally", "pipeline",
                           "mixture", "random", "collectives", "arrangement" } do
  for _, point in ipairs(points) do
    scenario(program .. ": " .. point[1]) {
      protocol = "cocheck", program = program, ranks = RANKS,
      arguments = { "--iterations", 30, table.unpack(own[program] or {}) },
      environment = { COCHECK_EVERY = 8 },
      claims = { "R.clear", "R.atomic", "H" }, plan = point[2],
    }
  end
end
