-- Programs under SCMEL: each rank dies at many places and at every phase of a line; newcomers
-- die as well, and others after a recovery. Only the rank that died goes back: every result is
-- that of a run without faults.

cover { "H.orphan", "H.loss", "H.duplicate", "H.order", "H.result", "H.progress",
        "M.orphan", "M.replay", "M.order", "M.local", "M.stale" }

local EVERY = 3 -- potential checkpoints per line
local RANKS = 4

-- Program → what keeps it short, and the calls at the wire that each rank makes at least. leanmd
-- and neuron send no message but in collective calls.
local programs = {
  laplace = { { "--iterations", 8, "--size", 16 }, 360 },
  master_worker = { { "--iterations", 6, "--size", 4 }, 400 },
  ring = { { "--iterations", 8 }, 360 },
  leanmd = { { "--iterations", 6 }, 600 },
  openatom = { { "--iterations", 7 }, 300 },
  neuron = { { "--iterations", 7, "--size", 16 }, 300 },
}

local function crash(program, name, plan)
  scenario(program .. ": " .. name) {
    protocol = "scmel", program = program, ranks = RANKS, engine = "step", survivors = true,
    arguments = programs[program][1], environment = { SCMEL_EVERY = EVERY }, claims = { "H", "M" },
    plan = plan,
  }
end

-- The first calls are those of MPI_Init.
local FIRST = 20

local phases = {
  "before-halt", "halted", "flushed", "before-checkpoint", "before-write", "mid-write",
  "before-rename", "after-rename", "after-checkpoint", "before-drop", "after-drop",
}

for program, about in pairs(programs) do
  if program ~= "leanmd" and program ~= "neuron" then
    crash(program, "without faults")
  end
  for nth = FIRST, about[2], 40 do
    local rank = nth // 40 % RANKS
    crash(program, ("rank %d, at its call number %d"):format(rank, nth), function(p)
      p:kill { rank = rank, event = "call", level = "wire", nth = nth }
    end)
  end
end

for rank = 0, RANKS - 1 do
  for number, phase in ipairs(phases) do
    -- In the first line there is none to go back to.
    local line = 1 + (number + rank) % 2
    crash("laplace", ("rank %d, %s, line %d"):format(rank, phase, line), function(p)
      p:kill { rank = rank, event = "phase", name = "scmel:" .. phase, nth = line }
    end)
  end
  crash("laplace", ("rank %d, before-finish"):format(rank), function(p)
    p:kill { rank = rank, event = "phase", name = "scmel:before-finish" }
  end)
end

-- Synchronous sends and their receives are pending over each line: an answer may come while a rank
-- waits for the others in its line.
for rank = 0, RANKS - 1 do
  for _, phase in ipairs { "before-checkpoint", "mid-write" } do
    scenario(("pipeline: rank %d, %s, synchronous sends"):format(rank, phase)) {
      protocol = "scmel", program = "pipeline", ranks = RANKS, engine = "step", survivors = true,
      arguments = { "--posts", 1, "--synchronous", 1, "--iterations", 8, "--size", 8 },
      environment = { SCMEL_EVERY = 1 }, claims = { "H", "M" },
      plan = function(p)
        p:kill { rank = rank, event = "phase", name = "scmel:" .. phase, nth = 3 }
      end,
    }
  end
end

-- The first process that comes later is number 4. If it dies in turn, whenever that is, no more
-- than one rank is down. (What the death of another rank does then: beyond/second.lua.)
local newcomer_phases = {
  "before-receive-determinants", "after-receive-determinants", "before-load", "restored",
  "before-relive", "lives-on", "halted", "after-checkpoint",
}
for program, nth in pairs { laplace = 200, master_worker = 230 } do
  for _, phase in ipairs(newcomer_phases) do
    crash(program, "a newcomer, " .. phase, function(p)
      p:kill { rank = 1, event = "call", level = "wire", nth = nth }
      p:kill { rank = 4, event = "phase", name = "scmel:" .. phase }
    end)
  end
  crash(program, "two newcomers, before and after they have their determinants", function(p)
    p:kill { rank = 1, event = "call", level = "wire", nth = nth }
    p:kill { rank = 4, event = "phase", name = "scmel:before-receive-determinants" }
    p:kill { rank = 5, event = "phase", name = "scmel:after-receive-determinants" }
  end)
end

-- A new process that lives on has all determinants that the one before it had stored for others,
-- so another rank may die at once.
local soon = { laplace = { 48, 96, 144, 216, 240, 312 }, master_worker = { 64, 272 } }
for program, numbers in pairs(soon) do
  for _, nth in ipairs(numbers) do
    local name = ("rank 1, at its call number %d, and rank 0 when it lives on"):format(nth)
    crash(program, name, function(p)
      p:kill { rank = 1, event = "call", level = "wire", nth = nth }
      p:await { rank = 4, event = "phase", name = "scmel:lives-on" }
      p:kill { rank = 0, event = "call", level = "wire" }
    end)
  end
end

-- A laplace that is long enough for several deaths.
local function longer(name, plan)
  scenario("laplace: " .. name) {
    protocol = "scmel", program = "laplace", ranks = RANKS, engine = "step", survivors = true,
    arguments = { "--iterations", 14, "--size", 16 }, environment = { SCMEL_EVERY = EVERY },
    claims = { "H", "M" }, plan = plan,
  }
end

-- One after the other, each when the one before has recovered.
local function die_in_turn(p, ranks)
  for number, rank in ipairs(ranks) do
    p:kill { rank = rank, event = "phase", name = "scmel:after-drop" }
    if number < #ranks then -- the one that has come is at the next line
      p:await { rank = RANKS + number - 1, event = "phase", name = "scmel:before-halt" }
    end
  end
end
local function one_after_the_other(name, ranks)
  longer(name, function(p) die_in_turn(p, ranks) end)
end
one_after_the_other("every rank, one after the other", { 0, 1, 2, 3 })
one_after_the_other("the same rank four times", { 1, 4, 5, 6 })

-- The second rank that dies is replaced twice: its first new process dies on its way to the others.
for nth = 6, 14, 2 do
  local name = ("rank 1, then rank 2, whose new process dies at its call number %d"):format(nth)
  longer(name, function(p)
    die_in_turn(p, { 1, 2 })
    p:kill { rank = RANKS + 1, event = "call", level = "wire", nth = nth }
  end)
end
