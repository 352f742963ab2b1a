-- Programs drawn from seeds, under plans that hold messages while a line is made: one in which the
-- protocol tells of the line, or one of the program. It is let go when a rank has come to a later
-- event of that line or of the next, or when its receiver makes a call while another rank has taken
-- its checkpoint. Where the protocol makes that impossible, it is let go when the job cannot go on
-- otherwise. Ranks die when a line is committed, or in the next one, some soon after a message is
-- held. `--seed` of the run draws others.

local PROGRAMS = 10 -- under each protocol

local COLLECTIVE_BITS = { "auto", "separate", "piggyback" }
local POLICIES = { "skewed", "bursts" } -- by turns; every third program has none: at random

local random = math.random
local function chance(percent) return random(100) <= percent end
local function one_of(list) return list[random(#list)] end

-- `told` and `rank_0`: the messages about a line, by their names in wire.lua, that the protocol
-- sends to ranks other than 0, and to rank 0 alone. `events`: what each rank tells of a line.
local protocols = {
  { name = "c3", variable = "C3", claims = { "C", "D", "H", "-H.synchronous" }, testimony = 1,
    told = { "pleaseCheckpoint", "stopLogging", "mySendCount" },
    rank_0 = { "readyToStopLogging", "stoppedLogging" },
    events = { "checkpoint", "saved", "stop-log", "commit" },
    off = { "--inter", 0, "--too-long", 1, "--constructors", 8 } },
  { name = "chandy_lamport", variable = "CHANDY", claims = { "S", "H" }, testimony = 2,
    told = { "marker" }, rank_0 = { "done" }, events = { "checkpoint", "saved", "commit" },
    off = { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0,
            "--constructors", 3 } },
  { name = "cocheck", variable = "COCHECK", claims = { "R", "H" }, testimony = 2,
    told = { "notification", "readyMessage", "resume" }, rank_0 = { "saved" },
    events = { "checkpoint", "saved", "commit" },
    off = { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0,
            "--constructors", 3 } },
}

local function other_than(p, rank) return (rank + random(p.ranks - 1)) % p.ranks end

-- When a message to `rank` is let go.
local function release_of(p, protocol, rank, line)
  local who = chance(50) and rank or other_than(p, rank)
  local kind = random(4)
  if kind == 1 then
    return { rank = who, event = one_of(protocol.events), epoch = line + random(0, 1) }
  elseif kind == 2 then
    return { rank = who, event = "call", nth = random(30) }
  end
  local ahead = { rank = other_than(p, rank), region = one_of { "logging", "beyond" }, line = line }
  if kind == 3 then
    return { rank = rank, event = one_of { "deliver", "wait", "collective", "probe" },
             nth = random(4), state = ahead }
  end
  return { state = ahead }
end

-- Holds one or two messages: about this line, or of the program. Returns the step of the last.
local function hold_messages(p, protocol, line)
  local held
  for _ = 1, random(2) do
    local hold = { attempt = true, after = "start" }
    local kind, rank = random(10), random(0, p.ranks - 1)
    if kind <= 5 then
      rank = random(p.ranks - 1)
      hold.message, hold.to, hold.epoch = one_of(protocol.told), rank, line
    elseif kind <= 7 and #protocol.rank_0 > 0 then
      rank, hold.from = 0, random(p.ranks - 1)
      hold.message, hold.to, hold.epoch = one_of(protocol.rank_0), rank, line
    else
      hold.from, hold.to = other_than(p, rank), rank
      hold.nth = random(30)
    end
    hold.release = release_of(p, protocol, rank, line)
    held = p:hold(hold)
  end
  return held
end

-- A message of the next life, one of the first between two ranks, comes late.
local function hold_in_recovery(p, died)
  local to = random(0, p.ranks - 1)
  p:hold { from = other_than(p, to), to = to, nth = random(6), attempt = true, after = died,
           release = { rank = to, event = "call", nth = random(60) } }
end

for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    scenario(("%s: held messages %d"):format(protocol.name, number)) {
      protocol = protocol.name, program = "drawn", claims = protocol.claims,
      policy = POLICIES[number % 3], ranks = random(2, 5),
      arguments = { "--seed", random(1000000000), "--varied", number // 2 % 2,
                    "--iterations", random(40, 70), "--size", random(20),
                    "--testimony", random(0, protocol.testimony), "--hinted", random(0, 1),
                    "--started-again", random(0, 1), "--made", random(0, 1),
                    "--replaced", random(0, 1), "--sought", random(0, 1),
                    "--greeted", number % 5 == 0 and 1 or 0,
                    "--outside", number % 5 == 4 and 1 or 0,
                    table.unpack(protocol.off) },
      environment = {
        [protocol.variable .. "_EVERY"] = random(3),
        C3_PIGGYBACK = protocol.name == "c3" and one_of { "epoch", "color" } or nil,
        C3_COLLECTIVE_BITS = protocol.name == "c3" and COLLECTIVE_BITS[number % 3 + 1] or nil,
      },
      max_incarnations = 8, timeout = 60,
      plan = function(p)
        local line, died = 1, "start"
        hold_messages(p, protocol, line)
        for _ = 1, random(2) do
          local committed = p:await { event = "commit", epoch = line, after = died }
          local rank = random(0, p.ranks - 1)
          line = line + 1
          local how = random(10)
          if how <= 3 then -- in the next line, of which it may not have heard yet
            hold_messages(p, protocol, line)
            died = p:kill { rank = rank, after = committed,
                            at = { rank = other_than(p, rank), epoch = line,
                                   event = one_of { "checkpoint", "saved" } } }
          elseif how <= 5 then -- soon after a message about the next line, or another one, is held
            died = p:kill { rank = rank, event = "call", nth = random(8),
                            after = hold_messages(p, protocol, line) }
          else
            died = p:kill { rank = rank, event = "call", nth = random(chance(80) and 12 or 40) }
          end
          if chance(50) then hold_messages(p, protocol, line) end
          if chance(50) then hold_in_recovery(p, died) end
        end
      end,
    }
  end
end
