-- Messages that are under way at the cut, forced, on every kind of channel: a message of rank 0 is
-- kept until its receiver has taken its state, and then belongs to the state of the channel. Then
-- a rank is killed, and the message is handed over from what was recorded. Rank 0 begins the line
-- after the message, at its potential checkpoint or so many looks at the network later.

cover { "H", "S", { fault = "hold", role = "initiator" },
  { fault = "kill", role = "participant", phase = "chandy_lamport:after-receive-marker" } }

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

-- What rank 0 sends after its state stays after its marker, however late that comes: it is not
-- received before the receiver has taken its own.
situation("ring: attempt, the token overtakes a marker", EVERY, {
  program = "ring", arguments = { "--iterations", 12 }, cover = { "S.cut" },
  plan = function(p)
    p:hold { message = "marker", to = 1, count = 2, epoch = LINE, attempt = true,
             release = { rank = 1, event = "deliver", peer = 0,
                         state = { rank = 0, region = "logging", line = LINE } } }
  end,
})

-- ---- pipeline: every ordered pair of ranks ------------------------------------------------------

-- Rank 0 has sent what it keeps back before it begins the line. Where another keeps something back
-- rank 0 is stopped ahead of the line until that is sent.
local function between(from, to)
  local message = { from = from, to = to, nth = EVERY, after = "start",
                    release = { rank = to, event = "checkpoint", epoch = LINE } }
  return function(p)
    if from == 0 then
      p:hold(message)
    else
      local stopped = p:stop { rank = 0, event = "phase", name = "chandy_lamport:before-initiate" }
      message.nth = EVERY + 1
      p:hold(message)
      p:release(stopped)
    end
    p:await { rank = to, event = "recorded", peer = from, epoch = LINE }
    p:kill { rank = from, at = { rank = 0, event = "commit", epoch = LINE } }
  end
end

for from = 0, 2 do
  for to = 0, 2 do
    if from ~= to then
      situation(("pipeline: from rank %d to rank %d"):format(from, to), EVERY, {
        program = "pipeline", arguments = { "--iterations", 2 * EVERY, "--size", 16 },
        plan = between(from, to),
      })
    end
  end
end

-- ---- mixture: every way to send and to receive ------------------------------------------------

-- Identities of its communicators with three ranks, as `faultline trace` prints them.
local EARLY, STREAM = "b272e608", "ddd782d9"
local MIXTURE = { "--iterations", 10 }

-- Name, potential checkpoints before the line, and which message: one of the last iteration there.
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

-- Everything in a channel waits after its first message: all that the iteration sends to rank 1.
situation("mixture: three communicators after each other, and their tags", 6, {
  program = "mixture", arguments = MIXTURE,
  plan = function(p)
    p:hold { from = 0, to = 1, tag = 130,
             release = { rank = 1, event = "checkpoint", epoch = LINE } }
    for _, after in ipairs { { "world", 130 }, { EARLY, 131 }, { "world", 132 }, { STREAM, 12 },
                              { STREAM, 11 } } do
      p:await { rank = 1, event = "recorded", peer = 0, comm = after[1], tag = after[2],
                epoch = LINE }
    end
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = LINE } }
  end,
})

-- In another plan of the program: the send is complete only in the second life of the job.
situation("mixture: a synchronous send of structures, for a probe on another communicator", 4, {
  program = "mixture", arguments = { "--iterations", 10, "--seed", 6 },
  plan = crosses { to = 1, tag = 119, comm = EARLY },
})

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
situation("mixture: a line at once after another", 1, {
  program = "mixture", arguments = { "--iterations", 14 },
  plan = function(p)
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 3 } }
    p:kill { rank = 2, at = { rank = 0, event = "commit", epoch = 5 } }
  end,
})

-- The others have their communicators, and the first line is under way, before this rank has made
-- its own: what comes through them must be told all the same.
situation("mixture: a rank that is late with its communicators", 1, {
  program = "mixture", arguments = MIXTURE,
  plan = function(p)
    p:hold { message = "collective", from = 0, to = 2, ms = 20 }
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = LINE } }
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

-- ---- the end of a line -------------------------------------------------------------------------

-- Rank 3 is no child of the initiator in the tree: all below are done before its marker comes.
scenario("ring: attempt, the initiator has still to record one channel") {
  protocol = "chandy_lamport", program = "ring", ranks = 4, claims = { "H", "S" },
  arguments = { "--iterations", 12 }, environment = { CHANDY_EVERY = 4 },
  plan = function(p)
    p:hold { message = "marker", from = 3, to = 0, epoch = LINE, attempt = true, ms = 300,
             release = { rank = 0, event = "commit", epoch = LINE } }
  end,
}
