-- Programs drawn from seeds (suites/programs/drawn), under each protocol, with and without deaths.
-- Nothing is broken: none may end in anything but a pass. `--seed` of the run draws others;
-- `make drawn` runs 10,000 under each protocol. What a protocol refuses is switched off. In one of
-- three runs some ranks go far ahead of others for a while, and messages are long on their way; in
-- one of three a rank does much in a row; of four programs two leave out some features and use
-- others often.

local PROGRAMS = 25 -- under each protocol

local POLICIES = { "skewed", "bursts" } -- by turns; every third program has none: at random

local random = math.random
local function varied(number) return number // 2 % 2 end -- where neighbours differ in the policy
local function chance(percent) return random(100) <= percent end

local protocols = {
  { "blocking", "BLOCKING", { "B", "H" },
    { "--crossing", 0, "--changing", 0, "--outstanding", 0 } },
  { "c3", "C3", { "C", "D", "H", "-H.synchronous" }, -- README.md of C3: probes end such sends
    { "--inter", 0, "--constructors", 8, "--properties", 1 } },
  { "chandy_lamport", "CHANDY", { "S", "H" },
    { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0, "--constructors", 3 } },
  { "cocheck", "COCHECK", { "R", "H" },
    { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0, "--constructors", 3 } },
}

local function environment(name, variable, every)
  local settings = { [variable .. "_EVERY"] = every }
  if name == "c3" then
    settings.C3_PIGGYBACK = chance(50) and "epoch" or "color"
    settings.C3_COLLECTIVE_BITS = ({ "separate", "piggyback", "auto" })[random(3)]
  elseif name == "chandy_lamport" then
    settings.CHANDY_STEPS = random(0, 5)
  end
  return settings
end

-- A call of the program in which a rank dies, which has so many iterations left; or one at the
-- wire, so that it may lie between any two steps of the protocol. Most programs make more calls:
-- some ten in an iteration, and under most protocols four at the wire for each.
local function somewhere(rank, iterations)
  local calls = chance(30) and 20 or 6 * iterations
  local wire = chance(30)
  return { rank = rank, event = "call", level = wire and "wire" or "app",
           nth = random(wire and 3 * calls or calls) }
end

-- A death in every life but the last: early in it, or some calls after a line is committed, of
-- which there is one every so many iterations. One that is not reached makes the run vacuous, no
-- failure.
local function deaths(iterations, every)
  return function(p)
    local line, lines = 0, (iterations - 1) // every
    for _ = 1, random(0, 3) do
      if line < lines and chance(70) then
        line = random(line + 1, line + (lines - line + 1) // 2)
        p:await { event = "commit", epoch = line }
      end
      p:kill(somewhere(random(0, p.ranks - 1), iterations - line * every))
    end
  end
end

for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    local name, variable, claims, off = table.unpack(protocol)
    local iterations, every = random(10, 60), random(2, 7)
    local arguments = { "--seed", random(1000000000), "--iterations", iterations,
                        "--varied", varied(number),
                        "--size", chance(3) and 3000 or random(60), table.unpack(off) }
    scenario(("%s: program %d"):format(name, number)) {
      protocol = name, program = "drawn", arguments = arguments, claims = claims,
      policy = POLICIES[number % 3],
      ranks = chance(5) and random(6, 16) or random(2, 5),
      environment = environment(name, variable, every),
      max_incarnations = 8, timeout = 60, plan = deaths(iterations, every),
    }
  end
end

-- Where messages are logged one rank dies when all have come out of MPI_Init, and the others live
-- on; in some, others die later, or the same again, each when the process that took the place of
-- the one before lives on. Messages may be long on their way. Communicators that are made ahead of
-- checkpoint_restore are refused.
local function deaths_of_one(p, protocol, iterations, every)
  local process = {} -- of each rank
  if chance(50) then p:jitter { ms = random(5) } end
  for rank = 0, p.ranks - 1 do
    process[rank] = rank
    p:await { rank = rank, event = "call", nth = 2 }
  end
  local count = chance(60) and 1 or random(2, 3)
  for death = 1, count do
    local left = iterations
    if death == 1 and chance(70) then
      local line = random(math.min(3, (iterations - 1) // every))
      p:await { event = "saved", epoch = line }
      left = iterations - line * every
    end
    local rank = random(0, p.ranks - 1)
    p:kill(somewhere(process[rank], left))
    process[rank] = p.ranks + death - 1
    if death < count then
      p:await { rank = process[rank], event = "phase", name = protocol .. ":lives-on" }
    end
  end
end

local function arguments(number, iterations)
  return { "--seed", random(1000000000), "--iterations", iterations, "--varied", varied(number),
           "--size", chance(3) and 3000 or random(60),
           "--communicators", random(0, 1), "--late", 1, "--inter", 0,
           "--persistent-collectives", 0, "--outstanding", 0,
           "--made", random(0, 1), "--constructors", random(0, 3) }
end

for _, protocol in ipairs { "scmel", "pessimistic", "camel" } do
  for number = 1, PROGRAMS do
    local iterations, every = random(10, 60), random(2, 7)
    scenario(("%s: program %d"):format(protocol, number)) {
      protocol = protocol, program = "drawn", claims = { "H", "M" },
      arguments = arguments(number, iterations),
      policy = POLICIES[number % 3],
      ranks = chance(5) and random(6, 16) or random(2, 5),
      environment = { [protocol:upper() .. "_EVERY"] = every },
      engine = "step", survivors = true, timeout = 60,
      plan = function(p) deaths_of_one(p, protocol, iterations, every) end,
    }
  end
end

-- Under replication a process of each of some ranks dies.
for number = 1, PROGRAMS do
  local ranks, iterations = random(2, 4), random(10, 60)
  scenario(("replication: program %d"):format(number)) {
    protocol = "replication", program = "drawn", claims = { "H", "P" },
    arguments = arguments(number, iterations),
    policy = POLICIES[number % 3],
    ranks = 2 * ranks, reserve = ranks, engine = "step", survivors = true, timeout = 60,
    plan = function(p)
      for rank = 0, ranks - 1 do
        if chance(50) then
          p:kill(somewhere(rank + random(0, 1) * ranks, iterations))
        end
      end
    end,
  }
end
