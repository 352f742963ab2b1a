-- Messages that are under way at the cut, forced, on every kind of channel: a message of rank 0 is
-- kept until its receiver has taken its state, and then belongs to the state of the channel. Then
-- a rank is killed, and the message is handed over from what was recorded. Rank 0 begins the line
-- behind the message, at its potential checkpoint or so many looks at the network later.

local LINE = 1

local function situation(name, every, fields)
  fields.protocol, fields.ranks = "chandy_lamport", 3
  fields.environment = { CHANDY_EVERY = every, CHANDY_STEPS = fields.steps }
  fields.claims, fields.expect = { "H", "S" }, { cover = fields.cover or { "S.channel" } }
  fields.cover, fields.steps = nil, nil
  scenario(name)(fields)
end

-- The message is kept, the line is committed, a rank dies, and all is as it was.
local function crosses(message)
  return function(p)
    message.from = 0
    message.release = { rank = message.to, event = "checkpoint", epoch = LINE }
    p:hold(message)
    p:kill { rank = message.to, at = { rank = 0, event = "commit", epoch = LINE } }
  end
end

-- ---- ring: who waits for the token takes its state inside its receive -------------------------

local EVERY, STEPS = 4, 8

situation("ring: the token", EVERY, {
  program = "ring", arguments = { "--iterations", 8 }, steps = STEPS,
  plan = crosses { to = 1, nth = EVERY + 1 },
})

-- ---- mixture: every way to send and to receive ------------------------------------------------

-- Identities of its communicators with three ranks, as `faultline trace` prints them.
local EARLY, STREAM = "b272e608", "ddd782d9"
local MIXTURE = { "--iterations", 10 }

-- Name, lines, and which message: one of the last iteration before the line.
local kinds = {
  { "a receive that is posted", 5, { to = 1, tag = 126 } },
  { "a receive that is posted, from any source", 6, { to = 1, tag = 130 } },
  { "a blocking receive from any source", 5, { to = 1, tag = 1, nth = 2 } },
  { "a receive with any tag, a buffered send", 5, { to = 1, comm = STREAM, nth = 8 } },
  { "a probe, on another communicator", 6, { to = 2, tag = 133, comm = EARLY } },
  { "a buffered send without content", 6, { to = 1, tag = 131, comm = EARLY } },
  { "a persistent send and receive", 5, { to = 1, tag = 4, nth = 3 } },
}
for _, kind in ipairs(kinds) do
  situation("mixture: " .. kind[1], kind[2],
    { program = "mixture", arguments = MIXTURE, plan = crosses(kind[3]) })
end

-- What is here already, in front of no receive or in the hands of one, is recorded at the cut.
local function is_kept(recorded)
  return function(p)
    recorded.event, recorded.epoch = "recorded", LINE
    p:await(recorded)
    p:kill { rank = recorded.rank, at = { rank = 0, event = "commit", epoch = LINE } }
  end
end

situation("mixture: a synchronous send that has come, for a matched probe", 4, {
  program = "mixture", arguments = MIXTURE, plan = is_kept { rank = 0, peer = 1, tag = 120 },
})
situation("mixture: a message to oneself", 5, {
  program = "mixture", arguments = MIXTURE, plan = is_kept { rank = 0, peer = 0 },
})

-- A line at every potential checkpoint: what is received two iterations after it was sent is in the
-- state of a channel twice.
situation("mixture: a line at once behind another", 1, {
  program = "mixture", arguments = MIXTURE,
  plan = function(p)
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 3 } }
    p:kill { rank = 2, at = { rank = 0, event = "commit", epoch = 5 } }
  end,
})

-- ---- what is no message of the program ---------------------------------------------------------

situation("mixture: the acknowledgement of a synchronous send", 6, {
  program = "mixture", arguments = MIXTURE, cover = {},
  plan = crosses { message = "acknowledgement", to = 1 },
})

-- The last of an iteration: the result of its second MPI_Allreduce. Three of each, and one before.
situation("cg: a part of a collective call", EVERY, {
  program = "cg", arguments = { "--iterations", 9, "--size", 16 }, cover = {},
  plan = crosses { message = "collective", to = 1, nth = 3 * EVERY + 1 },
})
