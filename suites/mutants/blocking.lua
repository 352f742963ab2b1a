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

-- Ranks remember what nobody determines. Two have saved a line that is not committed when the third
-- dies; in the next life it comes otherwise, and the job goes back to the line made anew.
for number = 1, 3 do
  situation("states of one life, program " .. number, {
    program = "drawn", claims = { "B", "H" }, environment = { BLOCKING_EVERY = 3 },
    arguments = { "--seed", number, "--iterations", 24, "--size", 5, "--testimony", 2,
                  "--crossing", 0, "--changing", 0, "--outstanding", 0 },
    plan = function(p)
      p:jitter { ms = 5 }
      p:kill { rank = 0, at = { rank = 1, event = "saved", epoch = 2 } }
      p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 2 } }
    end,
  })
end
