-- 500 random plans over the stack of two libraries (`make random-stack`): one to three ranks die at
-- random calls, new processes too, one of them perhaps in a repair, and somebody lives. A plan may
-- ask for a call that does not come.
local PLANS = 500
local RANKS_LEAST, RANKS_MOST, DEATHS_MOST, CALLS_LEAST, CALLS_MOST = 2, 6, 3, 3, 50

local random = math.random

for number = 1, PLANS do
  local ranks = random(RANKS_LEAST, RANKS_MOST)
  local mortal, deaths = {}, {}
  for rank = 0, ranks - 1 do table.insert(mortal, random(#mortal + 1), rank) end
  for i = 1, random(math.min(DEATHS_MOST, ranks - 1)) do
    deaths[i] = { rank = mortal[i], event = "call", level = "wire",
      nth = random(CALLS_LEAST, CALLS_MOST) }
  end
  -- The first process that comes later.
  if random(3) == 1 then
    table.insert(deaths, { rank = ranks, event = "call", level = "wire", nth = random(CALLS_MOST) })
  end
  local in_repair = #deaths > 1 and deaths[2].rank < ranks and random(2) == 1
  scenario(("plan %d: stack"):format(number)) {
    program = "stack", protocol = "null", ranks = ranks, engine = "step", survivors = true,
    arguments = { "--iterations", random(8) },
    claims = { "U", "H.orphan", "H.duplicate", "H.payload", "H.order", "H.result" },
    plan = function(p)
      for i, death in ipairs(deaths) do
        if i == 2 and in_repair then
          p:await { rank = death.rank, event = "phase", name = "stack:shrunk" }
          death.nth = random(10)
        end
        p:kill(death)
      end
    end,
  }
end
