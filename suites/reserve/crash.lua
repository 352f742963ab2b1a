-- Message logging where a process in reserve takes a dead rank's place: under Debian's MPICH, whose
-- calls wait for ever where they need a dead process, with Open MPI 5 and on the step engine. Ranks
-- die at many places, in every phase of a recovery that one failure at a time allows, and at the
-- end; so do processes in reserve. Nobody else goes back.

cover { "H.orphan", "H.loss", "H.duplicate", "H.order", "H.result", "H.progress",
        "M.orphan", "M.replay", "M.order", "M.local", "M.stale" }

local RANKS, RESERVE = 4, 3
local EVERY = 3 -- potential checkpoints per line

local programs = {
  laplace = { "--iterations", 8, "--size", 16 },
  master_worker = { "--iterations", 6, "--size", 4 },
  ring = { "--iterations", 8 },
  leanmd = { "--iterations", 6 },
  openatom = { "--iterations", 7 },
}

local function crash(protocol, program, name, plan)
  local upper = protocol:upper()
  scenario(("%s, %s: %s"):format(protocol, program, name)) {
    protocol = protocol, program = program, ranks = RANKS + RESERVE, reserve = RESERVE,
    survivors = true, arguments = programs[program],
    environment = { [upper .. "_EVERY"] = EVERY, [upper .. "_RESERVE"] = RESERVE },
    claims = { "H", "M" }, plan = plan,
  }
end

-- Who polls makes any number of calls, but of sends as many each time. Nobody is killed from
-- outside that may be inside one: under MPICH the queue of its receiver may be of no use then.
local function send(rank, nth, position)
  return { rank = rank, event = "send", level = "wire", nth = nth, position = position }
end
local function next_call(rank)
  return { rank = rank, event = "call", level = "wire" }
end

-- The first sends are those of MPI_Init.
local FIRST, LAST, STEP = 16, 52, 4
local POSITIONS = { "before", "after" }

for protocol, tested in pairs {
  scmel = { "laplace", "master_worker", "ring" },
  camel = { "leanmd", "openatom" },
  pessimistic = { "laplace", "master_worker" },
} do
  local function at(rank, name, nth)
    return { rank = rank, event = "phase", name = protocol .. ":" .. name, nth = nth }
  end
  local first, second = table.unpack(tested)

  for _, program in ipairs(tested) do
    for nth = FIRST, LAST, STEP do
      local rank, position = nth // STEP % RANKS, POSITIONS[nth // STEP // RANKS % 2 + 1]
      crash(protocol, program, ("rank %d, %s its send number %d"):format(rank, position, nth),
        function(p) p:kill(send(rank, nth, position)) end)
    end
  end

  -- In every phase of a line.
  for number, name in ipairs {
    "before-halt", "halted", "flushed", "before-checkpoint", "mid-write", "before-rename",
    "after-checkpoint", "before-drop", "after-drop",
  } do
    local rank, line = number % RANKS, 1 + number % 2
    crash(protocol, first, ("rank %d, %s, line %d"):format(rank, name, line),
      function(p) p:kill(at(rank, name, line)) end)
  end

  -- Each rank at the end: it has come there, all others have, it is in MPI_Finalize.
  for rank = 0, RANKS - 1 do
    for _, name in ipairs { "before-finish", "after-finish" } do
      crash(protocol, first, ("rank %d, %s"):format(rank, name),
        function(p) p:kill(at(rank, name)) end)
    end
    crash(protocol, second, ("rank %d, while another is at the end"):format(rank), function(p)
      p:await(at((rank + 1) % RANKS, "before-finish"))
      p:kill(next_call(rank))
    end)
  end

  -- The process that takes the place dies in each phase of the recovery, its own and the others',
  -- and the next one takes it. Of a dead rank 0 rank 1 leads.
  for number, name in ipairs {
    "before-receive-determinants", "after-receive-determinants", "before-load", "restored",
    "before-relive", "lives-on", "halted", "after-checkpoint",
  } do
    local rank = number % RANKS
    crash(protocol, second, ("rank %d, and who takes its place, %s"):format(rank, name),
      function(p)
        p:kill(send(rank, 28))
        p:kill(at(RANKS, name))
      end)
  end
  for _, name in ipairs { "before-send-determinants", "before-barrier", "after-barrier",
                          "after-send-again" } do
    for rank = 0, 1 do
      local witness = 1 - rank
      crash(protocol, first,
        ("rank %d, and who takes its place when rank %d is at %s"):format(rank, witness, name),
        function(p)
          p:kill(send(rank, 40))
          p:await(at(witness, name))
          p:kill(next_call(RANKS))
        end)
    end
  end
  crash(protocol, first, "rank 1, and two that take its place", function(p)
    p:kill(send(1, 40))
    p:kill(at(RANKS, "before-receive-determinants"))
    p:kill(at(RANKS + 1, "after-receive-determinants"))
  end)

  -- Processes in reserve die, and are not called.
  crash(protocol, first, "the first in reserve, and later rank 2", function(p)
    p:kill { rank = RANKS, at = send(0, 24) }
    p:kill(send(2, 40))
  end)
  crash(protocol, first, "two in reserve, and later rank 0", function(p)
    p:kill { ranks = { RANKS, RANKS + 1 }, at = send(1, 24) }
    p:kill(send(0, 40))
  end)
  crash(protocol, second, "rank 3 and the first in reserve at once", function(p)
    p:kill { rank = RANKS, at = send(3, 40) }
    p:kill(next_call(3))
  end)
  crash(protocol, second, "all in reserve, and nobody else", function(p)
    p:kill { ranks = { RANKS, RANKS + 1, RANKS + 2 }, at = send(0, 40) }
  end)

  -- Rank 1 saves a line and dies. Its last message to rank 0, without which rank 0 does not save
  -- that line, is held. When the new process lives on, rank 0 dies, and goes back to the
  -- line before.
  for line = 1, 2 do
    local name = ("rank 1 with line %d saved, and later rank 0 without it"):format(line)
    for _, program in ipairs(tested) do
      crash(protocol, program, name, function(p)
        local lives_on = at(RANKS, "lives-on")
        p:await(at(1, "flushed", line))
        p:hold { from = 1, to = 0, level = "wire", release = lives_on, attempt = true }
        p:kill(at(1, "after-checkpoint"))
        p:await(lives_on)
        p:kill(at(0, "before-checkpoint"))
      end)
    end
  end

  -- One after the other, each when the one before is at the next line.
  for name, ranks in pairs {
    ["three ranks"] = { 0, 1, 2 }, ["rank 1 three times"] = { 1, 4, 5 },
  } do
    crash(protocol, first, name .. ", one after the other", function(p)
      for number, rank in ipairs(ranks) do
        p:kill(send(rank, 20))
        if number < #ranks then p:await(at(RANKS + number - 1, "before-halt")) end
      end
    end)
  end
end
