-- CoCheck, broken on purpose (suites/protocols/cocheck/broken/), and the claims that find it. Each
-- plan brings about the situation in which the mistake shows, and a scenario passes only when exactly
-- that violation is found.

local RANKS, EVERY = 3, 6

local function broken(variant, name, claim, fields)
  fields.protocol, fields.ranks = "cocheck-" .. variant, fields.ranks or RANKS
  fields.program = fields.program or "pipeline"
  fields.arguments = fields.arguments or { "--iterations", 12 }
  fields.environment = fields.environment or {}
  fields.environment.COCHECK_EVERY = EVERY
  fields.claims, fields.expect = { claim }, { violates = claim }
  scenario(variant .. ": " .. name)(fields)
end

-- What rank 0 has sent to rank 1 is under way until the line is over for rank 1.
local function under_way(p)
  p:hold { message = "applicationMessage", from = 0, to = 1, nth = 2 * EVERY - 2,
           release = { rank = 1, event = "checkpoint", epoch = 1 } }
end
broken("ready-apart", "a ready message overtakes a message", "R.clear", { plan = under_way })
broken("flush-one-short", "a rank does not wait for the last ready message", "R.clear", {
  plan = function(p)
    p:hold { message = "readyMessage", from = 0, to = 1, epoch = 1,
             release = { rank = 1, event = "checkpoint", epoch = 1 } }
  end,
})

broken("notified-in-send", "the notification is acted on in a send", "R.atomic", {
  plan = function(p)
    p:hold { message = "notification", to = 1, epoch = 1,
             release = { rank = 1, event = "send", call = "MPI_Send" } }
  end,
})

local function recover(p) p:kill { rank = 2, at = { event = "commit", epoch = 1 } } end
broken("buffer-reversed", "after recovery the newest message comes first", "R.buffer",
  { plan = recover })
broken("network-first", "after recovery messages of the network come first", "R.buffer",
  { plan = recover })

broken("old-address", "a rank that has moved is sent to where it was", "R.address", {
  program = "ring", ranks = RANKS + 1, timeout = 5,
  environment = { COCHECK_SKELETONS = 1, COCHECK_MIGRATE = "1@1" },
})
