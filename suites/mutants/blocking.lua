-- Situations for mutants of the blocking protocol (suites/protocols/blocking/mutants); the protocol
-- itself passes them.

local function situation(name, fields)
  fields.protocol, fields.ranks = "blocking", 3
  scenario(name)(fields)
end

-- The last rank is slow, so rank 0 counts what a fast rank sends after its checkpoint.
local slow = { "--slow-us", 10000 }

situation("tally: ranks meet, no fault", {
  program = "tally", arguments = slow, claims = { "H", "B" },
})
situation("tally: ranks meet, rank 1 dies", {
  program = "tally", arguments = slow, claims = { "H", "B" },
  plan = function(p) p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 1 } } end,
})
situation("laplace: power failure after a commit", {
  program = "laplace", claims = { "H", "B", "C.restore" },
  plan = function(p)
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 2 }, lose = "node" }
  end,
})
