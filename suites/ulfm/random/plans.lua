-- 1,000 programs of ULFM's drawn at random, with deaths drawn at random: what `make random-ulfm`
-- runs with Open MPI 5. A program has stretches of calls, each of which ends with a repair of the
-- communicator by all; who hears of a death revokes it. So it ends whoever dies where. Spawn and
-- merge are left out: known.txt of scripts/ulfm says what Open MPI does there.
local PLANS = 1000
local RANKS_LEAST, RANKS_MOST = 2, 5
local MESSAGES_MOST, STRETCHES_MOST, STEPS_LEAST, STEPS_MOST = 4, 3, 3, 6

local random = math.random
local function one_of(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

local rooted = { "bcast", "scatter", "gather", "reduce", "scatterv", "gatherv" }
local by_all = { "barrier", "allgather", "alltoall", "allreduce", "scan", "exscan", "allgatherv",
  "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block" }
local whole = { "agree=1", "agree=6", "dup sure use", "split sure use barrier", "cart sure use",
  "create sure use" }

-- Each communicator has a rank 0. Those that do not block are left out, too: see ../openmpi.lua.
local function collective()
  return chance(40) and one_of(rooted) .. "=0" or one_of(by_all)
end

-- A message from one rank to another, while ranks have the numbers of the world. Only one that is
-- alone in its program may be received from any source: that would take another rank's.
local function message(ranks, alone)
  local from = random(0, ranks - 1)
  local to = (from + random(ranks - 1)) % ranks
  local send = one_of { "send", "large", "issend" } -- the others: see ../openmpi.lua
  -- A large one has room in a `recv` alone.
  local receive = send == "large" and "recv" or
                  one_of { "recv", "irecv", "precv", "probe", "mrecv" }
  local name = alone and chance(50) and "any" or tostring(from)
  local text = ("%d:%s=%d %d:%s=%s"):format(from, send, to, to, receive, name)
  if receive == "probe" then text = text .. (" %d:recv=%d"):format(to, from) end
  return text .. " wait"
end

local function program(ranks)
  local steps = {}
  local function add(text) steps[#steps + 1] = text end
  local messages = random(MESSAGES_MOST)
  for _ = 1, messages do add(message(ranks, messages == 1)) end
  for _ = 1, random(STRETCHES_MOST) do
    for _ = 1, random(STEPS_LEAST, STEPS_MOST) do
      local drawn = random(100)
      add(drawn <= 80 and collective() or drawn <= 93 and one_of(whole) or
        ("%d:revoke barrier"):format(random(0, ranks - 1)))
    end
    add("world shrink")
    if chance(50) then add("agree=3") end
  end
  return table.concat(steps, " ")
end

-- The first four calls are the program's start; after 14 no rank has come to the shrink at its end.
local CALLS_FIRST, CALLS_LAST = 5, 14
local positions = { "before", "inside", "after" }

local function death(rank)
  if chance(25) then
    return { rank = rank, call = "MPIX_Comm_shrink", after = "start",
      position = one_of(positions) }
  end
  return { rank = rank, event = "call", level = "wire", nth = random(CALLS_FIRST, CALLS_LAST),
    after = "start", position = one_of(positions) }
end

for number = 1, PLANS do
  local ranks = random(RANKS_LEAST, RANKS_MOST)
  local deaths, alive = {}, {}
  for rank = 0, ranks - 1 do alive[#alive + 1] = rank end
  for _ = 1, random(math.min(3, ranks - 1)) do
    deaths[#deaths + 1] = death(table.remove(alive, random(#alive)))
  end
  scenario(("plan %d"):format(number)) {
    program = "survivors", ranks = ranks, engine = "step", survivors = true, protocol = "null",
    arguments = { program(ranks) }, claims = { "U" },
    plan = function(p)
      for _, one in ipairs(deaths) do p:kill(one) end
    end,
  }
end
