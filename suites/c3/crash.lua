-- Each program under C3, killed at every phase of the protocol: before, at and after each control
-- message, at its sender and its receivers; in the checkpoint, the log and the commit; in recovery;
-- at the end. Whatever happens, the job recovers to the result of a run without faults.

local RANKS = 3
local INITIATOR, OTHERS, ALL = { 0 }, { 1, 2 }, { 0, 1, 2 }

-- Control message → who sends it, who receives it.
local control = {
  { "pleaseCheckpoint", INITIATOR, OTHERS },
  { "mySendCount", ALL, ALL },
  { "readyToStopLogging", OTHERS, INITIATOR },
  { "stopLogging", INITIATOR, OTHERS },
  { "stoppedLogging", OTHERS, INITIATOR },
}

-- Phase → at which ranks. The lines are those of README.md.
local storage = {
  { "before-checkpoint", ALL }, { "before-write", ALL }, { "mid-write", ALL },
  { "before-sync", ALL }, { "before-rename", ALL }, { "after-rename", ALL },
  { "after-checkpoint", ALL }, { "before-log-write", ALL }, { "mid-log-write", ALL },
  { "before-log-sync", ALL }, { "before-log-rename", ALL }, { "after-log-rename", ALL },
  { "before-commit", INITIATOR }, { "mid-commit", INITIATOR },
  { "before-commit-rename", INITIATOR }, { "after-commit-rename", INITIATOR },
  { "before-remove", INITIATOR }, { "after-remove", INITIATOR },
}
local recovery = { "before-restore", "before-load", "before-suppress-exchange",
  "after-suppress-exchange", "after-restore" }

local points = {} -- { name, plan }
local promised = { "H", "C.commit", "C.restore", -- what all of them together must bring about
  { fault = "kill", role = "initiator", phase = "commit" } }

local function add(name, plan) points[#points + 1] = { name, plan } end

-- A kill in that phase, at ranks of each role that comes to it.
local function promise(phase, ranks)
  local name = "c3:" .. phase
  if ranks[1] == 0 then
    promised[#promised + 1] = { fault = "kill", role = "initiator", phase = name }
  end
  if ranks[#ranks] > 0 then
    promised[#promised + 1] = { fault = "kill", role = "participant", phase = name }
  end
end

local function at_phase(rank, phase, nth, incarnation)
  return { rank = rank, event = "phase", name = "c3:" .. phase, nth = nth,
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

for _, message in ipairs(control) do
  local name, senders, receivers = table.unpack(message)
  phase_points("before-send-" .. name, senders)
  phase_points("after-send-" .. name, senders)
  phase_points("before-receive-" .. name, receivers)
  phase_points("after-receive-" .. name, receivers)
end
for _, point in ipairs(storage) do phase_points(point[1], point[2]) end

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
  p:kill { rank = 0, event = "stop-log", epoch = 2, incarnation = 2 }
end)
add("two ranks at once, while logging", function(p)
  p:kill { ranks = { 0, 2 }, at = { rank = 1, event = "ready", epoch = 2 } }
end)
for rank = 0, RANKS - 1 do
  add(("rank %d, when all is done"):format(rank),
    function(p) p:kill(at_phase(rank, "before-finish", 1)) end)
end
promise("before-finish", ALL)
cover(promised)

-- Three lines each; shorter ones where collective calls, of more ranks than cores, take long.
for _, run in ipairs {
  { "ring", 40, 12 }, { "laplace", 40, 12 }, { "cg", 20, 6 }, { "neuron", 20, 6 },
  { "master_worker", 40, 12 },
} do
  local program, iterations, every = table.unpack(run)
  for _, point in ipairs(points) do
    scenario(program .. ": " .. point[1]) {
      protocol = "c3", program = program, ranks = RANKS,
      arguments = { "--iterations", iterations }, environment = { C3_EVERY = every },
      claims = { "C", "H" }, plan = point[2],
    }
  end
end
