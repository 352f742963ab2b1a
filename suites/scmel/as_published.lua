-- Algorithm 1 of [CM] as it is printed (protocols/scmel/broken/as-published), where what it does
-- is not what the paper claims. Each is the smallest job that shows it; the protocol's README says
-- why.

local function shows(name, claim, program, ranks, iterations, plan)
  scenario(name) {
    protocol = "scmel-as-published", program = program, ranks = ranks, engine = "step",
    survivors = true, arguments = { "--iterations", iterations },
    environment = { SCMEL_EVERY = 4 }, claims = { claim }, expect = { violates = claim },
    plan = plan,
  }
end

-- Whoever has not stored its checkpoint yet goes back to the one before if it dies. Nobody need die
-- for the oracle to see it.
shows("lines 22 to 27: the log is emptied before the checkpoint is stored", "M.replay", "ring", 2,
  4)

-- Two workers answer; what the second had sent was not taken when the first process died, and comes
-- to the new one ahead of what the first worker sends again.
shows("lines 11 to 14: what has no receive sequence number yet is not out of order", "M.order",
  "master_worker", 3, 8, function(p)
    p:kill { rank = 0, event = "call", level = "wire", nth = 184 }
  end)
