-- Programs drawn from seeds that do what programs seldom do (suites/programs/drawn_rare.h): they
-- tell others what nobody determines, start again what they have cancelled, free what is still
-- used, and so on; with a line at each step or nearly, and deaths soon after lines. In some a rank
-- stands still or hears of a line long after the others, and under CoCheck ranks migrate. `--seed`
-- of the run draws others.

local PROGRAMS = 10 -- under each protocol

local COLLECTIVE_BITS = { "auto", "separate", "piggyback" }
local POLICIES = { "skewed", "bursts" } -- by turns; every third program has none: at random

local random = math.random
local function chance(percent) return random(100) <= percent end

local function arguments(number, testimony, off)
  return { "--seed", random(1000000000), "--varied", number // 2 % 2,
           "--iterations", random(20, 50), "--size", random(20),
           "--testimony", testimony, "--started-again", random(0, 1), "--freed", random(0, 2),
           "--partial", random(0, 1), "--made", random(0, 1), "--hinted", random(0, 1),
           "--piece", chance(30) and random(257, 600) or 0, "--wrong", number % 2,
           "--sought", random(0, 1), table.unpack(off) }
end

-- ---- jobs that are started again ---------------------------------------------------------------

-- What the protocols tell other ranks of lines (wire.lua of each); some tell rank 0 alone.
local told = {
  c3 = { "pleaseCheckpoint", "mySendCount", "readyToStopLogging", "stopLogging",
    "stoppedLogging" },
  chandy_lamport = { "marker" }, cocheck = { "notification", "readyMessage", "resume" },
}
local to_rank_0 = { readyToStopLogging = true, stoppedLogging = true }

