-- Chandy-Lamport, broken on purpose (suites/protocols/chandy_lamport/broken/), and the claims that
-- find it. Each plan brings about the situation in which the mistake shows, and a scenario passes
-- only when exactly that violation is found. `ring`: a token goes from 0 to 1 to 2 to 0; rank 0
-- takes its state at its potential checkpoint, or STEPS looks at the network after it.

local EVERY, STEPS, LINE = 6, 8, 1

local function broken(variant, name, claim, fields)
  fields.protocol, fields.program, fields.ranks = "chandy_lamport-" .. variant, "ring", 3
  fields.arguments = { "--iterations", 2 * EVERY - 1 }
  fields.claims, fields.expect = { claim }, { violates = claim }
  fields.environment = { CHANDY_EVERY = EVERY, CHANDY_STEPS = fields.steps }
  fields.steps = nil
  scenario(variant .. ": " .. name)(fields)
end

broken("markers-late", "the token is ahead of the marker", "S.cut", {})

broken("first-marker-ends-all", "the token comes after the marker of another", "S.channel", {
  steps = STEPS,
  plan = function(p)
    p:hold { from = 0, to = 1, nth = EVERY + 1,
             release = { rank = 1, event = "clear", peer = 2, epoch = LINE } }
  end,
})

broken("marker-ends-nothing", "the token comes after the marker of its channel", "S.channel", {
  plan = function(p)
    p:hold { message = "marker", from = 2, to = 1, epoch = LINE,
             release = { rank = 1, event = "deliver", peer = 0,
                         state = { rank = 0, region = "logging", line = LINE } } }
  end,
})

broken("done-alone", "a rank waits for a marker when the line is committed", "S.done", {
  plan = function(p)
    p:hold { message = "marker", from = 1, to = 2, epoch = LINE,
             release = { rank = 0, event = "commit", epoch = LINE } }
  end,
})
