-- Messages that are under way at the cut, forced, on every kind of channel: each is kept until its
-- receiver has taken its state, and then belongs to the state of the channel. The line is begun
-- inside a call: so many looks at the network behind a potential checkpoint of rank 0. Then a rank
-- is killed, and the message is handed over from what was recorded.

local EVERY, STEPS, LINE = 4, 40, 1

local function situation(name, fields)
  fields.protocol, fields.ranks = "chandy_lamport", 3
  fields.environment = fields.environment or { CHANDY_EVERY = EVERY, CHANDY_STEPS = STEPS }
  fields.claims, fields.expect = { "H", "S" }, { cover = fields.cover or { "S.channel" } }
  fields.cover = nil
  scenario(name)(fields)
end

-- The message is kept, the line is committed, a rank dies, and all is as it was.
local function crosses(message)
  return function(p)
    message.release = { rank = message.to, event = "checkpoint", epoch = LINE }
    p:hold(message)
    p:kill { rank = message.from, at = { rank = 0, event = "commit", epoch = LINE } }
  end
end

-- ---- ring: who waits for the token takes its state inside its receive -------------------------

local lap = { "--iterations", 8 }
for from, to in pairs { [0] = 1, [1] = 2, [2] = 0 } do
  situation(("the token, from %d to %d"):format(from, to), {
    program = "ring", arguments = lap,
    plan = crosses { from = from, to = to, nth = EVERY + 1 },
  })
end

situation("the token, in two lines one after the other", {
  program = "ring", arguments = { "--iterations", 12 },
  plan = function(p)
    for line = 1, 2 do
      p:hold { from = 1, to = 2, nth = EVERY + 1,
               release = { rank = 2, event = "checkpoint", epoch = line } }
    end
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 2 } }
  end,
})

-- ---- mixture: every way to send and to receive ------------------------------------------------

-- Identities of its communicators with three ranks, as `faultline trace` prints them.
local EARLY, STREAM = "b272e608", "ddd782d9"

-- Name → which message; all are sent about when the line is begun.
local kinds = {
  ["a standard send, for a receive that is posted"] = { from = 0, to = 1, tag = 126 },
  ["a standard send, found by a matched probe"] = { from = 1, to = 2, tag = 127 },
  ["a synchronous send, while a matched probe waits"] = { from = 0, to = 1, tag = 119, comm = EARLY },
  ["a buffered send, received with any tag"] = { from = 1, to = 2, comm = STREAM, nth = 8 },
  ["a blocking send, received from any source"] = { from = 2, to = 1, tag = 1, nth = 3 },
  ["a blocking send on another communicator"] = { from = 2, to = 1, tag = 3, comm = EARLY },
  ["a persistent send and receive"] = { from = 2, to = 0, tag = 4, nth = 3 },
}
for name, message in pairs(kinds) do
  situation("mixture: " .. name, {
    program = "mixture", arguments = { "--iterations", 9 }, plan = crosses(message),
  })
end

-- Of these Faultline is not told: they are no messages of the program. That all is as it was without
-- them in the state of the channel would be luck.
situation("mixture: the acknowledgement of a synchronous send", {
  program = "mixture", arguments = { "--iterations", 9 }, cover = {},
  plan = crosses { message = "acknowledgement", from = 1, to = 0 },
})
situation("cg: a part of a collective call", {
  program = "cg", arguments = { "--iterations", 9, "--size", 16 }, cover = {},
  plan = crosses { message = "collective", from = 1, to = 2, nth = 2 * EVERY + 1 },
})

-- What is here already, in front of no receive or in the hands of one, is recorded at the cut.
situation("pipeline: messages that have come and are not handed over", {
  program = "pipeline", arguments = { "--iterations", 9 },
  plan = function(p)
    p:await { rank = 1, event = "recorded", epoch = LINE }
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = LINE } }
  end,
})

-- A line at every potential checkpoint: what is received two iterations after it was sent is in the
-- state of a channel twice.
situation("mixture: a line at once behind another", {
  program = "mixture", arguments = { "--iterations", 9 }, environment = { CHANDY_EVERY = 1 },
  plan = function(p)
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 3 } }
    p:kill { rank = 2, at = { rank = 0, event = "commit", epoch = 5 } }
  end,
})