-- One rank hears of a line long after the others, in some programs.
local function tell_late(p, protocol)
  for _ = 1, told[protocol] and chance(40) and random(2) or 0 do
    local message = told[protocol][random(#told[protocol])]
    p:hold { message = message, to = to_rank_0[message] and 0 or random(p.ranks - 1),
             epoch = random(2), after = "start", attempt = true,
             release = { rank = random(0, p.ranks - 1), event = "call", nth = random(80) } }
  end
end

-- A rank stands still at its beginning or after a death, until another one is ahead or takes a
-- checkpoint, in some programs.
local function fall_behind(p)
  if chance(70) then return end
  local rank = random(0, p.ranks - 1)
  local other = (rank + random(p.ranks - 1)) % p.ranks
  p:stop { rank = rank, event = "call", nth = random(30), attempt = true,
           release = chance(50) and { rank = other, event = "checkpoint" }
                     or { rank = other, event = "call", nth = random(60) } }
end

-- MPI_Wtime by itself is no choice that C3 logs. Nothing crosses a line of `blocking`, and it
-- brings no communicator back. The oracles can judge a receive that is too short for its
-- message only by what C3 notes of it: under the other protocols they say `unknown`.
local protocols = {
  { "blocking", "BLOCKING", { "B", "H" }, 2,
    { "--crossing", 0, "--changing", 0, "--outstanding", 0, "--started-again", 0, "--freed", 1,
      "--made", 0, "--sought", 0, "--too-long", 1 } },
  { "c3", "C3", { "C", "D", "H", "-H.synchronous" }, 1,
    { "--inter", 0, "--too-long", 1, "--constructors", 8 } },
  { "chandy_lamport", "CHANDY", { "S", "H" }, 2,
    { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0, "--constructors", 3 } },
  { "cocheck", "COCHECK", { "R", "H" }, 2,
    { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0, "--constructors", 3 } },
}

for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    local name, variable, claims, testimony, off = table.unpack(protocol)
    local ranks, moves = random(2, 5), name == "cocheck" and chance(50)
    local given, line_of_move = arguments(number, testimony, off), random(2)
    local movers = not moves and 0 or 1 + number // 2 % 2
    local last_move = movers < 2 and line_of_move or line_of_move + number // 4 % 2
    local function move_from(rank)
      return table.concat({ ("%d@%d"):format(rank, line_of_move),
        ("%d@%d"):format((rank + 1) % ranks, last_move) }, ",", 1, movers)
    end
    -- A line in which ranks migrate is not committed: this is the one to wait for instead.
    local function committed(line)
      return movers > 0 and line >= line_of_move and line <= last_move and last_move + 1 or line
    end
    table.move({ "--greeted", number % 5 == 0 and 1 or 0,
                 "--outside", number % 5 == 3 and 1 or 0,
                 "--outlasting", number % 5 == 1 and name ~= "blocking" and 1 or 0 },
               1, 6, #given + 1, given)
    if moves then
      local others = { "--piece", random(257, 600) }
      table.move(others, 1, #others, #given + 1, given)
    end
    scenario(("%s: rare %d"):format(name, number)) {
      protocol = name, program = "drawn", claims = claims, arguments = given,
      policy = POLICIES[number % 3],
      ranks = ranks + movers, reserve = moves and movers or nil,
      environment = {
        [variable .. "_EVERY"] = random(3),
        C3_PIGGYBACK = name == "c3" and (chance(50) and "epoch" or "color") or nil,
        C3_COLLECTIVE_BITS = name == "c3" and COLLECTIVE_BITS[number % 3 + 1] or nil,
        COCHECK_SKELETONS = moves and movers or nil,
        COCHECK_MIGRATE = moves and move_from(random(0, ranks - 1)) or nil,
      },
      max_incarnations = 8, timeout = 60,
      plan = function(p)
        if chance(50) then p:jitter { ms = random(5) } end
        tell_late(p, name)
        fall_behind(p)
        if moves and chance(50) then -- the line after that in which a rank moved
          p:await { event = "commit", epoch = last_move + 1 }
          p:kill { rank = random(0, ranks - 1), event = "call", nth = random(6) }
        end
        local each = chance(30) -- each of the first lines is restored
        local line = 0
        for death = 1, each and 7 or random(0, 3) do
          local rank = random(0, ranks - 1)
          local drawn = each and death or random(death, 2 * death)
          line = committed(math.max(drawn, line + 1)) -- one that was not awaited so far
          if chance(25) then -- between the parts of a line
            local other = (rank + 1) % ranks
            p:kill { rank = rank, at = { rank = other, event = "saved", epoch = line } }
          else
            if chance(80) then p:await { event = "commit", epoch = line } end
            p:kill { rank = rank, event = "call", nth = random(chance(60) and 12 or 80) }
          end
          fall_behind(p)
        end
      end,
    }
  end
end

-- Messages are long on their way in the first life, and no longer in the second: H.line is not
-- judged where they are. That life is long: what a recovery has counted wrongly keeps lines open.
for number = 1, 2 do
  for _, protocol in ipairs(protocols) do
    local name, variable, claims, _, off = table.unpack(protocol)
    scenario(("%s: a long second life %d"):format(name, number)) {
      protocol = name, program = "drawn", claims = claims, ranks = random(3, 5),
      policy = POLICIES[random(0, 2)],
      arguments = { "--seed", random(1000000000), "--iterations", name == "c3" and 240 or 120,
                    "--size", 8, table.unpack(off) },
      environment = { [variable .. "_EVERY"] = random(2, 4) }, timeout = 120,
      plan = function(p)
        p:jitter { ms = 5 }
        p:await { event = "commit", epoch = random(3) }
        p:kill { rank = random(0, p.ranks - 1), event = "call", nth = random(60) }
        p:quiet {}
      end,
    }
  end
end

-- ---- jobs whose ranks live on ------------------------------------------------------------------

-- Communicators that are made ahead of checkpoint_restore are refused.
local function late()
  return { "--communicators", random(0, 1), "--late", 1, "--inter", 0,
           "--persistent-collectives", 0, "--outstanding", 0, "--constructors", 3 }
end

-- One rank after another dies, or the same again, each when all have gone on from the death before.
local function deaths(p, protocol)
  local process = {}
  if chance(50) then p:jitter { ms = random(5) } end
  for rank = 0, p.ranks - 1 do
    process[rank] = rank
    p:await { rank = rank, event = "call", nth = 2 }
  end
  local rank = random(0, p.ranks - 1)
  for death = 1, random(3) do
    if chance(60) then
      p:await { event = ({ "checkpoint", "saved" })[random(2)], epoch = death }
    end
    p:kill { rank = process[rank], event = "call", nth = random(chance(50) and 12 or 120) }
    process[rank] = p.ranks + death - 1
    p:await { rank = process[rank], event = "phase", name = protocol .. ":lives-on" }
    if chance(50) then rank = random(0, p.ranks - 1) end
  end
end

for _, protocol in ipairs { "scmel", "pessimistic", "camel" } do
  for number = 1, PROGRAMS do
    scenario(("%s: rare %d"):format(protocol, number)) {
      protocol = protocol, program = "drawn", claims = { "H", "M" },
      arguments = arguments(number, 2, { "--outlasting", number % 5 == 1 and 1 or 0,
                                         table.unpack(late()) }),
      policy = POLICIES[number % 3],
      ranks = random(2, 5), environment = { [protocol:upper() .. "_EVERY"] = random(4) },
      engine = "step", survivors = true, timeout = 60,
      plan = function(p) deaths(p, protocol) end,
    }
  end
end

for number = 1, PROGRAMS do
  local ranks = random(2, 4)
  scenario(("replication: rare %d"):format(number)) {
    protocol = "replication", program = "drawn", claims = { "H", "P" },
    policy = POLICIES[number % 3],
    arguments = arguments(number, 2, late()), ranks = 2 * ranks, reserve = ranks, engine = "step",
    survivors = true, timeout = 60,
    plan = function(p)
      if chance(50) then p:jitter { ms = random(5) } end
      for rank = 0, ranks - 1 do
        if chance(50) then
          p:kill { rank = rank + random(0, 1) * ranks, event = "call", nth = random(150) }
        end
      end
    end,
  }
end

-- ---- messages that are longer than their receives ----------------------------------------------

-- But for C3 the oracles cannot judge these messages; the program itself says what is wrong.
for number = 1, 2 do
  for _, protocol in ipairs { "chandy_lamport", "cocheck", "scmel", "pessimistic", "camel" } do
    local variable = protocol == "chandy_lamport" and "CHANDY" or protocol:upper()
    local lives_on = protocol ~= "chandy_lamport" and protocol ~= "cocheck"
    scenario(("%s: too long %d"):format(protocol, number)) {
      protocol = protocol, program = "drawn", claims = { "H.progress" }, ranks = random(2, 5),
      arguments = { "--seed", random(1000000000), "--iterations", 50, "--size", random(12),
                    "--too-long", 1, table.unpack(late()) },
      environment = { [variable .. "_EVERY"] = random(3) },
      engine = "step", survivors = lives_on or nil, timeout = 60,
      plan = function(p)
        for rank = 0, p.ranks - 1 do -- a death before all have begun is more than is promised
          p:await { rank = rank, event = "call", nth = 2 }
        end
        p:kill { rank = random(0, p.ranks - 1), event = "call", nth = random(150) }
      end,
    }
  end
end

-- ---- deaths in the phases of the protocol ------------------------------------------------------

-- Most deaths are in the first lines, up to their commits, and in the phases of the recovery after
-- the death before. All send large messages.
for number = 1, PROGRAMS do
  for _, protocol in ipairs(protocols) do
    local name, variable, claims, testimony, refused = table.unpack(protocol)
    scenario(("%s: in a phase %d"):format(name, number)) {
      protocol = name, program = "drawn", claims = claims,
      ranks = random(2, 5),
      policy = POLICIES[number % 3],
      arguments = arguments(number, testimony, { "--large", 1, table.unpack(refused) }),
      environment = {
        [variable .. "_EVERY"] = random(3),
        C3_COLLECTIVE_BITS = name == "c3" and COLLECTIVE_BITS[number % 3 + 1] or nil,
      },
      max_incarnations = 8, timeout = 60,
      plan = function(p)
        for _ = 1, random(4) do
          if chance(40) then p:await { event = "saved" } end
          p:kill { rank = chance(40) and 0 or random(0, p.ranks - 1), event = "phase",
                   nth = random(chance(50) and 12 or 40) }
        end
      end,
    }
  end
end

-- Jobs of one rank. Its messages to itself cross lines, which `blocking` does not allow.
for _, protocol in ipairs(protocols) do
  local name, variable = table.unpack(protocol)
  if name ~= "blocking" then
    scenario(name .. ": one rank") {
      protocol = name, program = "collectives", claims = { "H" }, ranks = 1, timeout = 60,
      environment = { [variable .. "_EVERY"] = random(3) },
      plan = function(p)
        for _ = 1, 2 do
          p:await { event = "commit" }
          p:kill { rank = 0, event = "call", nth = random(20) }
        end
      end,
    }
  end
end

-- A rank migrates under CoCheck, rank 0 in one of the two jobs, and many lines follow.
for number = 1, 2 do
  local moves = number == 1 and 0 or random(2)
  scenario(("cocheck: lines after a move %d"):format(number)) {
    protocol = "cocheck", program = "drawn", claims = { "R", "H" }, ranks = 4, reserve = 1,
    arguments = { "--seed", random(1000000000), "--iterations", 120, "--size", 8,
                  "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0 },
    environment = { COCHECK_EVERY = random(3), COCHECK_SKELETONS = 1,
                    COCHECK_MIGRATE = ("%d@%d"):format(moves, random(2)) },
    timeout = 120,
  }
end
