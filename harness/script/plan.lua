-- The plan of a scenario: what p.kill and p.await are given becomes steps.

local core = ...
local type, select, tonumber, ipairs, setmetatable = type, select, tonumber, ipairs, setmetatable
local format, match, gsub, lower = string.format, string.match, string.gsub, string.lower
local concat, math_maxinteger = table.concat, math.maxinteger
local sorted_keys, sorted_pairs, set = core.sorted_keys, core.sorted_pairs, core.set
local check = core.check
local fail, expected, shown, hint = check.fail, check.expected, check.shown, check.hint
local integer, choice, list, text = check.integer, check.choice, check.list, check.text
local given_table, fields_of, read = check.given_table, check.fields_of, check.read

-- ---- conditions: when a step of the plan is done ----------------------------------------------

local events = {}
for i, name in ipairs(core.events) do
  if i > 1 then events[i - 1] = name end -- the first is "none"
end

-- Which fields say something about which event. What a wait completes is not known when it is
-- called: whoever means a message says "deliver".
local calls = set "send recv deliver wait probe collective call"
local fits = {
  call = calls, level = calls, position = calls,
  comm = set "send recv deliver probe collective call",
  peer = set "send recv deliver probe collective",
  tag = set "send recv deliver probe",
  epoch = set "checkpoint saved commit restored stop-log",
  name = set "phase result",
}
local condition_names = { "incarnation", "peer", "tag", "comm", "epoch", "nth", "level",
  "position", "call", "name" }

local function communicator(value, what)
  if value == "world" then return 1 end
  if value == "self" then return 2 end
  local digits = type(value) == "string" and match(lower(value), "^0?x?(%x+)$")
  local id = digits and #digits <= 8 and tonumber(digits, 16)
  if not id or id < 1 then
    expected(what, '"world", "self" or the hexadecimal id of a communicator in a trace', value)
  end
  return id
end

local function call_name(value, what)
  text(value, what)
  if core.call_known(value) then return value end
  if core.call_known((gsub(value, "^P(MPIX?_)", "%1"))) then
    fail('%s: %s: write it without the P; what a protocol asks of the MPI library is '
      .. 'level = "wire"', what, shown(value))
  end
  local near = core.call_nearest(value)
  fail('%s: %s is no MPI function%s', what, shown(value),
    near and format(' (did you mean "%s"?)', near) or "")
end

