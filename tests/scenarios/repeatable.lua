-- What could differ between two runs: the order of pairs, random numbers, unstable sorting,
-- addresses in texts. All of it goes into plans here.
local names = {}
local set = { send = 1, recv = 2, wait = 3, probe = 4, collective = 5, [1] = 6, [true] = 7 }
for name in pairs(set) do
  names[#names + 1] = name
end

local equal = {}
for i = 1, 500 do equal[i] = { key = i % 3, tag = i } end
table.sort(equal, function(a, b) return a.key < b.key end)
for i = 2, #equal do
  local a, b = equal[i - 1], equal[i]
  assert(a.key < b.key or (a.key == b.key and a.tag < b.tag), "table.sort is stable")
end

local function draws_and_kill(extra)
  return function(p)
    for _ = 1, extra do math.random() end
    for _, name in ipairs(names) do
      if type(name) == "string" then
        p:kill { rank = math.random(0, 3), event = name, nth = math.random(1, 1000000) }
      end
    end
    for i = 1, 100 do p:await { event = "send", tag = equal[i].tag } end
    p:await { event = "phase", name = tostring({}) .. string.format(" %s %s", print, {}) }
  end
end

for i = 1, 3 do
  scenario("drawn " .. i) {
    protocol = "null", program = "ring", ranks = 4, plan = draws_and_kill(i == 2 and 1 or 0),
  }
end
