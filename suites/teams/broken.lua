-- Team-based message logging, broken on purpose (suites/protocols/teams/broken/), and the claim
-- that finds it. A scenario here passes only when exactly that violation is found. Orphans and lost
-- payloads are found without any death: the oracle asks of every moment what would be if a team
-- failed then.

local function broken(variant, program, claim, name, plan)
  scenario(variant .. ": " .. name) {
    protocol = "teams-" .. variant, program = program, ranks = 4, engine = "step", survivors = true,
    arguments = { "--iterations", 8 },
    environment = { TEAMS_EVERY = 4, TEAMS_SIZE = 2 }, max_incarnations = 2,
    claims = { claim }, expect = { violates = claim }, plan = plan,
  }
end

local function dies(rank, nth)
  return function(p) p:kill { rank = rank, event = "call", level = "wire", nth = nth } end
end

broken("unlogged", "ring", "M.replay", "nobody can send it again")
broken("stored-inside", "pipeline", "M.orphan", "the next team depends on it")
broken("not-passed-on", "pipeline", "M.orphan", "the next team depends on it")
broken("not-again", "ring", "H.progress", "the other one of the team waits for it", dies(2, 120))
broken("alone", "laplace", "H.progress", "what the other one had sent does not come again",
  dies(2, 120))
broken("everybody-leaves", "ring", "M.local", "two ranks of another team", dies(1, 120))
broken("others-restore", "laplace", "M.local", "all have just saved themselves", function(p)
  p:kill { rank = 1, event = "phase", name = "teams:after-drop" }
end)
broken("own-line", "laplace", "H.progress", "one of the team has saved the line, one has not",
  function(p)
    p:kill { rank = 3, at = { rank = 2, event = "phase", name = "teams:after-checkpoint" } }
  end)
