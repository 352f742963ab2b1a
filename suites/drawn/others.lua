-- Programs other than `drawn` and `tokens`, with arguments drawn from seeds and deaths soon after
-- lines: `roots`, with many collective calls at once, many roots and several communicators; and
-- `pipeline` in one direction, where the first rank hears nothing from the program; and short jobs
-- whose only line is begun at the end. Where messages are logged, see deaths.lua.

local PROGRAMS = 10 -- of each kind, under each protocol

local POLICIES = { "skewed", "bursts" } -- by turns; every third program has none: at random

local random = math.random
local function chance(percent) return random(100) <= percent end

local protocols = { -- asks: the message that tells a rank of a line
  { name = "c3", variable = "C3", asks = "pleaseCheckpoint",
    claims = { "C", "D", "H", "-H.synchronous" } },
  { name = "chandy_lamport", variable = "CHANDY", asks = "marker",
    claims = { "S", "H" } },
  { name = "cocheck", variable = "COCHECK", asks = "notification",
    claims = { "R", "H" } },
}

local function of(protocol, claims, kind, number, program, arguments)
  scenario(("%s: %s %d"):format(protocol.name, kind, number)) {
    protocol = protocol.name, program = program, claims = claims, arguments = arguments,
    policy = POLICIES[number % 3],
    ranks = random(2, 6), environment = { [protocol.variable .. "_EVERY"] = random(4) },
    engine = "step", max_incarnations = 8, timeout = 60,
    plan = function(p)
      p:jitter { ms = random(10) }
      for life = 1, random(3) do
        p:await { event = "commit", after = life == 1 and "start" or nil }
        p:kill { rank = random(0, p.ranks - 1), event = "call",
                 nth = random(chance(70) and 20 or 100) }
      end
    end,
  }
end

-- Under C3 no collective call blocks: it refuses a barrier while another call is under way.
for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    of(protocol, protocol.claims, "roots", number, "roots",
      { "--seed", random(1000000000), "--iterations", random(12, 30), "--calls", random(3, 8),
        "--communicators", random(4), "--messages", random(0, 2),
        "--blocking", protocol.name == "c3" and 0 or random(0, 1) })
  end
end

for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    of(protocol, { "H" }, "one way", number, "pipeline",
      { "--one-way", 1, "--iterations", random(60, 150), "--synchronous", 1,
        "--size", chance(70) and random(3, 40) or 3000 })
  end
end

-- The only line is begun at the last potential checkpoint, or at the one before it, when other
-- ranks may have gone past theirs. In some a rank does not hear of it until it is in MPI_Finalize.
for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    local iterations = random(3, 6)
    scenario(("%s: one line at the end %d"):format(protocol.name, number)) {
      protocol = protocol.name, program = "roots", claims = protocol.claims,
      policy = POLICIES[number % 3],
      ranks = random(2, 5),
      environment = { [protocol.variable .. "_EVERY"] = iterations - random(0, 1) },
      arguments = { "--seed", random(1000000000), "--iterations", iterations,
                    "--communicators", random(2), "--messages", random(0, 2) },
      engine = "step", timeout = 60,
      plan = function(p)
        p:jitter { ms = random(5) }
        local late = random(p.ranks - 1)
        if chance(60) then
          p:hold { message = protocol.asks, to = late, attempt = true,
                   release = { rank = late, event = "phase",
                               name = protocol.name .. ":after-finish" } }
        end
      end,
    }
  end
end
