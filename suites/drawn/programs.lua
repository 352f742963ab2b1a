-- Programs drawn from seeds (suites/programs/drawn), under each protocol, with and without deaths.
-- Nothing is broken: none may end in anything but a pass. `--seed` of the run draws others;
-- `make drawn` runs 10,000 under each protocol. What a protocol refuses is switched off.

local PROGRAMS = 25 -- under each protocol

local random = math.random
local function chance(percent) return random(100) <= percent end

local protocols = {
  { "blocking", "BLOCKING", { "B", "H" }, { "--crossing", 0, "--changing", 0 } },
  { "c3", "C3", { "C", "D", "H" }, { "--inter", 0 } },
  { "chandy_lamport", "CHANDY", { "S", "H" }, { "--inter", 0, "--persistent-collectives", 0 } },
  { "cocheck", "COCHECK", { "R", "H" }, { "--inter", 0, "--persistent-collectives", 0 } },
}

local function environment(name, variable)
  local settings = { [variable .. "_EVERY"] = random(2, 7) }
  if name == "c3" then
    settings.C3_PIGGYBACK = chance(50) and "epoch" or "color"
    settings.C3_COLLECTIVE_BITS = ({ "separate", "piggyback", "auto" })[random(3)]
  elseif name == "chandy_lamport" then
    settings.CHANDY_STEPS = random(0, 5)
  end
  return settings
end

-- A death in every life but the last: early in it, or some calls after a line is committed. One
-- that is not reached makes the run vacuous, no failure.
local function deaths(p)
  for death = 1, random(0, 3) do
    if chance(70) then p:await { event = "commit", epoch = random(death, 2 * death) } end
    p:kill { rank = random(0, p.ranks - 1), event = "call", nth = random(chance(30) and 20 or 150) }
  end
end

for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    local name, variable, claims, off = table.unpack(protocol)
    local arguments = { "--seed", random(1000000000), "--iterations", random(10, 60),
                        "--size", chance(10) and 3000 or random(60), table.unpack(off) }
    scenario(("%s: program %d"):format(name, number)) {
      protocol = name, program = "drawn", arguments = arguments, claims = claims,
      ranks = chance(10) and random(6, 16) or random(2, 5),
      environment = environment(name, variable),
      max_incarnations = 8, timeout = 60, plan = deaths,
    }
  end
end

-- Under SCMEL one rank dies when all have come out of MPI_Init, and the others live on.
-- Communicators that are made ahead of checkpoint_restore are refused.
local function death(p)
  for rank = 0, p.ranks - 1 do p:await { rank = rank, event = "call", nth = 2 } end
  if chance(70) then p:await { event = "saved", epoch = random(3) } end
  p:kill { rank = random(0, p.ranks - 1), event = "call", nth = random(chance(30) and 20 or 150) }
end

for number = 1, PROGRAMS do
  scenario(("scmel: program %d"):format(number)) {
    protocol = "scmel", program = "drawn", claims = { "H", "M" },
    arguments = { "--seed", random(1000000000), "--iterations", random(10, 60),
                  "--size", chance(10) and 3000 or random(60),
                  "--communicators", 0, "--persistent-collectives", 0 },
    ranks = chance(10) and random(6, 16) or random(2, 5),
    environment = { SCMEL_EVERY = random(2, 7) },
    engine = "step", survivors = true, timeout = 60, plan = death,
  }
end
