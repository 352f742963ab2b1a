-- Random plans over C3: kills, kept messages, stopped ranks, jitter, choices, storage that fails,
-- in any number and at any place: 1,000 over the programs that send messages, and 500, each with a
-- crash in any case, over the one that makes every collective call, blocking, not blocking and
-- persistent, with the control bits sent each way in turn. Each plan leaves out some kinds of fault
-- altogether, so that each run is extreme in its own way. None may end in a violation, a hang or
-- another result. What a plan asks for need not happen (vacuous is no failure here);
-- `make random-c3` counts.

local PLANS, CRASHES = 1000, 500
local FAULTS_MAX = 4
local RANKS_MIN, RANKS_MAX = 2, 4

local random = math.random
local function one_of(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

-- Program → arguments that keep a run short and lines frequent.
local programs = {
  ring = {}, laplace = {}, cg = {}, neuron = {}, master_worker = {}, mixture = {}, pipeline = {},
  random = {},
}
local names = {}
for name in pairs(programs) do names[#names + 1] = name end

local control = { "pleaseCheckpoint", "mySendCount", "readyToStopLogging", "stopLogging",
  "stoppedLogging" }
local notes = { "checkpoint", "saved", "commit", "stop-log", "ready", "initiated" }
local of_messages = { "logged", "early" }
local phases = { "before-checkpoint", "before-write", "mid-write", "before-sync", "before-rename",
  "after-rename", "after-checkpoint", "before-log-write", "mid-log-write", "before-log-sync",
  "before-log-rename", "after-log-rename", "before-commit", "mid-commit", "before-commit-rename",
  "after-commit-rename", "before-remove", "after-remove", "before-restore", "before-load",
  "before-suppress-exchange", "after-suppress-exchange", "after-restore", "before-finish",
  "after-finish" }
for _, message in ipairs(control) do
  for _, moment in ipairs { "before-send-", "after-send-", "before-receive-", "after-receive-" } do
    phases[#phases + 1] = moment .. message
  end
end

local function rank_of(p) return random(0, p.ranks - 1) end

-- Where something happens, at `rank`.
local function place(rank)
  local kind = random(5)
  if kind == 1 then
    return { rank = rank, event = "phase", name = "c3:" .. one_of(phases), nth = random(2) }
  elseif kind == 2 then
    return { event = one_of(notes), epoch = random(2), nth = random(2) }
  elseif kind == 3 then
    return { event = one_of(of_messages), nth = random(2) }
  elseif kind == 4 then
    return { rank = rank, event = "call", nth = random(80),
             position = one_of { "before", "after" } }
  end
  return { rank = rank, event = one_of { "send", "deliver" }, level = "wire", nth = random(40) }
end

-- What ends a hold or a stop. A state may hold already, an event may never come: then the job is
-- let go on when it cannot go on otherwise.
local function let_go(p, step)
  local kind = random(3)
  if kind == 1 then
    step.ms = random(30)
  elseif kind == 2 then
    step.release = place(rank_of(p))
  else
    step.release = { state = { rank = rank_of(p), line = random(3),
                               region = one_of { "logging", "beyond" } } }
  end
  step.attempt = true
  return step
end

local kinds = {}

function kinds.kill(p, step)
  step.at = place(rank_of(p))
  if chance(20) and p.ranks > 2 then
    local first = rank_of(p)
    step.ranks = { first, (first + 1) % p.ranks }
  else
    step.rank = rank_of(p)
  end
  if chance(30) then step.lose = one_of { "rank", "node" } end
  p:kill(step)
end

function kinds.hold_control(p, step)
  step.message, step.epoch = one_of(control), random(3)
  if chance(50) then step.to = rank_of(p) end
  p:hold(let_go(p, step))
end

function kinds.hold_message(p, step)
  step.from, step.nth, step.level = rank_of(p), random(40), "wire"
  p:hold(let_go(p, step))
end

function kinds.stop(p, step)
  step.rank, step.at = rank_of(p), place(rank_of(p))
  p:stop(let_go(p, step))
end

function kinds.jitter(p, step)
  step.ms = random(2)
  p:jitter(step)
end

-- The master takes the answer of this worker first.
function kinds.choose(p, step, program)
  if program ~= "master_worker" then return kinds.jitter(p, step) end
  step.rank, step.source, step.nth = 0, random(1, p.ranks - 1), random(40)
  p:choose(step)
end

function kinds.storage(p, step)
  step.rank, step.nth = rank_of(p), random(12)
  local kind = random(3)
  if kind == 1 then
    step.event = one_of { "write", "sync", "rename", "open" }
    step.error = one_of { "ENOSPC", "EIO" }
    p:fail(step)
  elseif kind == 2 then
    step.bytes = random(0, 200)
    p:short(step)
  else
    step.bytes, step.lose = random(0, 200), one_of { "rank", "node" }
    p:tear(step)
  end
end

local all_kinds = {}
for name in pairs(kinds) do all_kinds[#all_kinds + 1] = name end

-- At least one kind, each of the others with even odds.
local function some_kinds()
  local some = { one_of(all_kinds) }
  for _, name in ipairs(all_kinds) do
    if chance(50) then some[#some + 1] = name end
  end
  return some
end

-- One that comes about, whatever else does: at the first line, or early.
local function crash(p)
  local victim = rank_of(p)
  local at = chance(60) and { event = "commit", epoch = 1 } or
             { rank = victim, event = "call", nth = random(30) }
  p:kill { rank = victim, at = at, after = "start", lose = chance(30) and "rank" or nil }
end

local bits = { "separate", "piggyback", "auto" }

local function plan(number, program, arguments, claims, crashes)
  scenario(("plan %d: %s"):format(number, program)) {
    protocol = "c3", program = program, arguments = arguments,
    ranks = RANKS_MIN + number % (RANKS_MAX - RANKS_MIN + 1),
    environment = { C3_EVERY = 3 + number % 9,
                    C3_PIGGYBACK = number % 2 == 0 and "epoch" or "color",
                    C3_COLLECTIVE_BITS = bits[number // #bits % #bits + 1] },
    claims = claims, max_incarnations = 12,
    plan = function(p)
      local some = some_kinds()
      for _ = 1, random(FAULTS_MAX) do
        -- Side by side, or one after the other.
        kinds[one_of(some)](p, { after = chance(70) and "start" or nil }, program)
      end
      if crashes then crash(p) end
    end,
  }
end

for number = 1, PLANS do
  local program = names[number % #names + 1]
  plan(number, program, programs[program], { "C", "H" })
end
for number = PLANS + 1, PLANS + CRASHES do
  plan(number, "collectives", { "--seed", number, "--iterations", 30, "--nonblocking", -1 },
       { "C", "D", "H" }, true)
end
