-- Claims R.clear, R.atomic and R.buffer of CoCheck, each with its situation: messages under way on
-- every kind of channel when the line is made, a ready message that would overtake, a notification
-- that comes during a send, lines in a row. (R.address: migration.lua.)

cover { "H", "R.clear", "R.atomic", "R.buffer", { fault = "hold", role = "initiator" },
  { fault = "hold", role = "participant" }, { fault = "kill", role = "participant" } }

local RANKS, EVERY = 3, 6

local function situation(name, fields)
  fields.protocol, fields.ranks = "cocheck", fields.ranks or RANKS
  fields.program = fields.program or "pipeline"
  fields.arguments = fields.arguments or { "--iterations", 20 }
  fields.environment = { COCHECK_EVERY = fields.every or EVERY }
  fields.every = nil
  fields.claims = { "R.clear", "R.atomic", "H" }
  if fields.dies then fields.claims[#fields.claims + 1] = "R.buffer" end
  fields.dies = nil
  scenario(name)(fields)
end

-- ---- under way at the line ----------------------------------------------------------------------

-- A message that is on its way when its receiver is told of the line, so that the flush has to take
-- it in; then the job dies and it is served from the buffer. In a pipeline each rank sends one
-- message per iteration to each other, and rank 0 asks for the line behind the one whose number is
-- EVERY: that is under way, or from rank 2, which may not have sent it yet, the one before. (What
-- rank 2 sends to 1 and rank 1 to 0 is waited for in the same iteration, so it cannot be kept.)
for _, channel in ipairs { { 0, 1, EVERY }, { 0, 2, EVERY }, { 1, 2, EVERY },
                           { 2, 0, EVERY - 1 } } do
  local from, to, nth = table.unpack(channel)
  situation(("under way at the line: %d to %d"):format(from, to), {
    dies = true, expect = { cover = { "R.clear", "R.buffer" } },
    plan = function(p)
      p:hold { message = "applicationMessage", from = from, to = to, nth = nth,
               release = { rank = to, event = "notified", epoch = 1 } }
      p:kill { rank = (to + 1) % RANKS, at = { event = "commit", epoch = 1 } }
    end,
  })
end

-- Every kind of call that sends and that receives, synchronous sends too, on communicators that
-- come and go.
for _, seed in ipairs { 1, 2, 3 } do
  situation("under way at the line: every kind of call, seed " .. seed, {
    program = "mixture", arguments = { "--iterations", 24, "--seed", seed },
    dies = true, expect = { cover = { "R.clear", "R.buffer" } },
    plan = function(p) p:kill { rank = 1, at = { event = "commit", epoch = 2 } } end,
  })
end

-- ---- a ready message that would overtake --------------------------------------------------------

-- What rank 0 sends to rank 1 is kept until rank 1 has rank 0's ready message. But that waits
-- behind it, whatever communicator the program used: so it never comes first.
situation("attempt: a ready message overtakes", {
  program = "mixture", arguments = { "--iterations", 24 }, expect = { cover = { "R.clear" } },
  plan = function(p)
    p:hold { message = "applicationMessage", from = 0, to = 1, nth = 20, attempt = true,
             release = { rank = 1, event = "clear", peer = 0, epoch = 1 } }
  end,
})

-- Rank 1 is told when rank 2 has sent its ready messages, and its own comes to rank 0 first.
situation("ready messages come in another order", {
  plan = function(p)
    p:hold { message = "readyMessage", from = 2, to = 0, epoch = 1,
             release = { rank = 0, event = "clear", peer = 1, epoch = 1 } }
    p:hold { message = "notification", to = 1, epoch = 1, after = "start",
             release = { rank = 2, event = "phase", name = "cocheck:after-send-ready",
                         nth = RANKS - 1 } }
  end,
})

-- ---- the notification ---------------------------------------------------------------------------

-- It is let go when rank 1 is in a send, and rank 1 stays there until it has been let go. Nobody
-- who sends in a tally waits for others.
situation("the notification comes during a send", {
  program = "tally", arguments = { "--iterations", 200 }, expect = { cover = { "R.atomic" } },
  plan = function(p)
    p:hold { message = "notification", to = 1, epoch = 1,
             release = { rank = 1, event = "send", call = "MPI_Send" } }
  end,
})

-- One rank is told long after the others: their ready messages come first. (Rank 0 lives where the
-- central instance does, and is told without a message.)
for rank = 1, RANKS - 1 do
  situation(("rank %d has all ready messages before it is told"):format(rank), {
    plan = function(p)
      p:hold { message = "notification", to = rank, epoch = 1,
               release = { rank = rank, event = "clear", nth = RANKS - 1, epoch = 1 } }
    end,
  })
end

-- ---- lines in a row -----------------------------------------------------------------------------

-- A line is asked for at every potential checkpoint, so the next is due when one is over.
situation("two checkpoints in a row", {
  every = 1, dies = true,
  plan = function(p) p:kill { rank = 2, at = { event = "commit", epoch = 2 } } end,
})
situation("a checkpoint in recovery", {
  every = 3, dies = true, program = "mixture", arguments = { "--iterations", 16 },
  plan = function(p)
    p:kill { rank = 2, at = { event = "commit", epoch = 2 } }
    p:kill { rank = 0, at = { event = "checkpoint", epoch = 3, incarnation = 1 } }
  end,
})
