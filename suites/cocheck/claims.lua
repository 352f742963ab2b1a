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
-- message per iteration to each other, and rank 0 asks for the line after the one whose number is
-- EVERY. Where another sends it, rank 0 is stopped ahead of the line until the next one is on its
-- way: that it cannot wait for before it comes to the line.
local function between(from, to)
  local message = { message = "applicationMessage", from = from, to = to, nth = EVERY,
                    after = "start", release = { rank = to, event = "notified", epoch = 1 } }
  return function(p)
    if from == 0 then
      p:hold(message)
    else
      local stopped = p:stop { rank = 0, event = "phase", name = "cocheck:before-send-request" }
      message.nth = EVERY + 1
      p:hold(message)
      p:release(stopped)
    end
    p:await { rank = to, event = "recorded", peer = from, epoch = 1 }
    p:kill { rank = (to + 1) % RANKS, at = { rank = 0, event = "commit", epoch = 1 } }
  end
end

for from = 0, RANKS - 1 do
  for to = 0, RANKS - 1 do
    if from ~= to then
      situation(("under way at the line: %d to %d"):format(from, to), {
        dies = true, expect = { cover = { "R.clear", "R.buffer" } }, plan = between(from, to),
      })
    end
  end
end

-- In a mixture, by its seed: on which of its communicators (their identities as `faultline trace`
-- prints them), with which tag, how it is sent and how it is received. A line is asked for after
-- so many iterations, and what is kept is a message of the last of them.
local EARLY, STREAM = "b272e608", "ddd782d9"
for _, kind in ipairs {
  { "a receive that is posted", 5, { to = 1, tag = 126 } },
  { "a receive that is posted, from any source", 6, { to = 1, tag = 130 } },
  { "a blocking receive from any source", 5, { to = 1, tag = 1, nth = 2 } },
  { "a receive with any tag, a buffered send", 5, { to = 1, comm = STREAM, nth = 8 } },
  { "a probe, on another communicator", 6, { to = 2, tag = 133, comm = EARLY } },
  { "a buffered send without content", 6, { to = 1, tag = 131, comm = EARLY } },
  { "a persistent send and receive", 5, { to = 1, tag = 4, nth = 3 } },
  { "a synchronous send of structures, for a probe", 4, { to = 1, tag = 119, comm = EARLY }, 6 },
} do
  local name, every, message, seed = table.unpack(kind)
  situation("under way at the line: " .. name, {
    program = "mixture", arguments = { "--iterations", 10, "--seed", seed or 1 }, every = every,
    dies = true, expect = { cover = { "R.clear", "R.buffer" } },
    plan = function(p)
      message.from, message.release = 0, { rank = message.to, event = "notified", epoch = 1 }
      p:hold(message)
      p:await { rank = message.to, event = "recorded", peer = 0, epoch = 1 }
      p:kill { rank = message.to, at = { rank = 0, event = "commit", epoch = 1 } }
    end,
  })
end

-- All that an iteration sends to rank 1, on three communicators, waits after its first message.
situation("under way at the line: three communicators after each other, and their tags", {
  program = "mixture", arguments = { "--iterations", 10 }, every = 6, dies = true,
  expect = { cover = { "R.clear", "R.buffer" } },
  plan = function(p)
    p:hold { from = 0, to = 1, tag = 130, release = { rank = 1, event = "notified", epoch = 1 } }
    for _, after in ipairs { { "world", 130 }, { EARLY, 131 }, { "world", 132 }, { STREAM, 12 },
                              { STREAM, 11 } } do
      p:await { rank = 1, event = "recorded", peer = 0, comm = after[1], tag = after[2],
                epoch = 1 }
    end
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 1 } }
  end,
})

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
-- after it, whatever communicator the program used: so it never comes first.
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

-- Rank 1 is stopped as it enters the first such call after the potential checkpoint at which rank
-- 0 asks for the line; rank 0 asks after that, and rank 1 goes on when all have been told.
local function message_note_inside(call, nth)
  return function(p)
    local asks = p:stop { rank = 0, event = "phase", name = "cocheck:before-send-request" }
    local sends = p:stop { rank = 1, event = "send", call = call, nth = nth, after = "start" }
    p:release(asks)
    p:await { rank = 0, event = "phase", name = "cocheck:after-send-notification", nth = RANKS }
    p:release(sends)
  end
end

local function notified_in(call, program, fields)
  fields.program, fields.expect = program, { cover = { "R.atomic" } }
  situation("the notification comes during " .. call, fields)
end
notified_in("MPI_Send", "tally", { plan = message_note_inside("MPI_Send", EVERY + 1) })
notified_in("MPI_Isend", "laplace", { plan = message_note_inside("MPI_Isend", 2 * EVERY + 1) })
notified_in("MPI_Startall", "mixture", {
  plan = function(p)
    p:await { rank = 0, event = "phase", name = "cocheck:after-receive-notification",
              within = "MPI_Startall" }
  end,
})

-- Rank 2 is stopped ahead of its receive, so rank 1 waits for the match of its synchronous send;
-- then rank 0 asks for the line. Rank 1 makes it with the message sent and not matched.
notified_in("MPI_Ssend", "mixture", {
  arguments = { "--iterations", 20, "--seed", 5 }, dies = true,
  plan = function(p)
    p:stop { rank = 2, event = "recv", call = "MPI_Recv", tag = 3, peer = 1,
             release = { rank = 1, event = "notified", epoch = 1 } }
    local asks = p:stop { rank = 0, event = "phase", name = "cocheck:before-send-request",
                          after = "start" }
    p:await { rank = 1, event = "send", call = "MPI_Ssend", after = "start" }
    p:release(asks)
    p:await { rank = 1, event = "notified", epoch = 1, within = "MPI_Ssend" }
    p:kill { rank = 2, at = { rank = 0, event = "commit", epoch = 1 } }
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
