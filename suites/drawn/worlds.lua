-- Deaths drawn from seeds where ranks live on and repair their world: one to four of them, each at
-- work, in a repair, together with another one, in a process that has just come, or at the end. No
-- more than these protocols promise: one process of those that begin the job is spared. Of ranks
-- that die too close to one another a line is lost, and all begin again.

local PROGRAMS = 12 -- under each protocol

local POLICIES = { "skewed", "bursts" } -- by turns; every third program has none: at random

local random = math.random
local function chance(percent) return random(100) <= percent end
local function pick(list) return list[random(#list)] end

-- The processes that may die, each with the rank that it is. fate, what becomes of a rank whose
-- process dies: "replaced", a new process is the rank, with the next number (of several that die
-- together the lowest first); "again", the job is started again; "gone", nothing.
local function job(ranks, fate)
  local newest, self = ranks - 1, { mortal = {}, spared = random(0, ranks - 1) }
  for rank = 0, ranks - 1 do
    if rank ~= self.spared then table.insert(self.mortal, { process = rank, rank = rank }) end
  end
  function self.of_rank(rank)
    for i, one in ipairs(self.mortal) do
      if one.rank == rank then return one, i end
    end
  end
  function self.die(...)
    local dead = { ... }
    if fate == "again" then return end
    table.sort(dead, function(one, other) return one.rank < other.rank end)
    for _, one in ipairs(dead) do
      local _, i = self.of_rank(one.rank)
      table.remove(self.mortal, i)
    end
    for _, one in ipairs(fate == "replaced" and dead or {}) do
      newest = newest + 1
      table.insert(self.mortal, { process = newest, rank = one.rank })
    end
  end
  return self
end

-- A rank dies in MPI_Finalize; under ft_mpi and transactions also another one. Under the other
-- protocols a second death there may be more than they promise.
local function at_the_end(p, now, protocol)
  p:kill { rank = table.remove(now.mortal, random(#now.mortal)).process, call = "MPI_Finalize" }
  if protocol ~= "ft_mpi" and protocol ~= "transactions" or #now.mortal == 0 then return end
  local last = pick(now.mortal).process
  if chance(50) then return p:kill { rank = last, call = "MPI_Finalize" } end
  p:await { rank = last, call = "MPI_Finalize" }
  p:kill { rank = last, event = "call", level = "wire", nth = random(6) }
end

local function deaths(p, protocol, ranks, fate)
  local now = job(ranks, fate)
  for death = 1, random(4) do
    if #now.mortal == 0 then return end
    local victim = chance(40) and now.mortal[#now.mortal] or pick(now.mortal)
    local next_one = now.of_rank((victim.rank + 1) % ranks)
    local other = chance(60) and next_one or pick(now.mortal)
    local is_new, how = victim.process >= ranks, random(100)
    -- Under respawn the line of two that die together is lost, and may be one that others have
    -- ended with.
    local may_be_two = victim ~= other and (protocol ~= "respawn" or death == 1)
    if how <= 15 then return at_the_end(p, now, protocol) end
    if how <= 30 and may_be_two then
      p:kill { ranks = { victim.process, other.process },
               at = { rank = now.spared, event = "call", level = "wire", nth = random(25) } }
      now.die(victim, other)
    else
      if how <= 50 and death > 1 and protocol ~= "standby" and not is_new then -- in a repair
        p:await { rank = victim.process, event = "phase", name = protocol .. ":shrunk" }
      end
      p:kill { rank = victim.process, event = "call", level = "wire",
               nth = random(is_new and 30 or 45), position = pick { "before", "inside", "after" } }
      now.die(victim)
    end
  end
end

-- Of messages that were under way when a rank died some are lost.
local LOSSY = { "U", "F", "H.orphan", "H.duplicate", "H.payload", "H.order", "H.result" }

local function laplace()
  return "laplace", { "--iterations", random(6, 16), "--size", random(16, 24) }
end

local worlds = {
  { "respawn", "replaced", { "H" }, laplace },
  { "transactions", "replaced", { "H", "U", "T" }, function()
    if chance(50) then return laplace() end
    return "ring", { "--iterations", random(4, 12), "--size", random(3, 9) }
  end },
  { "checkpoint_on_failure", "again", { "H", "U", "K" }, function()
    local program = pick { "laplace", "ring", "cg", "neuron" }
    if program == "laplace" then return laplace() end
    return program, { "--iterations", random(5, 14), "--size", random(16, 24) }
  end },
  { "ft_mpi", "replaced", LOSSY,
    function() return "regroup", { "--iterations", random(6, 30) } end },
  { "standby", "gone", { "H.progress", "H.result" },
    function()
      return "outlive", { "--iterations", random(5, 15), "--compute-us", random(500) }
    end },
}

for number = 1, PROGRAMS do
  for _, world in ipairs(worlds) do
    local protocol, fate, claims, draw = table.unpack(world)
    local program, arguments = draw()
    local ranks, reserve = random(3, 6), protocol == "standby" and random(0, 2) or 0
    local mode = protocol == "ft_mpi" and pick { "blank", "shrink", "replace" } or nil
    if mode and mode ~= "replace" then fate = "gone" end
    if mode and mode ~= "shrink" then
      table.move({ "--same-size", 1 }, 1, 2, #arguments + 1, arguments)
    end
    scenario(("%s: %s %d"):format(protocol, mode or program, number)) {
      protocol = protocol, program = program, arguments = arguments, claims = claims,
      ranks = ranks + reserve, reserve = reserve,
      environment = { FT_MPI_MODE = mode, STANDBY_PROCESSES = reserve },
      policy = POLICIES[number % 3], engine = "step", survivors = true, timeout = 60,
      max_incarnations = fate == "again" and 8 or nil,
      plan = function(p)
        if program ~= "cg" and program ~= "neuron" then -- these send no messages
          p:jitter { ms = random(10) }
        end
        deaths(p, protocol, ranks, fate)
      end,
    }
  end
end

-- The calls by which a new process joins the others: it dies in one of them, while a rank that
-- lives still stands before an earlier one.
local JOINING = { "MPI_Intercomm_merge", "MPI_Bcast", "MPI_Comm_split" }

local function joins(p, ranks)
  local dead = random(0, ranks - 1)
  local behind = (dead + random(ranks - 1)) % ranks
  local number = random(2)
  local death = p:kill { rank = dead, event = "call", level = "wire", nth = random(30) }
  p:stop { rank = behind, call = JOINING[number], level = "wire", after = death, attempt = true,
           release = { rank = behind == 0 and 1 or 0, event = "call", level = "wire", nth = 400 } }
  p:kill { rank = ranks, call = JOINING[random(number + 1, 3)], level = "wire", after = death,
           position = pick { "inside", "after" } }
end

for number = 1, PROGRAMS do
  for _, world in ipairs(worlds) do
    local protocol, fate, claims, draw = table.unpack(world)
    if fate == "replaced" then
      local program, arguments = draw()
      local ranks = random(3, 6)
      scenario(("%s: joining %d"):format(protocol, number)) {
        protocol = protocol, program = program, arguments = arguments, claims = claims,
        ranks = ranks, environment = { FT_MPI_MODE = protocol == "ft_mpi" and "replace" or nil },
        policy = POLICIES[number % 3], engine = "step", survivors = true, timeout = 60,
        plan = function(p) joins(p, ranks) end,
      }
    end
  end
end
