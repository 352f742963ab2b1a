-- 500 random plans over master and worker (`make random-master_worker_ulfm`): any number of workers
-- die, and of a master with a standby one of the two. A plan may ask for a call that does not come.
local PLANS = 500
local RANKS_LEAST, RANKS_MOST, TASKS_MOST, CALLS_MOST = 3, 6, 24, 24

local random = math.random

for number = 1, PLANS do
  local ranks, standby, inter = random(RANKS_LEAST, RANKS_MOST), random(0, 1), random(0, 1)
  local leaders = standby + 1
  local mortal = {}
  if standby == 1 and random(3) > 1 then mortal[1] = random(0, 1) end
  for worker = leaders, ranks - 1 do
    if random(3) == 1 then table.insert(mortal, random(#mortal + 1), worker) end
  end
  if #mortal == 0 then mortal[1] = leaders end
  local deaths = {}
  for i, rank in ipairs(mortal) do
    deaths[i] = { rank = rank, event = "call", level = "wire", nth = random(3, CALLS_MOST) }
  end
  local name = inter == 1 and "intercommunicators" or "ulfm"
  scenario(("plan %d: %s"):format(number, name)) {
    program = "master_worker_ulfm", protocol = "null", ranks = ranks, engine = "step",
    survivors = true,
    arguments = { "--size", random(TASKS_MOST), "--standby", standby, "--inter", inter },
    claims = { "H", "U", "W" },
    plan = function(p) for _, death in ipairs(deaths) do p:kill(death) end end,
  }
end
