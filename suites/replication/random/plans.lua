-- 500 random plans over replication (`make random-replication`): one to four processes die at
-- random calls or points, two of them perhaps at once. Where both of a rank die that is
-- unsupported. A plan may ask for a call that does not come.
local PLANS = 500
local RANKS_LEAST, RANKS_MOST, DEATHS_MOST, CALLS_LEAST, CALLS_MOST = 2, 5, 4, 3, 200
local programs = {
  { "laplace", 4, 12 }, { "ring", 4, 12 }, { "master_worker", 2, 6 }, { "mixture", 2, 5 },
  { "collectives", 2, 5 }, { "tally", 4, 12 },
}
local points = { "before-tell", "after-tell", "before-send", "mid-send", "takes-over",
  "before-finish", "before-done", "after-finish" }

local random = math.random

for number = 1, PLANS do
  local ranks, program = random(RANKS_LEAST, RANKS_MOST), programs[random(#programs)]
  local deaths = {}
  for i = 1, random(DEATHS_MOST) do
    local rank = random(2 * ranks) - 1
    deaths[i] = { rank = rank, other = (rank + random(2 * ranks - 1)) % (2 * ranks),
      kind = random(4), nth = random(CALLS_LEAST, CALLS_MOST), point = points[random(#points)],
      times = random(4) }
  end
  scenario(("plan %d: %s"):format(number, program[1])) {
    protocol = "replication", program = program[1], ranks = 2 * ranks, reserve = ranks,
    engine = "step", survivors = true,
    arguments = { "--iterations", random(program[2], program[3]) }, claims = { "H", "P" },
    plan = function(p)
      for _, death in ipairs(deaths) do
        if death.kind == 1 then
          p:kill { ranks = { death.rank }, at = { rank = death.other, event = "call",
            level = "wire", nth = death.nth } }
        elseif death.kind == 2 then
          p:kill { rank = death.rank, event = "phase", name = "replication:" .. death.point,
            nth = death.times }
        else
          p:kill { rank = death.rank, event = "call", level = "wire", nth = death.nth }
        end
      end
    end,
  }
end
