-- Ranks live on when others die, 200 times, under MPICH's mpiexec (make lives): one process or two,
-- killed before, in or after any of their calls, or while they are anywhere; ranks and processes in
-- reserve. Each time the job comes to its end with the result of a run without faults.

local seed = 1

-- 1 .. most, by a sequence that is the same everywhere.
local function draw(most)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % most + 1
end

local RANKS, CALLS = 4, 60
local POSITIONS = { "before", "inside", "after" }

local function at_own_call(p, victim)
  p:kill { rank = victim, event = "call", level = "wire", position = POSITIONS[draw(3)],
           nth = 1 + draw(CALLS) }
end

-- The victim is wherever it is when a rank that lives makes a call.
local function from_outside(p, victims, witness)
  p:kill { ranks = victims,
           at = { rank = witness, event = "call", level = "wire", nth = draw(CALLS) } }
end

-- One in reserve may make no call before it is needed.
local function one(p, victim, witness)
  local by_itself = victim < RANKS and draw(2) == 1
  if by_itself then at_own_call(p, victim) else from_outside(p, { victim }, witness) end
end

for number = 1, 200 do
  local reserve = draw(3) - 1
  local processes, first = RANKS + reserve, draw(RANKS + reserve) - 1
  local second = (first + draw(processes - 1)) % processes
  local how, witness = draw(3), 0
  while witness == first or witness == second do witness = witness + 1 end
  local dead = how == 1 and "one" or "two"
  scenario(("%d: %s of %d ranks and %d in reserve"):format(number, dead, RANKS, reserve)) {
    protocol = "standby", program = "outlive", ranks = processes, reserve = reserve,
    survivors = true, environment = { STANDBY_PROCESSES = reserve },
    arguments = { "--iterations", 10, "--compute-us", 500 },
    claims = { "H.progress", "H.result" },
    plan = function(p)
      if how == 3 then
        from_outside(p, { first, second }, witness)
      else
        one(p, first, witness)
        if how == 2 then one(p, second, witness) end
      end
    end,
  }
end
