-- 500 random plans over the product, the factorisation and Jacobi's iteration
-- (`make random-abft`): as many die as is promised, with a checksum one, of Jacobi's iteration all
-- but one. A plan may ask for a call that does not come.
local PLANS = 500
local RANKS_LEAST, RANKS_MOST, SIZE_MOST, CALLS_MOST = 2, 6, 3, 40

local methods = { [0] = "product", "factorisation", "jacobi" }
local random = math.random

for number = 1, PLANS do
  local ranks, method, size = random(RANKS_LEAST, RANKS_MOST), random(0, 2), random(SIZE_MOST)
  local mortal = { random(0, ranks - 1) }
  for other = 0, ranks - 1 do
    local more = method == 2 and #mortal < ranks - 1 and other ~= mortal[1]
    if more and random(3) == 1 then table.insert(mortal, other) end
  end
  local deaths = {}
  for i, rank in ipairs(mortal) do
    deaths[i] = { rank = rank, event = "call", level = "wire", nth = random(3, CALLS_MOST) }
  end
  scenario(("plan %d: %s"):format(number, methods[method])) {
    program = "abft", protocol = "null", ranks = ranks, engine = "step", survivors = true,
    arguments = { "--method", method, "--size", size }, claims = { "A", "H", "U" },
    plan = function(p) for _, death in ipairs(deaths) do p:kill(death) end end,
  }
end
