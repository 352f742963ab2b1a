-- SCMEL, broken on purpose (suites/protocols/scmel/broken/), and the claim that finds it. A
-- scenario here passes only when exactly that violation is found. Orphans and lost payloads are
-- found without any death: the oracle asks of every moment what would be if somebody died then.

local function broken(variant, program, claim, name, plan)
  scenario(variant .. ": " .. name) {
    protocol = "scmel-" .. variant, program = program, ranks = 4, engine = "step", survivors = true,
    arguments = { "--iterations", 8 }, environment = { SCMEL_EVERY = 4 },
    claims = { claim }, expect = { violates = claim }, plan = plan,
  }
end

broken("no-determinants", "master_worker", "M.orphan", "nobody else knows the order")
broken("acked-unstored", "master_worker", "M.orphan", "nobody else knows the order")
broken("dropped-early", "master_worker", "M.replay", "another rank has not saved itself yet")
broken("log-forgotten", "ring", "M.replay", "nobody can send it again")

broken("order-ignored", "master_worker", "M.order", "answers come in another order", function(p)
  p:kill { rank = 0, event = "call", level = "wire", nth = 140 }
end)

broken("duplicates-kept", "ring", "M.stale", "the next rank has what is sent again", function(p)
  p:kill { rank = 1, event = "call", level = "wire", nth = 100 }
end)
