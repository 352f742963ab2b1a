-- Ranks that migrate under CoCheck: each program with one that moves, and the situations in which
-- it matters. Processes 0 to 2 begin as the ranks of the application; those before them are
-- skeletons. In a line that is named in COCHECK_MIGRATE the ranks named migrate; all other lines
-- are checkpoints.

cover { "H", "R", { fault = "kill", role = "participant", phase = "cocheck:mid-transfer" },
  { fault = "kill", role = "participant", phase = "cocheck:skeleton-waits" } }

local RANKS, EVERY = 3, 6

local function migration(name, fields)
  local skeletons = fields.skeletons or 1
  fields.environment = { COCHECK_EVERY = fields.every or EVERY, COCHECK_SKELETONS = skeletons,
                         COCHECK_MIGRATE = fields.moves }
  fields.moves, fields.skeletons, fields.every = nil, nil, nil
  fields.protocol, fields.ranks, fields.reserve = "cocheck", RANKS + skeletons, skeletons
  fields.program = fields.program or "ring"
  fields.arguments = fields.arguments or { "--iterations", 26 }
  fields.claims = { "R", "H" }
  fields.expect = fields.expect or { cover = { "R.address" } }
  scenario(name)(fields)
end

-- ---- every program, every rank ------------------------------------------------------------------

for _, program in ipairs { "ring", "laplace", "cg", "neuron", "master_worker", "tally", "pipeline",
                           "mixture", "random", "collectives" } do
  for rank = 0, RANKS - 1 do
    migration(("%s: rank %d migrates"):format(program, rank), {
      program = program, moves = rank .. "@1", expect = { cover = { "R.clear" } },
    })
  end
end

-- Rank 0 of an arrangement has made the memory that all share: no state of a protocol's, it stays.
for rank = 1, RANKS - 1 do
  migration(("arrangement: rank %d migrates"):format(rank), {
    program = "arrangement", moves = rank .. "@1", expect = { cover = { "R.clear" } },
    arguments = { "--iterations", 26, "--told", 1, "--message", 1 },
  })
end
migration("arrangement of calls that do not block: rank 1 migrates", {
  program = "arrangement", moves = "1@1", expect = { cover = { "R.clear" } },
  arguments = { "--iterations", 26, "--told", 1, "--message", 1, "--nonblocking", 1 },
})

-- ---- the situations of a migration --------------------------------------------------------------

-- All others send to rank 0 without waiting for anything, and every message is some milliseconds on
-- its way: whenever rank 0 is told to go, some are.
migration("rank 0 migrates while all others send to it", {
  program = "tally", arguments = { "--iterations", 60, "--slow-us", 1000 }, moves = "0@1",
  plan = function(p) p:jitter { ms = 5 } end, expect = { cover = { "R.clear", "R.address" } },
})

migration("two ranks migrate at once", { moves = "1@1,2@1", skeletons = 2 })
migration("two ranks migrate at once, all sending", {
  program = "mixture", moves = "0@1,2@1", skeletons = 2, expect = { cover = { "R.clear" } },
})
-- One of them has arrived at its skeleton, and sends to the other one, which has not arrived yet.
for slow = 0, 1 do
  for _, program in ipairs { "mixture", "random" } do
    migration(("two ranks migrate at once, rank %d last: %s"):format(slow, program), {
      program = program, moves = "0@1,1@1", skeletons = 2,
      plan = function(p)
        p:stop { rank = slow, event = "phase", name = "cocheck:before-transfer", attempt = true,
                 release = { rank = RANKS + 1 - slow, event = "send", nth = 5 } }
      end,
    })
  end
end
migration("all ranks migrate at once", { moves = "0@1,1@1,2@1", skeletons = 3 })
migration("a rank migrates twice in a row", { moves = "1@1,1@2", skeletons = 2 })
migration("one rank after the other", { moves = "1@1,2@2,0@3", skeletons = 3 })

-- ---- and a death --------------------------------------------------------------------------------

-- Line 1 is a checkpoint, rank 1 migrates in line 2. The restart has all ranks where they began.
local function dies(name, plan)
  migration("rank 1 migrates: " .. name, {
    program = "pipeline", moves = "1@2", plan = plan, expect = { cover = { "R.clear" } },
  })
end

for _, phase in ipairs { "before-flush", "after-flush", "before-transfer", "mid-transfer",
                         "after-transfer" } do
  dies("its process dies, " .. phase, function(p)
    p:await { rank = 1, event = "notified", epoch = 2 }
    p:kill { rank = 1, event = "phase", name = "cocheck:" .. phase, after = "start",
             nth = phase:find "flush" and 2 or 1 }
  end)
end
for _, phase in ipairs { "skeleton-waits", "before-arrival", "after-arrival", "after-past",
                         "before-send-address", "after-send-address", "after-finish" } do
  dies("the skeleton dies, " .. phase, function(p)
    p:kill { rank = RANKS, event = "phase", name = "cocheck:" .. phase }
  end)
end
for rank = 0, 2, 2 do
  dies(("rank %d dies, before-receive-mapping"):format(rank), function(p)
    p:kill { rank = rank, event = "phase", name = "cocheck:before-receive-mapping" }
  end)
  dies(("rank %d dies, after-receive-ready"):format(rank), function(p)
    p:await { rank = 1, event = "notified", epoch = 2 }
    p:kill { rank = rank, event = "phase", name = "cocheck:after-receive-ready" }
  end)
end

-- The next line is a checkpoint of all ranks where they are then; the restart begins with it.
dies("it is checkpointed in its new place, and the job dies", function(p)
  p:kill { rank = 0, at = { event = "commit", epoch = 3 } }
end)
dies("the process that it left dies", function(p)
  p:kill { rank = 1, at = { event = "commit", epoch = 3 } }
end)

-- ---- and once more ------------------------------------------------------------------------------

-- What the program has made ahead of checkpoint_restore, communicators, goes along both times.
migration("collectives: rank 1 migrates twice in a row", {
  program = "collectives", moves = "1@1,1@2", skeletons = 2, expect = { cover = { "R.clear" } },
})
