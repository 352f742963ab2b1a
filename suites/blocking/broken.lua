-- The blocking protocol, broken on purpose in four ways (suites/protocols/blocking/broken/), and
-- the claims that find it. A scenario here passes only when exactly that violation is found.

local function broken(variant, name, fields)
  fields.protocol, fields.ranks = "blocking-" .. variant, 3
  scenario(variant .. ": " .. name)(fields)
end

-- The last rank is slow, so rank 0 counts what a fast rank sends after its checkpoint: slow enough
-- that a fast rank has saved line 1 on any disk before the slow one has come to it.
local slow = { "--slow-us", 10000 }

broken("no-barrier", "messages cross the line", {
  program = "tally", arguments = slow,
  claims = { "B" }, expect = { violates = "B.empty" },
})

for claim, what in pairs {
  ["H.orphan"] = "after a restart rank 0 has counted what nobody has sent",
  ["H.loss"] = "after a restart nobody sends again what rank 0 has not counted",
  ["H.result"] = "after a restart the sum is wrong",
} do
  broken("no-barrier", what, {
    program = "tally", arguments = slow,
    claims = { claim }, expect = { violates = claim },
    plan = function(p) p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 1 } } end,
  })
end

-- A commit that does not wait for the checkpoints promises what is not there.
broken("commit-before-save", "a crash in between leaves nothing to recover from", {
  program = "laplace", claims = { "H.progress" }, expect = { violates = "H.progress" },
  plan = function(p)
    p:kill { rank = 1, event = "phase", name = "blocking:before-write", nth = 2 }
  end,
})

-- All but rank 0 have written line 2, so they go on from it, and rank 0 from line 1.
broken("restore-uncommitted", "ranks live on from different lines", {
  program = "tally", claims = { "H.progress" }, expect = { violates = "H.progress" },
  plan = function(p)
    p:kill { rank = 0, event = "phase", name = "blocking:before-write", nth = 2 }
  end,
})

broken("stale-piece", "a restart forgets how warm the plate is", {
  program = "laplace", claims = { "H" }, expect = { violates = "H.result" },
  plan = function(p) p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 2 } } end,
})
