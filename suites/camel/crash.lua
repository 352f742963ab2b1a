-- Programs under CAMEL: each rank dies at many places and at every phase of a line; newcomers die
-- as well, and others after a recovery. Only the rank that died goes back: every result is that of
-- a run without faults.

cover { "H.orphan", "H.loss", "H.duplicate", "H.order", "H.result", "H.progress", "H.collective",
        "M.orphan", "M.replay", "M.order", "M.local", "M.stale", "M.once", "M.atomic",
        "M.cell.carried", "M.cell.again", "M.cell.duplicate", "M.cell.multicast",
        "M.cell.reduction" }

local EVERY = 3 -- potential checkpoints per line

-- Program → what keeps it short, ranks, and the calls at the wire that each rank makes at least.
local programs = {
  leanmd = { { "--iterations", 7 }, 4, 480 },
  openatom = { { "--iterations", 7 }, 5, 320 },
  neuron = { { "--iterations", 6, "--size", 16 }, 6, 240 },
  laplace = { { "--iterations", 8, "--size", 16 }, 4, 240 },
}

local function crash(program, name, plan)
  local about = programs[program]
  scenario(program .. ": " .. name) {
    protocol = "camel", program = program, ranks = about[2], engine = "step", survivors = true,
    arguments = about[1], environment = { CAMEL_EVERY = EVERY }, claims = { "H", "M" },
    plan = plan,
  }
end

local function at_call(rank, nth)
  return function(p) p:kill { rank = rank, event = "call", level = "wire", nth = nth } end
end

local FIRST, STEP = 20, 40 -- the first calls are those of MPI_Init
for program, about in pairs(programs) do
  for nth = FIRST, about[3], STEP do
    local rank = nth // STEP % about[2]
    crash(program, ("rank %d, at its call number %d"):format(rank, nth), at_call(rank, nth))
  end
end

local phases = {
  "before-halt", "halted", "flushed", "before-checkpoint", "mid-write", "before-rename",
  "after-checkpoint", "before-drop", "after-drop",
}
for number, phase in ipairs(phases) do
  for rank = 0, 3 do
    local line = 1 + (number + rank) % 2 -- in the first line there is none to go back to
    crash("leanmd", ("rank %d, %s, line %d"):format(rank, phase, line), function(p)
      p:kill { rank = rank, event = "phase", name = "camel:" .. phase, nth = line }
    end)
  end
end
crash("openatom", "rank 2, before-finish", function(p)
  p:kill { rank = 2, event = "phase", name = "camel:before-finish" }
end)

-- Every collective call, on communicators of all ranks and of some, in trees that are no power of
-- two; messages between two ranks that are received steps later.
for number, ranks in ipairs { 3, 5, 6, 7 } do
  for nonblocking = 0, 1 do
    scenario(("collectives: %d ranks, nonblocking %d"):format(ranks, nonblocking)) {
      protocol = "camel", program = "collectives", ranks = ranks, engine = "step",
      survivors = true, environment = { CAMEL_EVERY = 6 }, claims = { "H", "M" },
      arguments = { "--late", 1, "--nonblocking", nonblocking, "--iterations", 20, "--size", 8,
                    "--seed", number },
      plan = at_call(number % ranks, 200 + 130 * number + 90 * nonblocking),
    }
  end
end

-- What a reduction below the program still needs is freed by the program meanwhile.
for number, ranks in ipairs { 3, 4, 5, 6 } do
  for _, nth in ipairs { 90, 260 } do
    scenario(("freed: %d ranks, at call %d"):format(ranks, nth)) {
      protocol = "camel", program = "freed", ranks = ranks, engine = "step", survivors = true,
      environment = { CAMEL_EVERY = EVERY }, claims = { "H", "M" },
      arguments = { "--iterations", 12 }, plan = at_call(number % ranks, nth + 20 * number),
    }
  end
end

-- The first process that comes later has the number of ranks as its own number.
for _, phase in ipairs { "halted", "after-checkpoint" } do
  crash("leanmd", "a newcomer, " .. phase, function(p)
    p:kill { rank = 1, event = "call", level = "wire", nth = 200 }
    p:kill { rank = 4, event = "phase", name = "camel:" .. phase }
  end)
end

-- One after the other, each when the one before is at the next line. The contributions and the
-- determinants that a rank has for others must have come back to its newcomer by then.
local function one_after_the_other(name, ranks)
  scenario("leanmd: " .. name) {
    protocol = "camel", program = "leanmd", ranks = 4, engine = "step", survivors = true,
    arguments = { "--iterations", 14 }, environment = { CAMEL_EVERY = EVERY },
    claims = { "H", "M" },
    plan = function(p)
      for number, rank in ipairs(ranks) do
        p:kill { rank = rank, event = "phase", name = "camel:after-drop" }
        if number < #ranks then
          p:await { rank = 4 + number - 1, event = "phase", name = "camel:before-halt" }
        end
      end
    end,
  }
end
one_after_the_other("every rank, one after the other", { 0, 1, 2, 3 })
one_after_the_other("the same rank three times", { 1, 4, 5 })
