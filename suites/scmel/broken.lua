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

broken("sent-is-stored", "pipeline", "M.orphan", "what is sent to another comes first")
broken("log-acknowledged", "ring", "M.replay", "nobody can send it again")

broken("order-ignored", "master_worker", "M.order", "answers come in another order", function(p)
  p:kill { rank = 0, event = "call", level = "wire", nth = 96 }
end)
broken("neighbours-swapped", "master_worker", "M.order", "the first two answers", function(p)
  p:kill { rank = 0, event = "call", level = "wire", nth = 140 }
end)

broken("duplicates-kept", "ring", "M.stale", "the next rank has what is sent again", function(p)
  p:kill { rank = 1, event = "call", level = "wire", nth = 100 }
end)
broken("old-accepted", "ring", "M.stale", "it dies when it has just sent something", function(p)
  p:kill { rank = 1, event = "send", level = "wire", nth = 7, position = "after" }
end)

broken("survivors-restore", "laplace", "M.local", "all have just saved themselves", function(p)
  p:kill { rank = 1, event = "phase", name = "scmel:after-drop" }
end)
broken("restored-again", "ring", "M.local", "the line is read twice", function(p)
  p:kill { rank = 1, event = "phase", name = "scmel:after-drop" }
end)
broken("newcomer-restores", "leanmd", "M.local", "it has died before", function(p)
  p:kill { rank = 1, event = "phase", name = "scmel:after-drop" }
  p:await { rank = 4, event = "phase", name = "scmel:before-halt" }
  p:kill { rank = 2, event = "phase", name = "scmel:after-drop" }
end)

-- A process in reserve takes the place.
local RANKS, RESERVE = 4, 1
scenario("reserve-place-forgotten: messages still go to the dead process") {
  protocol = "scmel-reserve-place-forgotten", program = "laplace", ranks = RANKS + RESERVE,
  reserve = RESERVE, engine = "step", survivors = true,
  arguments = { "--iterations", 8, "--size", 16 },
  environment = { SCMEL_EVERY = 3, SCMEL_RESERVE = RESERVE },
  claims = { "H.progress" }, expect = { violates = "H.progress" },
  plan = function(p) p:kill { rank = 1, event = "send", level = "wire", nth = 36 } end,
}
