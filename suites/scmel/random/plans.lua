-- Random plans over the protocols that log messages: one to three deaths, each of any rank or of a
-- process that has taken one's place, at any call or named point. None may end in a violation, a
-- hang or another result. A plan may ask for what does not happen (vacuous), or for more failures
-- at a time than are survived (unsupported): `make random-logging` counts both.

local PLANS = 2000
local DEATHS_MAX = 3
local RANKS_MIN, RANKS_MAX = 2, 6

local random = math.random
local function one_of(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

local protocols = { "camel", "scmel", "camel", "pessimistic" }
local programs = {
  { "leanmd", { "--iterations", 8 } }, { "openatom", { "--iterations", 8 } },
  { "random", { "--iterations", 10 } }, { "master_worker", { "--iterations", 8 } },
  { "pipeline", { "--iterations", 10 } }, { "laplace", { "--iterations", 10, "--size", 16 } },
  { "neuron", { "--iterations", 8, "--size", 16 } }, { "ring", { "--iterations", 12 } },
}

local phases = {
  "before-halt", "halted", "flushed", "before-checkpoint", "mid-write", "before-rename",
  "after-checkpoint", "before-drop", "after-drop", "before-shrink", "after-shrink",
  "before-send-determinants", "before-barrier", "after-barrier", "after-send-again",
  "before-receive-determinants", "after-receive-determinants", "before-load", "restored",
  "before-relive", "lives-on", "before-finish",
}

-- Processes that come later have the numbers after those of the ranks.
local function death(p, protocol, number)
  local rank = random(0, p.ranks - 1 + (number > 1 and chance(50) and number - 1 or 0))
  if number > 1 and chance(50) then
    p:kill { rank = rank, event = "phase", name = protocol .. ":" .. one_of(phases) }
  else
    p:kill { rank = rank, event = "call", level = "wire", nth = random(20, 250) }
  end
end

for number = 1, PLANS do
  local protocol = protocols[number % #protocols + 1]
  local program = programs[number // #protocols % #programs + 1]
  local every = 2 + number % 5
  scenario(("plan %d: %s, %s"):format(number, protocol, program[1])) {
    protocol = protocol, program = program[1], arguments = program[2],
    ranks = RANKS_MIN + number % (RANKS_MAX - RANKS_MIN + 1), engine = "step", survivors = true,
    environment = { CAMEL_EVERY = every, SCMEL_EVERY = every, PESSIMISTIC_EVERY = every },
    claims = { "H", "M" },
    plan = function(p)
      for i = 1, random(DEATHS_MAX) do death(p, protocol, i) end
    end,
  }
end
