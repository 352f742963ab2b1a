-- 500 random plans over FT-MPI's modes (`make random-ft_mpi`): one to three ranks die at random
-- calls, one of them perhaps in a repair, and somebody lives. A plan may ask for a call that does
-- not come.
local PLANS = 500
local RANKS_LEAST, RANKS_MOST, DEATHS_MOST, CALLS_LEAST, CALLS_MOST = 2, 6, 3, 6, 26
local modes = { "blank", "shrink", "replace" }

local random = math.random

for number = 1, PLANS do
  local ranks, mode = random(RANKS_LEAST, RANKS_MOST), modes[random(#modes)]
  local mortal, deaths = {}, {}
  for rank = 0, ranks - 1 do table.insert(mortal, random(#mortal + 1), rank) end
  for i = 1, random(math.min(DEATHS_MOST, ranks - 1)) do
    deaths[i] = { rank = mortal[i], event = "call", level = "wire",
      nth = random(CALLS_LEAST, CALLS_MOST) }
  end
  local in_repair = #deaths > 1 and random(2) == 1
  scenario(("plan %d: %s"):format(number, mode)) {
    protocol = "ft_mpi", program = "regroup", ranks = ranks, engine = "step", survivors = true,
    environment = { FT_MPI_MODE = mode }, arguments = { "--iterations", random(8) },
    claims = { "U", "F", "H.orphan", "H.duplicate", "H.payload", "H.result" },
    plan = function(p)
      for i, death in ipairs(deaths) do
        if i == 2 and in_repair then
          p:await { rank = death.rank, event = "phase", name = "ft_mpi:shrunk" }
          death.nth = random(8)
        end
        p:kill(death)
      end
    end,
  }
end
