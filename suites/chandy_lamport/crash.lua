-- Each program under Chandy-Lamport, killed at every phase of the protocol: before, between and
-- after the markers, at those that receive them; in the writing of the state, of the channels, of
-- the commit; in recovery; at the end. Whatever happens, the job recovers to the result of a run
-- without faults.

local RANKS = 3
local INITIATOR, OTHERS, ALL = { 0 }, { 1, 2 }, { 0, 1, 2 }

-- Phase → at which ranks. The lines are those of README.md.
local phases = {
  { "before-initiate", INITIATOR }, { "before-checkpoint", ALL }, { "before-send-markers", ALL },
  { "mid-send-markers", ALL }, { "after-send-markers", ALL }, { "before-write", ALL },
  { "mid-write", ALL }, { "before-sync", ALL }, { "before-rename", ALL }, { "after-rename", ALL },
  { "after-checkpoint", ALL }, { "before-receive-marker", ALL }, { "after-receive-marker", ALL },
  { "before-channels-write", ALL }, { "mid-channels-write", ALL },
  { "before-channels-rename", ALL }, { "after-channels-rename", ALL }, { "saved", ALL },
  { "before-send-done", OTHERS }, { "after-send-done", OTHERS },
  { "before-receive-done", INITIATOR }, { "after-receive-done", INITIATOR },
  { "before-commit", INITIATOR }, { "mid-commit", INITIATOR },
  { "before-commit-rename", INITIATOR }, { "after-commit-rename", INITIATOR },
  { "after-commit", INITIATOR },
}
local recovery = { "before-restore", "before-load", "after-load", "after-restore" }

local points = {} -- { name, plan }
local promised = { "H", "S" } -- what all of them together must bring about

local function add(name, plan) points[#points + 1] = { name, plan } end

-- A kill in that phase, at ranks of each role that comes to it.
local function promise(phase, ranks)
  local name = "chandy_lamport:" .. phase
  if ranks[1] == 0 then
    promised[#promised + 1] = { fault = "kill", role = "initiator", phase = name }
  end
  if ranks[#ranks] > 0 then
    promised[#promised + 1] = { fault = "kill", role = "participant", phase = name }
  end
end

local function at_phase(rank, phase, nth, incarnation)
  return { rank = rank, event = "phase", name = "chandy_lamport:" .. phase, nth = nth,
           incarnation = incarnation }
end

-- Now in the first line, now in the second, so that there is nothing, or something, to go back to.
local turn = 0
for _, point in ipairs(phases) do
  promise(point[1], point[2])
  for _, rank in ipairs(point[2]) do
    turn = turn + 1
    local nth = turn % 2 + 1
    add(("rank %d, %s number %d"):format(rank, point[1], nth),
      function(p) p:kill(at_phase(rank, point[1], nth)) end)
  end
end

for _, phase in ipairs(recovery) do
  promise(phase, ALL)
  for rank = 0, RANKS - 1 do
    add(("rank %d, in recovery, %s"):format(rank, phase), function(p)
      p:kill { rank = (rank + 1) % RANKS, at = { rank = 0, event = "commit", epoch = 1 } }
      p:kill(at_phase(rank, phase, 1, 1))
    end)
  end
end
add("three times in a row", function(p)
  p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 1 } }
  p:kill { rank = 2, event = "checkpoint", epoch = 2, incarnation = 1 }
  p:kill { rank = 0, event = "commit", epoch = 2, incarnation = 2 }
end)
add("two ranks at once, while channels are recorded", function(p)
  p:kill { ranks = { 0, 2 }, at = { rank = 1, event = "checkpoint", epoch = 2 } }
end)
for rank = 0, RANKS - 1 do
  add(("rank %d, when all is done"):format(rank),
    function(p) p:kill(at_phase(rank, "before-finish", 1)) end)
end
promise("before-finish", ALL)
cover(promised)

-- In `pipeline` and `mixture` messages are under way, and requests outstanding, at every potential
-- checkpoint. STEPS: the line begins inside calls, that many looks at the network after one.
local STEPS = 3
for _, program in ipairs { "ring", "laplace", "cg", "neuron", "master_worker", "random", "pipeline",
                           "mixture" } do
  for number, point in ipairs(points) do
    scenario(program .. ": " .. point[1]) {
      protocol = "chandy_lamport", program = program, ranks = RANKS,
      arguments = { "--iterations", 40, "--compute-us", 300 },
      environment = { CHANDY_EVERY = 12, CHANDY_STEPS = number % 2 * STEPS },
      claims = { "H", "S" }, plan = point[2],
    }
  end
end