local function name_of_note(value, what)
  if #check.line_of_text(value, what) >= core.NAME_BYTES then
    fail("%s: %d bytes; at most %d are possible", what, #value, core.NAME_BYTES - 1)
  end
  return value
end

-- Checks of a condition, for a job of so many ranks.
local function condition_checks(ranks)
  local rank = { integer(0, ranks - 1, format(" (ranks = %d)", ranks)) }
  return {
    event = { choice(events) }, rank = rank, peer = rank,
    incarnation = { integer(0, core.MAX_INCARNATIONS - 1) },
    tag = { integer(0, 2147483647) }, comm = { communicator },
    epoch = { integer(0, math_maxinteger) }, nth = { integer(1, math_maxinteger) },
    level = { choice { "app", "wire" } },
    position = { choice { "before", "after", "inside" } },
    call = { call_name }, name = { name_of_note },
  }
end

local function check_fits(when, where)
  local event = when.event == "call" and when.call and core.call_family(when.call) or when.event
  for _, field in ipairs(condition_names) do
    local ok = fits[field]
    if when[field] ~= nil and ok and not ok[event] then
      fail('%sfield "%s" says nothing about event "%s"; it goes with: %s', where, field, event,
        concat(sorted_keys(ok), ", "))
    end
  end
end

local function check_call(when, where)
  local family = when.call and core.call_family(when.call)
  if not family or when.event == "call" or family == when.event then return end
  if when.event == "deliver" and (family == "recv" or family == "wait") then return end
  fail('%s%s is never event "%s"; accepted: event = "%s" or "call"', where, when.call, when.event,
    family)
end

local function check_position(when, where, victims)
  if when.event == "deliver" then
    when.position = when.position or "after"
    if when.position ~= "after" then
      fail('%sfield "position": a delivery is complete when it is seen: only "after" is possible',
        where)
    end
  elseif when.position == "inside" and not victims then
    fail('%sfield "position": "inside" is for kill; accepted: before, after', where)
  elseif when.position == "inside" and (#victims ~= 1 or victims[1] ~= when.rank) then
    fail('%sfield "position": "inside" kills the rank that is inside the call and no other', where)
  end
end

-- A condition from checked fields. victims: of a kill.
local function condition(when, where, victims)
  when.event = when.event or (when.call and "call")
  if not when.event then
    for _, field in ipairs(condition_names) do
      if when[field] ~= nil then
        fail('%sfield "%s" needs an event; accepted: %s', where, field, concat(events, ", "))
      end
    end
    return { event = "none" }
  end
  check_fits(when, where)
  check_call(when, where)
  check_position(when, where, victims)
  return when
end

local function check_event(when, where)
  if when.event == "none" then
    fail('%sfield "event" is missing; accepted: %s', where, concat(events, ", "))
  end
end

-- ---- the plan ---------------------------------------------------------------------------------

local function add(plan, step)
  if plan.closed then fail("the plan of this scenario is finished") end
  if #plan.steps >= core.MAX_STEPS then fail("a plan has at most %d steps", core.MAX_STEPS) end
  plan.steps[#plan.steps + 1] = step
end

local function own_victims(kept, ranks)
  if kept.rank and kept.ranks then fail('kill: "rank" and "ranks" exclude each other') end
  local victims = kept.ranks or { kept.rank }
  if #victims == 0 then
    fail('kill: "rank" or "ranks" is missing: who is killed; accepted: 0 to %d', ranks - 1)
  end
  local seen = {}
  for _, rank in ipairs(victims) do
    if seen[rank] then fail('kill: field "ranks": rank %d stands twice', rank) end
    seen[rank] = true
  end
  return victims
end

local function any_table(value, what)
  given_table(value, what .. ": ")
  return value
end

-- Made once for each number of ranks.
local fields_for = {}

local function step_fields(ranks)
  if not fields_for[ranks] then
    local of_kill = condition_checks(ranks)
    of_kill.ranks = { list(of_kill.rank[1], 1, core.MAX_VICTIMS, { "ranks", "1, 2" }) }
    of_kill.at = { any_table }
    fields_for[ranks] = { condition = fields_of(condition_checks(ranks)),
      kill = fields_of(of_kill) }
  end
  return fields_for[ranks]
end

-- The condition of a kill is its own fields (then the victim is whose event it is), or `at`.
local function kill(plan, given)
  given_table(given, "kill: ")
  local fields = step_fields(plan.ranks)
  local kept = read(given, fields.kill, "kill: ")
  local victims, at = own_victims(kept, plan.ranks), kept.at
  kept.at, kept.ranks = nil, nil
  local when = condition(kept, "kill: ", victims)
  if when.event ~= "none" and at then
    fail('kill: "at" and the condition of its own ("%s") exclude each other', when.event)
  end
  if when.event ~= "none" and not when.rank then
    fail('kill: whose event "%s" is meant? With "ranks" write at = { rank = ..., event = "%s" }',
      when.event, when.event)
  end
  if at then
    when = condition(read(at, fields.condition, "kill: at: "), "kill: at: ", victims)
    check_event(when, "kill: at: ")
  end
  add(plan, { action = "kill", when = when, victims = victims })
end

local function await(plan, given)
  given_table(given, "await: ")
  local when = condition(read(given, step_fields(plan.ranks).condition, "await: "), "await: ")
  check_event(when, "await: ")
  add(plan, { action = "await", when = when, victims = {} })
end

local verbs = { kill = kill, await = await }

-- What a plan function is given: p.ranks, and a method per verb. The plan itself is out of reach.
local function handle_of(plan)
  local handle, methods = {}, { ranks = plan.ranks }
  for name, verb in sorted_pairs(verbs) do
    methods[name] = function(self, given, ...)
      if self ~= handle then
        fail("%s: write p:%s { ... }, with a colon", name, name)
      end
      if select("#", ...) > 0 then fail("%s: one table is expected", name) end
      verb(plan, given)
    end
  end
  return setmetatable(handle, {
    __metatable = false,
    __index = function(_, name)
      if methods[name] == nil then
        fail("p has no %s%s; accepted: %s", shown(name), hint(name, sorted_keys(methods)),
          concat(sorted_keys(methods), ", "))
      end
      return methods[name]
    end,
    __newindex = function() fail("p cannot be changed") end,
  })
end

-- The steps that the function `plan` (nil: none) of scenario `name` makes.
function core.steps_of(plan, ranks, name)
  local made = { steps = {}, ranks = ranks }
  if plan then
    -- Draws of one plan must not move those of another.
    local stream, draw = core.stream(core.hash(name), 0)
    plan(handle_of(made))
    core.stream(stream, draw)
  end
  made.closed = true
  return made.steps
end
