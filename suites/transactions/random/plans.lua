-- 500 random plans over transactions (`make random-transactions`): one to four processes die at
-- random calls or points, two of them perhaps at once, new processes too. A plan may ask for a call
-- that does not come.
local PLANS = 500
local RANKS_LEAST, RANKS_MOST, DEATHS_MOST, CALLS_LEAST, CALLS_MOST = 2, 6, 4, 3, 60
local programs = { "laplace", "ring" }
local points = { "shrunk", "before-write", "mid-write", "before-rename", "after-rename",
  "mid-commit", "before-commit-rename", "after-commit-rename" }

local random = math.random

for number = 1, PLANS do
  local ranks, program = random(RANKS_LEAST, RANKS_MOST), programs[random(#programs)]
  local deaths = {}
  for i = 1, random(DEATHS_MOST) do
    -- New processes have the numbers after those of the first.
    local rank = random(ranks + i - 1) - 1
    deaths[i] = { rank = rank, other = (rank + random(ranks - 1)) % ranks, kind = random(4),
      nth = random(CALLS_LEAST, CALLS_MOST), point = points[random(#points)], times = random(4) }
  end
  scenario(("plan %d: %s"):format(number, program)) {
    protocol = "transactions", program = program, ranks = ranks, engine = "step", survivors = true,
    max_incarnations = DEATHS_MOST + 1, -- all may have died
    arguments = { "--iterations", random(4, 12), "--size", 60 }, claims = { "H", "U", "T" },
    plan = function(p)
      for _, death in ipairs(deaths) do
        if death.kind == 1 and ranks > 2 and death.rank < ranks then
          p:kill { ranks = { death.rank }, at = { rank = death.other, event = "call",
            level = "wire", nth = death.nth } }
        elseif death.kind == 2 then
          p:kill { rank = death.rank, event = "phase", name = "transactions:" .. death.point,
            nth = death.times }
        else
          p:kill { rank = death.rank, event = "call", level = "wire", nth = death.nth }
        end
      end
    end,
  }
end
