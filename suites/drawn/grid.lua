-- Programs drawn from seeds for the grid (`make grid`): three lives and more, each with the first
-- lines or with a dozen, and messages that are long on their way, so that every feature comes to
-- every place against a line. `--seed` of the run draws others.

local PROGRAMS = 4 -- of each kind, under each protocol

local POLICIES = { "skewed", "bursts" } -- by turns; every third program has none: at random

local random = math.random

local protocols = {
  { "blocking", "BLOCKING", { "B", "H" },
    { "--crossing", 0, "--changing", 0, "--outstanding", 0 } },
  { "c3", "C3", { "C", "D", "H", "-H.synchronous" }, { "--inter", 0, "--constructors", 8 } },
  { "chandy_lamport", "CHANDY", { "S", "H" },
    { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0, "--constructors", 3 } },
  { "cocheck", "COCHECK", { "R", "H" },
    { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0, "--constructors", 3 } },
}

-- Name, potential checkpoints per line, lines in each of the first two lives, steps, further deaths
-- in the second life, calls after the line within which a rank dies (60). The last has lives in
-- which a line that never ends is overdue (H.line); that is not judged where messages are kept.
local kinds = {
  { "the first lines", 12, 2, 100, 0 },
  { "a dozen lines", 2, 12, 100, 0 },
  { "a line each step", 1, 3, 60, 0 },
  { "deaths between lines", 6, 2, 60, 2 },
  { "a line in each life", 1, 1, 60, 0, 4 },
  { "long lives", 3, 1, 160, 0 },
}
local LONG = kinds[#kinds]

local function program(protocol, kind, number)
  local name, variable, claims, off = table.unpack(protocol)
  local what, every, lines, steps, more, soon = table.unpack(kind)
  scenario(("%s: %s %d"):format(name, what, number)) {
    protocol = name, program = "drawn", ranks = random(3, 5), claims = claims,
    policy = POLICIES[number % 3],
    arguments = { "--seed", random(1000000000), "--size", 12,
                  "--iterations", steps * (name == "c3" and 2 or 1), -- its lines take longer
                  "--received", random(3) > 1 and random(0, 6) or -1, "--any-tag", random(2),
                  table.unpack(off) },
    environment = { [variable .. "_EVERY"] = every,
                    C3_PIGGYBACK = name == "c3" and ({ "epoch", "color" })[number % 2 + 1] or nil },
    timeout = 120,
    plan = function(p)
      if kind ~= LONG then p:jitter { ms = name == "chandy_lamport" and 10 or 2 } end
      for life = 1, 2 do
        p:await { event = "commit", epoch = life * lines }
        for _ = 0, life == 1 and more or 0 do
          p:kill { rank = random(0, p.ranks - 1), event = "call", nth = random(soon or 60) }
        end
      end
      p:await { event = "commit", epoch = 3 * lines }
    end,
  }
end

for number = 1, PROGRAMS do
  for _, kind in ipairs(kinds) do
    for _, protocol in ipairs(protocols) do program(protocol, kind, number) end
  end
end

-- Receives of what nobody sends, cancelled in one step and completed in the next, so that lines lie
-- in between.
for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    local name, variable, claims, off = table.unpack(protocol)
    if name ~= "blocking" then
      scenario(("%s: cancelled receives %d"):format(name, number)) {
        protocol = name, program = "drawn", ranks = random(3, 5), claims = claims,
        policy = POLICIES[number % 3],
        arguments = { "--seed", random(1000000000), "--size", 12, "--iterations", 60,
                      "--nothing-ahead", 1, table.unpack(off) },
        environment = { [variable .. "_EVERY"] = 1 }, timeout = 120,
        plan = function(p)
          p:jitter { ms = name == "chandy_lamport" and 10 or 2 }
          for life = 1, 3 do
            p:await { event = "commit", epoch = 2 * life }
            p:kill { rank = random(0, p.ranks - 1), event = "call", nth = random(20) }
          end
        end,
      }
    end
  end
end
