-- Random plans over team-based message logging: one to three deaths, each of any rank or of a
-- process that has taken one's place, at any call or named point, in jobs with teams of one rank to
-- all ranks. None may end in a violation, a hang or another result. A plan may ask for what does
-- not happen (vacuous), or for more teams that fail at a time than are survived (unsupported):
-- `make random-logging` counts both.

local PLANS = 1000
local DEATHS_MAX = 3
local RANKS_MIN, RANKS_MAX = 2, 6

local random = math.random
local function one_of(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

local programs = {
  { "leanmd", { "--iterations", 8 } }, { "openatom", { "--iterations", 8 } },
  { "random", { "--iterations", 10 } }, { "master_worker", { "--iterations", 8 } },
  { "pipeline", { "--iterations", 10 } }, { "laplace", { "--iterations", 10, "--size", 16 } },
  { "neuron", { "--iterations", 8, "--size", 16 } }, { "ring", { "--iterations", 12 } },
}

local phases = {
  "before-halt", "halted", "flushed", "before-checkpoint", "mid-write", "before-rename",
  "after-checkpoint", "before-drop", "after-drop", "before-shrink", "before-leave", "after-shrink",
  "before-send-determinants", "before-barrier", "after-barrier", "after-send-again",
  "before-receive-determinants", "after-receive-determinants", "before-load", "restored",
  "before-relive", "lives-on", "before-finish",
}

-- Processes that come later have the numbers after those of the ranks; as many as a team has come
-- at a time.
local function death(p, size, number)
  local later = size < p.ranks and number > 1 and chance(50) and size * (number - 1) or 0
  local rank = random(0, p.ranks - 1 + later)
  if number > 1 and chance(50) then
    p:kill { rank = rank, event = "phase", name = "teams:" .. one_of(phases) }
  else
    p:kill { rank = rank, event = "call", level = "wire", nth = random(20, 250) }
  end
end

for number = 1, PLANS do
  local program = programs[number % #programs + 1]
  local ranks = RANKS_MIN + number // #programs % (RANKS_MAX - RANKS_MIN + 1)
  local size = 1 + number // 3 % ranks
  scenario(("plan %d: %s, teams of %d of %d"):format(number, program[1], size, ranks)) {
    protocol = "teams", program = program[1], arguments = program[2], ranks = ranks,
    engine = "step", survivors = true, max_incarnations = 1 + DEATHS_MAX,
    environment = { TEAMS_EVERY = 2 + number % 5, TEAMS_SIZE = size }, claims = { "H", "M" },
    plan = function(p)
      for i = 1, random(DEATHS_MAX) do death(p, size, i) end
    end,
  }
end
