-- Claims R.clear, R.atomic and R.buffer of CoCheck, each with its situation: messages under way on
-- every kind of channel when the line is made, a ready message that would overtake, a notification
-- that comes during a send, lines in a row. (R.address: migration.lua.)

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

-- Between each two ranks: a message that is on its way when its receiver is told of the line, so
-- that the flush has to take it in; then the job dies and it is served from the buffer. In a
-- pipeline each rank sends one message per iteration to each other, and rank 0 asks for the line
-- behind the one whose number is EVERY. What it has to have had by then cannot be under way, so for
-- some channels it is another message, moment, or program.
local function under_way(from, to, nth, fields)
  fields = fields or {}
  situation(("under way at the line: %d to %d"):format(from, to), {
    program = fields.program, arguments = fields.arguments,
    dies = true, expect = { cover = { "R.clear", "R.buffer" } },
    plan = function(p)
      p:hold { message = "applicationMessage", from = from, to = to, nth = nth,
               release = fields.released or { rank = to, event = "notified", epoch = 1 } }
      if fields.told_late then
        p:hold { message = "notification", to = from, epoch = 1, after = "start",
                 release = { rank = from, event = "send", call = "MPI_Send" } }
      end
      p:kill { rank = (to + 1) % RANKS, at = { event = "commit", epoch = 1 }, after = "start" }
    end,
  })
end
under_way(0, 1, EVERY)
under_way(0, 2, EVERY)
under_way(1, 2, EVERY)
under_way(2, 0, EVERY - 1)
under_way(2, 1, EVERY,
  { told_late = true, released = { rank = 0, event = "clear", peer = 2, epoch = 1 } })
under_way(1, 0, 3, { program = "tally", arguments = { "--iterations", 30 } })

-- Every kind of call that sends and that receives, synchronous sends too, on communicators that come
-- and go.
for _, seed in ipairs { 1, 2, 3 } do
  situation("under way at the line: every kind of call, seed " .. seed, {
    program = "mixture", arguments = { "--iterations", 24, "--seed", seed },
    dies = true, expect = { cover = { "R.clear", "R.buffer" } },
    plan = function(p) p:kill { rank = 1, at = { event = "commit", epoch = 2 } } end,
  })
end

-- ---- a ready message that would overtake ---------------------------------------------------------

-- What rank 0 sends to rank 1 is kept until rank 1 has rank 0's ready message. But that waits behind
-- it, whatever communicator the program used: so it never comes first.
situation("attempt: a ready message overtakes", {
  program = "mixture", arguments = { "--iterations", 24 }, expect = { cover = { "R.clear" } },
  plan = function(p)
    p:hold { message = "applicationMessage", from = 0, to = 1, nth = 20, attempt = true,
             release = { rank = 1, event = "clear", peer = 0, epoch = 1 } }
  end,
})

-- The ready messages come one after the other, the last when all others have come long before.
situation("ready messages come one by one", {
  plan = function(p)
    p:hold { message = "readyMessage", from = 1, to = 0, epoch = 1,
             release = { rank = 0, event = "clear", peer = 2, epoch = 1 } }
    p:hold { message = "readyMessage", from = 0, to = 2, epoch = 1, after = "start",
             release = { rank = 2, event = "clear", peer = 1, epoch = 1 } }
  end,
})

-- ---- the notification ---------------------------------------------------------------------------

-- Rank 2 is stopped in the call until it has been sent the notification (the third that the central
-- instance sends), so that is there when the call goes on.
for _, call in ipairs { "MPI_Send", "MPI_Isend" } do
  situation("the notification comes during an " .. call, {
    expect = { cover = { "R.atomic" } },
    plan = function(p)
      p:stop { rank = 2, event = "send", call = call, nth = EVERY,
               release = { rank = 0, event = "phase", name = "cocheck:after-send-notification",
                           nth = RANKS } }
    end,
  })
end

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
