-- Programs under team-based message logging: each rank dies at many places and at every phase of a
-- line, alone, in teams of two, and where all are one team; newcomers die as well, others of the
-- team in the midst of a recovery, and other teams after it. Only the team of who has died goes
-- back: every result is that of a run without faults.

cover { "H.orphan", "H.loss", "H.duplicate", "H.order", "H.result", "H.progress",
        "M.orphan", "M.replay", "M.order", "M.local", "M.stale" }

local EVERY = 3 -- potential checkpoints per line
local RANKS = 4

-- Program → what keeps it short, and the calls at the wire that each rank makes at least.
local programs = {
  laplace = { { "--iterations", 8, "--size", 16 }, 360 },
  master_worker = { { "--iterations", 6, "--size", 4 }, 400 },
  ring = { { "--iterations", 8 }, 360 },
  leanmd = { { "--iterations", 6 }, 600 },
  openatom = { { "--iterations", 7 }, 300 },
  random = { { "--iterations", 8 }, 300 },
}

local function crash(size, program, name, plan)
  scenario(("teams of %d, %s: %s"):format(size, program, name)) {
    protocol = "teams", program = program, ranks = RANKS, engine = "step", survivors = true,
    arguments = programs[program][1], environment = { TEAMS_EVERY = EVERY, TEAMS_SIZE = size },
    max_incarnations = 3, claims = { "H", "M" }, plan = plan,
  }
end

local function at_call(rank, nth)
  return function(p) p:kill { rank = rank, event = "call", level = "wire", nth = nth } end
end

-- The first calls are those of MPI_Init.
local FIRST = 20
local steps = { [1] = 160, [2] = 40, [3] = 80, [4] = 120 }

for program, about in pairs(programs) do
  for size, step in pairs(steps) do
    for nth = FIRST, about[2], step do
      local rank = nth // 20 % RANKS
      crash(size, program, ("rank %d, at its call number %d"):format(rank, nth),
        at_call(rank, nth))
    end
  end
  if program ~= "leanmd" then crash(2, program, "without faults") end
end

local phases = {
  "before-halt", "halted", "flushed", "before-checkpoint", "before-write", "mid-write",
  "before-rename", "after-rename", "after-checkpoint", "before-drop", "after-drop",
}
for rank = 0, RANKS - 1 do
  for number, phase in ipairs(phases) do
    for _, size in ipairs { 2, 4 } do
      -- In the first line there is none to go back to.
      local line = 1 + (number + rank) % 2
      crash(size, "laplace", ("rank %d, %s, line %d"):format(rank, phase, line), function(p)
        p:kill { rank = rank, event = "phase", name = "teams:" .. phase, nth = line }
      end)
    end
  end
  crash(2, "laplace", ("rank %d, before-finish"):format(rank), function(p)
    p:kill { rank = rank, event = "phase", name = "teams:before-finish" }
  end)
end

-- The other one of the team has just saved the line; if this one has not, both go on from the one
-- before.
for rank = 0, RANKS - 1 do
  for _, size in ipairs { 2, 4 } do
    crash(size, "laplace", ("rank %d, when rank %d has saved a line"):format(rank, rank ~ 1),
      function(p)
        p:kill { rank = rank, at = { rank = rank ~ 1, event = "phase",
                                     name = "teams:after-checkpoint", nth = 2 } }
      end)
  end
end

-- A whole team saves a line and dies. The last message of rank 2 to rank 0, without which rank 0
-- does not save that line, is held. When the new processes live on, rank 0 dies.
for line = 1, 2 do
  for _, program in ipairs { "laplace", "master_worker" } do
    local name = ("ranks 2 and 3 with line %d saved, and later rank 0 without it"):format(line)
    crash(2, program, name, function(p)
      local function at(rank, phase, nth)
        return { rank = rank, event = "phase", name = "teams:" .. phase, nth = nth }
      end
      p:await(at(2, "flushed", line))
      p:hold { from = 2, to = 0, level = "wire", release = at(5, "lives-on"), attempt = true }
      p:await(at(3, "after-checkpoint"))
      p:kill { rank = 2, event = "call", level = "wire" }
      p:await(at(5, "lives-on"))
      p:kill(at(0, "before-checkpoint"))
    end)
  end
end

-- Rank 1 dies; rank 0, which is to leave as well, dies before it does.
for _, phase in ipairs { "before-shrink", "before-leave" } do
  crash(2, "laplace", "the other one of the team, " .. phase, function(p)
    p:kill { rank = 1, event = "call", level = "wire", nth = 200 }
    p:kill { rank = 0, event = "phase", name = "teams:" .. phase }
  end)
end

-- The first processes that come later are 4 and 5, in the places of 0 and 1. If one of them dies,
-- whenever that is, no more than one team is down.
local newcomer_phases = {
  "before-receive-determinants", "after-receive-determinants", "before-load", "restored",
  "before-relive", "lives-on", "halted", "after-checkpoint",
}
for program, nth in pairs { laplace = 200, master_worker = 230 } do
  for number, phase in ipairs(newcomer_phases) do
    local newcomer = RANKS + number % 2
    crash(2, program, ("newcomer %d, %s"):format(newcomer, phase), function(p)
      p:kill { rank = 1, event = "call", level = "wire", nth = nth }
      p:kill { rank = newcomer, event = "phase", name = "teams:" .. phase }
    end)
  end
  crash(2, program, "two newcomers, one after the other", function(p)
    p:kill { rank = 1, event = "call", level = "wire", nth = nth }
    p:kill { rank = 5, event = "phase", name = "teams:before-receive-determinants" }
    p:kill { rank = 6, event = "phase", name = "teams:restored" }
  end)
end

-- Each team when the one before has recovered; or the whole job, one time after the other.
crash(2, "ring", "one team after the other", function(p)
  p:kill { rank = 1, event = "call", level = "wire", nth = 60 }
  p:await { rank = 4, event = "phase", name = "teams:before-halt" }
  p:await { rank = 5, event = "phase", name = "teams:before-halt" }
  p:kill { rank = 2, event = "call", level = "wire" }
end)
crash(4, "ring", "twice", function(p)
  p:kill { rank = 1, event = "call", level = "wire", nth = 120 }
  p:kill { rank = 2, event = "call", level = "wire", nth = 160 }
end)

-- The last team is smaller than the others.
for rank = 3, 4 do
  for nth = 60, 180, 60 do
    local name = "teams of 2, five ranks, laplace: rank %d, at its call number %d"
    scenario(name:format(rank, nth)) {
      protocol = "teams", program = "laplace", ranks = 5, engine = "step", survivors = true,
      arguments = programs.laplace[1], environment = { TEAMS_EVERY = EVERY, TEAMS_SIZE = 2 },
      claims = { "H", "M" }, plan = at_call(rank, nth),
    }
  end
end
