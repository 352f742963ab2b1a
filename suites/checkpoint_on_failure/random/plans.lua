-- 500 random plans over checkpoint on failure (`make random-checkpoint_on_failure`): one to four
-- ranks die at random calls, each in the life that comes to it, two of them perhaps at once, and
-- one perhaps while the others save. A plan may ask for a call that does not come, and nothing may
-- be saved.
local PLANS = 500
local RANKS_LEAST, RANKS_MOST, DEATHS_MOST, CALLS_LEAST, CALLS_MOST = 2, 6, 4, 3, 50
local programs = { "laplace", "ring", "cg", "neuron" }

local random = math.random

for number = 1, PLANS do
  local ranks, program = random(RANKS_LEAST, RANKS_MOST), programs[random(#programs)]
  local deaths = {}
  for i = 1, random(DEATHS_MOST) do
    local rank = random(ranks) - 1
    deaths[i] = { rank = rank, other = (rank + random(ranks - 1)) % ranks, kind = random(6),
      nth = random(CALLS_LEAST, CALLS_MOST), call = random(20) }
  end
  scenario(("plan %d: %s"):format(number, program)) {
    protocol = "checkpoint_on_failure", program = program, ranks = ranks, engine = "step",
    survivors = true, max_incarnations = 2 * DEATHS_MOST + 1,
    arguments = { "--iterations", random(4, 12), "--size", 60 },
    claims = { "H", "U", "K" },
    plan = function(p)
      for _, death in ipairs(deaths) do
        local at = { rank = death.rank, event = "call", level = "wire", nth = death.nth }
        if death.kind == 1 and ranks > 2 then
          p:kill { ranks = { death.rank }, at = { rank = death.other, event = "call",
            level = "wire", nth = death.nth } }
        else
          p:kill(at)
        end
        if death.kind == 2 then
          p:await { rank = death.other, event = "phase", name = "checkpoint_on_failure:shrunk" }
          p:kill { rank = death.other, event = "call", level = "wire", nth = death.call }
        end
      end
    end,
  }
end
