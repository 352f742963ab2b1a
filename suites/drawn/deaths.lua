-- Programs drawn from seeds where messages are logged and ranks live on: three deaths and more,
-- soon after one another and close to lines and to recoveries, with messages that are long on their
-- way. So what a process sent comes when it has died and another one is its rank, once or twice;
-- and a recovery falls into a line of the others. No death is more than is promised: each comes
-- when the ranks that went back live on again, or hits the very process that was to take the place.

local PROGRAMS = 4 -- of each kind, under each protocol

local POLICIES = { "skewed", "bursts" } -- by turns; every third program has none: at random

local random = math.random
local function chance(percent) return random(100) <= percent end

local function arguments(number, size, ...)
  return { "--seed", random(1000000000), "--varied", number // 2 % 2,
           "--iterations", random(30, 60), "--size", size,
           "--received", chance(50) and random(0, 6) or -1, "--any-tag", random(2),
           "--communicators", random(0, 1), "--late", 1, "--inter", 0,
           "--persistent-collectives", 0, "--outstanding", 0,
           "--freed", random(0, 2), "--made", random(0, 1), "--constructors", random(0, 3),
           "--wrong", number % 2, "--sought", random(0, 1), "--testimony", random(0, 2), ... }
end

-- Waits until all ranks have begun, and then knows who is which rank when processes have died.
-- Under teams all of one go back together, and the processes that come take their places in the
-- order of ranks.
local function job(p, protocol, team)
  local process, newest = {}, p.ranks - 1
  for rank = 0, p.ranks - 1 do
    process[rank] = rank
    p:await { rank = rank, event = "call", nth = 2 }
  end
  local self = { process = process }
  function self.replace(rank)
    local first = rank // team * team
    self.came = {}
    for member = first, math.min(first + team, p.ranks) - 1 do
      newest = newest + 1
      process[member] = newest
      self.came[#self.came + 1] = newest
    end
  end
  function self.lives_on()
    -- Which of several lives on first is not known; they all come to the next line.
    local phase = team == 1 and ":lives-on" or ":before-halt"
    for _, newcomer in ipairs(self.came) do
      p:await { rank = newcomer, event = "phase", name = protocol .. phase }
    end
  end
  return self
end

-- Each soon after something that a rank tells of a line, the first of them in some directly after
-- it has saved its own part; now and then the same rank again, or another in between.
local function close_to_lines(p, protocol, team)
  local ranks = job(p, protocol, team)
  local rank = random(0, p.ranks - 1)
  for death = 1, 4 do
    if chance(70) then
      p:await { event = ({ "checkpoint", "saved" })[random(2)], epoch = death }
    end
    if death == 1 and chance(50) then
      p:kill { rank = ranks.process[rank], event = "saved" }
    else
      p:kill { rank = ranks.process[rank], event = "call", nth = random(chance(50) and 6 or 40) }
    end
    ranks.replace(rank)
    ranks.lives_on()
    if chance(60) then rank = random(0, p.ranks - 1) end
  end
end

-- Two ranks by turns, each as soon as the other lives on.
local function by_turns(p, protocol, team)
  local ranks = job(p, protocol, team)
  local first = random(0, p.ranks - 1)
  local second = (first + random(p.ranks - 1)) % p.ranks
  for death = 1, 5 do
    local rank = death % 2 == 1 and first or second
    p:kill { rank = ranks.process[rank], event = "call", nth = random(death == 1 and 80 or 12) }
    ranks.replace(rank)
    ranks.lives_on()
  end
end

-- A rank dies when another one has just saved a line, of its own team if it has one; then, in the
-- same line again, that one when the new process has.
local function inside_a_line(p, protocol, team)
  local ranks = job(p, protocol, team)
  local first = random(0, p.ranks - 1)
  local mate = first // team * team + (first + 1) % team
  local second = team > 1 and mate or (first + random(p.ranks - 1)) % p.ranks
  local line = random(2)
  for death = 1, 4 do
    local dies, saves = first, second
    if death % 2 == 0 then dies, saves = second, first end
    p:kill { rank = ranks.process[dies],
             at = { rank = ranks.process[saves], event = "phase", nth = death == 1 and line or 1,
                    name = protocol .. ":after-checkpoint" } }
    ranks.replace(dies)
    if team == 1 then ranks.lives_on() end
  end
end

-- A rank dies that has just saved a line, and when the new process lives on another one, which may
-- not have saved it yet; then the same once more.
local function just_saved(p, protocol, team)
  local ranks = job(p, protocol, team)
  local first = random(0, p.ranks - 1)
  local second = team > 1 and (first + team) % p.ranks or (first + random(p.ranks - 1)) % p.ranks
  for death = 1, 4 do
    local rank = death % 2 == 1 and first or second
    if death % 2 == 1 then
      p:kill { rank = ranks.process[rank], event = "phase", nth = random(2),
               name = protocol .. ":after-checkpoint" }
    else
      p:kill { rank = ranks.process[rank], event = "call", level = "wire", nth = random(40) }
    end
    ranks.replace(rank)
    ranks.lives_on()
  end
end

-- A rank, and the processes that take its place, on their way: so many calls at the wire after they
-- came.
local function on_the_way(p, protocol, team)
  local ranks = job(p, protocol, team)
  local rank = random(0, p.ranks - 1)
  if chance(50) then p:await { event = "saved", epoch = random(2) } end
  p:kill { rank = ranks.process[rank], event = "call", nth = random(60) }
  ranks.replace(rank)
  p:kill { rank = ranks.process[rank], event = "call", level = "wire", nth = random(10, 90) }
  ranks.replace(rank)
  ranks.lives_on()
  rank = random(0, p.ranks - 1)
  p:kill { rank = ranks.process[rank], event = "call", nth = random(20) }
end

for number = 1, PROGRAMS do
  for _, kind in ipairs {
    { "close to lines", close_to_lines }, { "by turns", by_turns },
    { "inside a line", inside_a_line }, { "just saved", just_saved },
    { "on the way", on_the_way },
  } do
    local what, deaths = table.unpack(kind)
    for _, protocol in ipairs { "scmel", "pessimistic", "camel", "teams" } do
      local team = protocol == "teams" and random(2, 3) or 1
      if team == 1 or deaths ~= on_the_way then -- who of a team comes then is not known
        scenario(("%s: %s %d"):format(protocol, what, number)) {
          protocol = protocol, program = "drawn", claims = { "H", "M" },
          arguments = arguments(number, 12),
          policy = POLICIES[number % 3],
          ranks = team > 1 and 2 * team or random(3, 5),
          environment = { [protocol:upper() .. "_EVERY"] = random(1, 3), TEAMS_SIZE = team },
          engine = "step", survivors = true, timeout = 60,
          plan = function(p)
            p:jitter { ms = random(10) }
            deaths(p, protocol, team)
          end,
        }
      end
    end
  end
end

-- A new process dies in one of the calls by which it joins the others, while a rank that lives
-- still stands before one of them.
local JOINING = { { "MPI_Intercomm_merge", 1 }, { "MPI_Bcast", 1 }, { "MPI_Comm_split", 1 },
                  { "MPI_Comm_split", 2 } }

local function joining(p)
  for rank = 0, p.ranks - 1 do p:await { rank = rank, event = "call", nth = 2 } end
  local dead = random(0, p.ranks - 1)
  local behind = (dead + random(p.ranks - 1)) % p.ranks
  local function at(rank, which)
    return { rank = rank, call = JOINING[which][1], nth = JOINING[which][2], level = "wire" }
  end
  local death = p:kill { rank = dead, event = "call", nth = random(60) }
  local stands = random(#JOINING - 1)
  local stop, last = at(behind, stands), at(p.ranks, random(stands + 1, #JOINING))
  stop.after, stop.attempt = death, true
  stop.release = { rank = behind == 0 and 1 or 0, event = "call", level = "wire", nth = 400 }
  last.after, last.position = death, chance(50) and "inside" or "after"
  p:stop(stop)
  p:kill(last)
end

for number = 1, 3 * PROGRAMS do
  for _, protocol in ipairs { "scmel", "pessimistic", "camel", "teams" } do
    scenario(("%s: joining %d"):format(protocol, number)) {
      protocol = protocol, program = "laplace", claims = { "H", "M" },
      arguments = { "--iterations", random(15, 40), "--size", 16 },
      policy = POLICIES[number % 3], ranks = 4,
      environment = { [protocol:upper() .. "_EVERY"] = random(4), TEAMS_SIZE = 2 },
      engine = "step", survivors = true, timeout = 60, plan = joining,
    }
  end
end

-- Under teams: one of the new processes dies on its way, and the whole team is called again.
for number = 1, 2 * PROGRAMS do
  scenario(("teams: on the way %d"):format(number)) {
    protocol = "teams", program = "drawn", claims = { "H", "M" }, arguments = arguments(number, 12),
    policy = POLICIES[number % 3], ranks = 4, environment = { TEAMS_EVERY = random(3) },
    engine = "step", survivors = true, timeout = 60,
    plan = function(p)
      job(p, "teams", 2)
      if chance(50) then p:await { event = "saved", epoch = random(2) } end
      p:kill { rank = random(0, p.ranks - 1), event = "call", nth = random(60) }
      local newcomer = p.ranks + random(0, 1)
      if chance(50) then
        p:kill { rank = newcomer, event = "phase", nth = random(6) }
      else
        p:kill { rank = newcomer, event = "call", level = "wire", nth = random(10, 90) }
      end
    end,
  }
end

-- Processes in reserve take the places of ranks that die one after the other. A rank dies at work,
-- or when it or the next rank has come to its end; a process in reserve dies on the way to its
-- place.
local function out_of_reserve(p, protocol, ranks, reserve)
  local process = {}
  for rank = 0, ranks - 1 do
    process[rank] = rank
    p:await { rank = rank, event = "call", nth = 2 } -- all have begun
  end
  for newcomer = ranks, ranks + reserve - 1 do
    local rank, how = random(0, ranks - 1), random(100)
    local again = process[rank] >= ranks
    if how <= 40 then
      local at_end = chance(50) and process[rank] or process[(rank + 1) % ranks]
      p:await { rank = at_end, event = "phase", name = protocol .. ":before-finish" }
      p:kill { rank = process[rank], event = "send", level = "wire", nth = random(8) }
    else
      p:kill { rank = process[rank], event = "call", level = chance(50) and "wire" or nil,
               nth = random(again and 20 or 60) }
    end
    process[rank] = newcomer
    if chance(75) then
      p:await { rank = newcomer, event = "phase", name = protocol .. ":lives-on" }
    elseif newcomer < ranks + reserve - 1 then -- it dies on its way
      p:kill { rank = newcomer, event = "call", level = "wire", nth = random(10, 90) }
      return p:await { rank = newcomer + 1, event = "phase", name = protocol .. ":lives-on" }
    end
  end
end

for number = 1, PROGRAMS do
  for _, protocol in ipairs { "scmel", "pessimistic", "camel" } do
    local ranks, reserve, upper = random(2, 4), random(3), protocol:upper()
    local program, given = "drawn", arguments(number, 12, "--large", number // 2 % 2)
    if number % 2 == 0 then -- the first rank is at its end early
      program, given = "pipeline", { "--iterations", random(10, 40), "--one-way", 1 }
    end
    scenario(("%s: reserve, %s %d"):format(protocol, program, number)) {
      protocol = protocol, program = program, claims = { "H", "M" }, arguments = given,
      policy = POLICIES[number % 3],
      ranks = ranks + reserve, reserve = reserve,
      environment = { [upper .. "_EVERY"] = random(1, 3), [upper .. "_RESERVE"] = reserve },
      engine = "step", survivors = true, timeout = 60,
      plan = function(p)
        p:jitter { ms = random(10) }
        out_of_reserve(p, protocol, ranks, reserve)
      end,
    }
  end
end

-- Under replication a process of each rank dies, directly before or after it sends; what it sends
-- may be a testimony of what nobody determines.
for number = 1, PROGRAMS do
  local ranks = random(2, 4)
  scenario(("replication: at a send %d"):format(number)) {
    protocol = "replication", program = "drawn", claims = { "H", "P" },
    arguments = arguments(number, 12, "--large", number % 2),
    policy = POLICIES[number % 3],
    ranks = 2 * ranks, reserve = ranks, engine = "step", survivors = true, timeout = 60,
    plan = function(p)
      p:jitter { ms = random(10) }
      for rank = 0, ranks - 1 do
        p:kill { rank = rank + random(0, 1) * ranks, event = "send", level = "wire",
                 nth = random(120), position = chance(50) and "before" or "after" }
      end
    end,
  }
end

-- Under replication the process that leads `rank` dies, and a message of `other` comes late to the
-- one that follows, which must see messages in the order that the other ranks know of.
local function late_for_the_follower(kind, number, plan)
  local ranks = random(2, 4)
  scenario(("replication: %s late %d"):format(kind, number)) {
    protocol = "replication", program = "drawn", claims = { "H", "P" },
    arguments = arguments(number, 12, "--testimony", 2),
    policy = POLICIES[number % 3],
    ranks = 2 * ranks, reserve = ranks, engine = "step", survivors = true, timeout = 60,
    plan = function(p)
      local rank = random(0, ranks - 1)
      plan(p, rank, (rank + random(ranks - 1)) % ranks, ranks + rank)
    end,
  }
end

-- The follower still waits for that message in MPI_Init.
for number = 1, PROGRAMS do
  late_for_the_follower("begins", number, function(p, rank, other, follower)
    p:jitter { ms = random(3) }
    p:hold { from = other, to = follower, level = "wire", after = "start", attempt = true,
             release = { rank = other, event = "call", level = "wire", nth = random(600, 1500) } }
    p:kill { rank = rank, event = "call", level = "wire", nth = random(150, 500), after = "start" }
  end)
end

-- The process that leads dies soon after it was sent its own copy, and may have told of it.
for number = 1, 2 * PROGRAMS do
  late_for_the_follower("comes", number, function(p, rank, other, follower)
    local nth = random(40)
    p:hold { from = other, to = follower, level = "wire", nth = nth, after = "start",
             attempt = true,
             release = { rank = follower, event = "call", level = "wire", nth = random(200) } }
    local sent = p:await { rank = other, event = "send", peer = follower, level = "wire",
                           nth = nth, after = "start" }
    p:kill { rank = rank, event = "call", level = "wire", nth = random(30), after = sent }
  end)
end

-- Some ranks' messages to a new process are held, so that it gets those of others first, or those
-- that others pass on along a tree.
local function late_for_the_new(p, protocol)
  local ranks = job(p, protocol, 1)
  local rank = random(0, p.ranks - 1)
  if chance(50) then p:await { event = "saved", epoch = random(2) } end
  local death = p:kill { rank = ranks.process[rank], event = "call", nth = random(60) }
  ranks.replace(rank)
  local newcomer = ranks.process[rank]
  for other = 0, p.ranks - 1 do
    if other ~= rank and chance(40) then
      p:hold { from = other, to = newcomer, level = "wire", nth = random(8), after = death,
               attempt = true,
               release = { rank = chance(30) and newcomer or other, event = "call",
                           nth = random(60) } }
    end
  end
  p:kill { rank = newcomer, event = "call", nth = random(200),
           after = p:await { rank = newcomer, event = "phase", name = protocol .. ":lives-on",
                             after = death } }
end

for number = 1, PROGRAMS do
  for _, protocol in ipairs { "scmel", "pessimistic", "camel" } do
    scenario(("%s: late for the new %d"):format(protocol, number)) {
      protocol = protocol, program = "drawn", claims = { "H", "M" },
      arguments = arguments(number, 12, "--large", number == 1 and 2 or 1),
      policy = POLICIES[number % 3],
      ranks = protocol == "camel" and random(4, 8) or random(3, 5),
      environment = { [protocol:upper() .. "_EVERY"] = random(4) },
      engine = "step", survivors = true, timeout = 60,
      plan = function(p) late_for_the_new(p, protocol) end,
    }
  end
end

-- Far from lines: a rank dies and is given back what it had contributed to reductions of others;
-- then one of these others dies, to whom it gives this again, and its new process once more,
-- `times` in all.
local function given_again(p, protocol, times)
  local ranks = job(p, protocol, 1)
  local child = random(0, p.ranks - 1)
  p:kill { rank = child, event = "call", nth = random(20, 150) }
  ranks.replace(child)
  ranks.lives_on()
  local root = (child + random(p.ranks - 1)) % p.ranks
  for _ = 1, times do
    p:kill { rank = ranks.process[root], event = "call", nth = random(times == 1 and 40 or 15) }
    ranks.replace(root)
    ranks.lives_on()
  end
end

local function given_twice(p, protocol) given_again(p, protocol, 1) end
local function given_thrice(p, protocol) given_again(p, protocol, 2) end

-- The program `roots`: many collective calls at once, with many roots, on several communicators.
local function roots(protocol, name, every, options, plan)
  scenario(("%s: roots, %s"):format(protocol, name)) {
    protocol = protocol, program = "roots", claims = { "H", "M" },
    arguments = { "--seed", random(1000000000), table.unpack(options) },
    policy = POLICIES[random(3)],
    ranks = protocol == "camel" and random(4, 8) or random(3, 5),
    environment = { [protocol:upper() .. "_EVERY"] = every },
    engine = "step", survivors = true, timeout = 60,
    plan = function(p)
      p:jitter { ms = random(10) }
      plan(p, protocol, 1)
    end,
  }
end

for number = 1, PROGRAMS do
  for _, protocol in ipairs { "scmel", "pessimistic", "camel" } do
    for _, kind in ipairs {
      { "late for the new", random(6), late_for_the_new }, { "by turns", random(6), by_turns },
      { "given twice", random(4, 12), given_twice },
      { "given thrice", random(8, 12), given_thrice },
    } do
      roots(protocol, ("%s %d"):format(kind[1], number), kind[2], {
        "--iterations", random(6, 25), "--calls", random(3, 8), "--communicators", random(4),
        "--messages", random(0, 2), "--blocking", random(0, 1),
      }, kind[3])
    end
  end
end

-- Nearly all calls are broadcasts, and on each communicator one rank is the root of all, so that it
-- goes far ahead: the new process gets new ones by the tree, while the root's messages to it are
-- held, which it has yet to send the old ones again.
local function ahead(p, protocol)
  local ranks = job(p, protocol, 1)
  local rank = random(0, p.ranks - 1)
  local death = p:kill { rank = rank, event = "call", nth = random(20, 60) }
  ranks.replace(rank)
  for other = 0, p.ranks - 1 do
    if other ~= rank then
      p:hold { from = other, to = ranks.process[rank], level = "wire", nth = random(4),
               after = death, attempt = true,
               release = { rank = other, event = "call", nth = random(20, 60) } }
    end
  end
end

for number = 1, PROGRAMS do
  for also, protocol in ipairs { "scmel", "pessimistic", "camel", "camel", "camel" } do
    roots(protocol, ("ahead %d.%d"):format(number, also), chance(80) and 1000 or random(4, 12), {
      "--iterations", 30, "--calls", random(3, 8), "--communicators", random(3),
      "--messages", 0, "--broadcasts", random(90, 100), "--one-root", 1,
    }, ahead)
  end
end
