-- The program `roots` drawn from seeds: many collective calls at once, with many roots, on several
-- communicators, with deaths soon after lines. Under C3 none of them blocks: it refuses a barrier
-- while another call is under way. Where messages are logged, see deaths.lua.

local PROGRAMS = 10 -- under each protocol

local random = math.random
local function chance(percent) return random(100) <= percent end

for number = 1, PROGRAMS do
  for _, protocol in ipairs {
    { name = "c3", variable = "C3", claims = { "C", "D", "H" } },
    { name = "chandy_lamport", variable = "CHANDY", claims = { "S", "H" } },
    { name = "cocheck", variable = "COCHECK", claims = { "R", "H" } },
  } do
    scenario(("%s: roots %d"):format(protocol.name, number)) {
      protocol = protocol.name, program = "roots", claims = protocol.claims,
      arguments = { "--seed", random(1000000000), "--iterations", random(12, 30),
                    "--calls", random(3, 8), "--communicators", random(4),
                    "--messages", random(0, 2),
                    "--blocking", protocol.name == "c3" and 0 or random(0, 1) },
      policy = number % 2 == 1 and "skewed" or nil,
      ranks = random(2, 6), environment = { [protocol.variable .. "_EVERY"] = random(4) },
      engine = "step", max_incarnations = 8, timeout = 60,
      plan = function(p)
        p:jitter { ms = random(10) }
        for life = 1, random(3) do
          p:await { event = "commit", epoch = life, after = life == 1 and "start" or nil }
          p:kill { rank = random(0, p.ranks - 1), event = "call",
                   nth = random(chance(70) and 20 or 100) }
        end
      end,
    }
  end
end
