-- CoCheck, broken on purpose (suites/protocols/cocheck/broken/), and the claims that find it. Each
-- plan brings about the situation in which the mistake shows, and a scenario passes only when
-- exactly that violation is found.

local RANKS, EVERY = 3, 6

local function broken(variant, name, claim, fields)
  fields.protocol, fields.ranks = "cocheck-" .. variant, RANKS + (fields.reserve or 0)
  fields.program = fields.program or "pipeline"
  fields.arguments = fields.arguments or { "--iterations", 12 }
  fields.environment = { COCHECK_EVERY = EVERY, COCHECK_SKELETONS = fields.reserve,
                         COCHECK_MIGRATE = fields.moves }
  fields.moves = nil
  fields.claims, fields.expect = { claim }, { violates = claim }
  scenario(variant .. ": " .. name)(fields)
end

-- ---- ready messages -----------------------------------------------------------------------------

-- What rank 0 has sent to rank 1 in the last iteration before the line is under way until rank 1
-- has taken its checkpoint.
local function under_way(p)
  p:hold { message = "applicationMessage", from = 0, to = 1, nth = EVERY,
           release = { rank = 1, event = "checkpoint", epoch = 1 } }
end
broken("ready-apart", "a ready message overtakes a message", "R.clear", { plan = under_way })
broken("cut-before-flush", "what is under way is not in the state", "R.clear", {
  plan = function(p)
    p:hold { message = "applicationMessage", from = 0, to = 1, nth = EVERY,
             release = { rank = 1, event = "notified", epoch = 1 } }
  end,
})
broken("flush-one-short", "a rank does not wait for the last ready message", "R.clear", {
  plan = function(p)
    p:hold { message = "readyMessage", from = 0, to = 1, epoch = 1,
             release = { rank = 1, event = "checkpoint", epoch = 1 } }
  end,
})

-- ---- sends --------------------------------------------------------------------------------------

-- Rank 0 is told in the first call after the potential checkpoint at which it asks for the line.
-- Here that is MPI_Send, or MPI_Startall.
broken("notified-in-send", "the notification is acted on in a send", "R.atomic",
  { program = "ring" })
broken("startall-not-atomic", "the notification is acted on in MPI_Startall", "R.atomic",
  { program = "mixture" })

-- ---- the buffer ---------------------------------------------------------------------------------

-- Rank 0 takes in messages of ranks 1 and 2, whichever comes first. When the line is made it has
-- some of rank 1's in its buffer, for it is stopped at its first receive until rank 1 has sent more
-- than it takes in until then; and after recovery until rank 1 has sent again. Where rank 1 had
-- sent all that before the stop, nothing more tells: it lasts AT_MOST_MS then. Rank 1 sends for so
-- long that it has not sent everything when the line is made, however slow the machine is.
local AT_MOST_MS = 3000
local function wildcards(p)
  p:stop { rank = 0, event = "recv", ms = AT_MOST_MS,
           release = { rank = 1, event = "send", call = "MPI_Send", nth = 3 * EVERY } }
  p:kill { rank = 2, at = { event = "commit", epoch = 1 } }
  p:stop { rank = 0, event = "recv", incarnation = 1, ms = AT_MOST_MS,
           release = { rank = 1, event = "send", call = "MPI_Send", nth = EVERY } }
end
for variant, name in pairs {
  ["buffer-reversed"] = "after recovery the newest message comes first",
  ["network-first"] = "after recovery messages of the network come first",
} do
  broken(variant, name, "R.buffer",
    { program = "tally", arguments = { "--iterations", 100, "--compute-us", 15000 },
      plan = wildcards })
end

-- ---- addresses ----------------------------------------------------------------------------------

broken("old-address", "a rank that has moved is sent to where it was, too", "R.address",
  { program = "ring", reserve = 1, moves = "1@1" })
