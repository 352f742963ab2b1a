-- The program `tokens`, whose every step depends on what nobody determines, drawn from seeds, with
-- deaths soon after lines. In some runs a message about a line is held until another rank has made
-- some calls. `--seed` of the run draws others.

local PROGRAMS = 10 -- under each protocol

local COLLECTIVE_BITS = { "auto", "separate", "piggyback" }
local POLICIES = { "skewed", "bursts" } -- by turns; every third program has none: at random

local random = math.random
local function chance(percent) return random(100) <= percent end
local function one_of(list) return list[random(#list)] end

-- Tokens of one program in five are longer than C3 copies (COPY_BYTES).
local function arguments(number, rounds, off)
  return { "--numbers", number % 5 == 0 and 2300 or 0, "--seed", random(1000000000),
           "--iterations", rounds, "--tokens", random(3),
           "--hops", random(4, 20), "--potentials", random(2, 8),
           "--synchronous", random(0, 1), "--persistent", random(0, 1),
           "--cancels", random(0, 1), "--matched-probes", random(0, 1), table.unpack(off) }
end

local protocols = {
  { name = "c3", variable = "C3", claims = { "C", "D", "H", "-H.synchronous" },
    told = { "pleaseCheckpoint", "stopLogging", "mySendCount" },
    rank_0 = { "readyToStopLogging", "stoppedLogging" },
    off = function() return { "--splits", random(0, 1), "--outstanding", random(0, 1) } end },
  { name = "chandy_lamport", variable = "CHANDY", claims = { "S", "H" },
    told = { "marker" }, rank_0 = { "done" },
    off = function() return { "--splits", random(0, 1) } end },
  { name = "cocheck", variable = "COCHECK", claims = { "R", "H" },
    told = { "notification", "readyMessage", "resume" }, rank_0 = { "saved" },
    off = function() return { "--splits", random(0, 1) } end },
}

local function hold_one(p, protocol, line)
  local to_rank_0 = #protocol.rank_0 > 0 and chance(30)
  local rank = to_rank_0 and 0 or random(p.ranks - 1)
  p:hold { message = one_of(to_rank_0 and protocol.rank_0 or protocol.told), to = rank,
           from = to_rank_0 and random(p.ranks - 1) or nil, epoch = line, attempt = true,
           after = "start", release = { rank = (rank + random(p.ranks - 1)) % p.ranks,
                                        event = "call", nth = random(60) } }
end

for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    scenario(("%s: tokens %d"):format(protocol.name, number)) {
      protocol = protocol.name, program = "tokens", claims = protocol.claims,
      arguments = arguments(number, random(2, 6), protocol.off()),
      policy = POLICIES[number % 3],
      ranks = chance(80) and random(2, 4) or random(5, 8),
      environment = {
        [protocol.variable .. "_EVERY"] = random(3),
        C3_PIGGYBACK = protocol.name == "c3" and one_of { "epoch", "color" } or nil,
        C3_COLLECTIVE_BITS = protocol.name == "c3" and COLLECTIVE_BITS[number % 3 + 1] or nil,
      },
      max_incarnations = 8, timeout = 60,
      plan = function(p)
        for life = 1, random(3) do
          if chance(50) then hold_one(p, protocol, life) end
          p:await { event = "commit", epoch = life, after = life == 1 and "start" or nil }
          p:kill { rank = random(0, p.ranks - 1), event = "call",
                   nth = random(chance(70) and 20 or 100) }
        end
      end,
    }
  end
end

-- Where messages are logged a rank dies once or twice, and the others live on. These protocols let
-- a rank wait in its checkpoint until all have come there, so none may wait for its tokens.
local function between_rounds(number) return arguments(number, random(4, 12), { "--inside", 0 }) end

for _, protocol in ipairs { "scmel", "pessimistic", "camel" } do
  for number = 1, PROGRAMS do
    scenario(("%s: tokens %d"):format(protocol, number)) {
      protocol = protocol, program = "tokens", claims = { "H", "M" },
      arguments = between_rounds(number),
      policy = POLICIES[number % 3],
      ranks = chance(80) and random(2, 4) or random(5, 8),
      environment = { [protocol:upper() .. "_EVERY"] = random(3) },
      engine = "step", survivors = true, timeout = 60,
      plan = function(p)
        local process = {} -- of each rank
        if chance(50) then p:jitter { ms = random(5) } end
        for rank = 0, p.ranks - 1 do
          process[rank] = rank
          p:await { rank = rank, event = "call", nth = 2 }
        end
        if chance(70) then p:await { event = "saved", epoch = random(2) } end
        local deaths = random(2)
        for death = 1, deaths do
          local rank = random(0, p.ranks - 1)
          p:kill { rank = process[rank], event = "call", nth = random(chance(70) and 20 or 100) }
          process[rank] = p.ranks + death - 1
          if death < deaths then
            p:await { rank = process[rank], event = "phase", name = protocol .. ":lives-on" }
          end
        end
      end,
    }
  end
end

-- Under replication a process of each of some ranks dies.
for number = 1, PROGRAMS do
  local ranks = random(2, 4)
  scenario(("replication: tokens %d"):format(number)) {
    protocol = "replication", program = "tokens", claims = { "H", "P" },
    arguments = between_rounds(number),
    policy = POLICIES[number % 3],
    ranks = 2 * ranks, reserve = ranks, engine = "step", survivors = true, timeout = 60,
    plan = function(p)
      for rank = 0, ranks - 1 do
        if chance(50) then
          p:kill { rank = rank + random(0, 1) * ranks, event = "call", nth = random(100) }
        end
      end
    end,
  }
end
