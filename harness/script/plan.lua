-- The plan of a scenario: what the methods of p are given becomes steps.

local core = ...
local type, select, ipairs, setmetatable = type, select, ipairs, setmetatable
local concat = table.concat
local sorted_keys, sorted_pairs = core.sorted_keys, core.sorted_pairs
local check, conditions, actions = core.check, core.condition, core.actions
local fail, expected, shown, hint = check.fail, check.expected, check.shown, check.hint
local list, given_table = check.list, check.given_table
local fields_of, read = check.fields_of, check.read

local function any(value) return value end

-- ---- fields -------------------------------------------------------------------------------------

-- Adds `fields` to those that there are. A text stands for a field of `known`; false takes a field
-- away; a check that is false stays as it is.
local function add_fields(to, fields, known)
  for name, field in sorted_pairs(fields) do
    if type(field) == "string" then
      to[name] = known[field]
    elseif field and field[1] == false then
      to[name] = { to[name][1], required = field.required }
    else
      to[name] = field or nil
    end
  end
end

local function make_fields(name, ranks, newcomers)
  local known = conditions.checks(ranks, newcomers)
  local action, to = actions[name] or {}, {}
  local row = core.action_rows[name]
  if not row or row.when ~= "none" then add_fields(to, known) end
  known.ranks = { list(known.rank[1], 1, core.MAX_VICTIMS, { "ranks", "1, 2" }) }
  for _, fields in ipairs(action.fields or {}) do add_fields(to, fields, known) end
  if row and row.victims then to.node = { check.integer(0, core.MAX_RANKS - 1) } end
  if name ~= "condition" then to.after = { any } end
  return fields_of(to)
end

-- number of ranks → action → its fields, made when first used; the same where processes may come
-- later, which have numbers from there on.
local fields_for, fields_with_newcomers = {}, {}

local function fields_of_action(name, ranks, survivors)
  local all = survivors and fields_with_newcomers or fields_for
  all[ranks] = all[ranks] or {}
  local of_ranks = all[ranks]
  of_ranks[name] = of_ranks[name] or make_fields(name, ranks, survivors and core.NEWCOMERS or 0)
  return of_ranks[name]
end

-- ---- the plan -----------------------------------------------------------------------------------

-- Which step is meant by a handle that a method has returned: its number, from 1.
local function number_of(plan, value, what, accepted)
  local number = type(value) == "table" and plan.number_of[value]
  if not number then expected(what, accepted, value) end
  return number
end

-- `after` as the plan has it: an index from 0, -1 for the start, nil for the step before.
local function after_of(plan, value, where)
  if value == nil then return nil end
  if value == "start" then return -1 end
  return number_of(plan, value, where .. 'field "after"',
    '"start" or a step that a method of p has returned') - 1
end

-- The common end of all actions. Returns the handle of the new step.
local function add(plan, name, step, kept, where)
  if #plan.steps >= core.MAX_STEPS then fail("a plan has at most %d steps", core.MAX_STEPS) end
  step.action = step.action or name
  step.after = after_of(plan, kept.after, where)
  step.release = step.release or core.condition_in(plan, kept, "release", where)
  core.fill(step, kept)
  step.when = step.when or { event = "none", states = {} }
  step.victims, step.order = step.victims or {}, step.order or {}
  local before = plan.steps[(step.after or #plan.steps - 1) + 1]
  if before and before.action == "quiet" then
    fail("%sit comes after quiet, after which nothing is done; say after = ...", where)
  end
  local number, handle = #plan.steps + 1, {}
  plan.steps[number], plan.number_of[handle] = step, number
  return handle
end

local function perform(plan, name, given)
  local where = name .. ": "
  given_table(given, where)
  local kept = read(given, plan.fields(name), where)
  return add(plan, name, actions[name].make(plan, kept, where), kept, where)
end

-- release(handle [, { condition }]): the one method that is given a step.
local function release(plan, handle, given)
  local number = number_of(plan, handle, "release",
    "a step that hold, delay, reorder or stop has returned")
  local action = plan.steps[number].action
  if not core.action_rows[action].keeps then
    fail("release: step %d is %s, which keeps nothing; accepted: hold, delay, reorder, stop",
      number, action)
  end
  if given == nil then given = {} end
  given_table(given, "release: ")
  local kept = read(given, plan.fields("release"), "release: ")
  return add(plan, "release",
    { when = conditions.optional(plan, kept, "release: "), target = number - 1 }, kept, "release: ")
end

local methods_of_p = { release = { call = release, most = 2 } }
for name in sorted_pairs(actions) do
  methods_of_p[name] = {
    call = function(plan, given) return perform(plan, name, given) end, most = 1,
  }
end

-- What a plan function is given: p.ranks, and a method per action. The plan itself is out of reach.
local function door_to(plan)
  local door, methods = {}, { ranks = plan.job_ranks }
  for name, method in sorted_pairs(methods_of_p) do
    methods[name] = function(self, ...)
      if self ~= door then fail("%s: write p:%s(...), with a colon", name, name) end
      if select("#", ...) > method.most then
        fail("%s: one table is expected%s", name, method.most > 1 and " after the step" or "")
      end
      if plan.closed then fail("the plan of this scenario is finished") end
      return method.call(plan, ...)
    end
  end
  return setmetatable(door, {
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

-- A message of the program is kept with those of the protocol that it goes in.
local function keeps_a_message_of_the_program(plan)
  for _, step in ipairs(plan.steps) do
    if core.action_rows[step.action].keeps == "messages" and step.when.level ~= "wire" then
      return true
    end
  end
  return false
end

-- Those that the plan is to know besides those it names.
local function use_more(plan)
  local keeps = keeps_a_message_of_the_program(plan)
  if not keeps and not core.ALL_WIRES then return end
  for _, wire in ipairs(core.messages_of(plan.protocol)) do
    if core.ALL_WIRES or wire.carries then plan.uses(wire) end
  end
end

-- With its storage a node loses what was synced as well, and so do files that are lost by name;
-- what is on stable storage then is not told apart, so a plan does the one or the other.
local function check_losses(plan)
  local storage, files, unsynced
  for _, step in ipairs(plan.steps) do
    storage = storage or step.lose == "storage"
    files = files or step.lose_files
    unsynced = unsynced or step.lose == "rank" or step.lose == "node"
  end
  if not storage and not files then return end
  local which = storage and 'lose = "storage"' or "lose_files"
  if storage and not plan.nodes then
    fail('lose = "storage": which storage? Write nodes = { { 0, 1 }, ... } in the scenario')
  elseif plan.survivors then
    fail('%s is done when the job starts again, and with "survivors" it does not', which)
  elseif unsynced then
    fail('%s and lose = "rank" or "node" do not go together in a plan', which)
  end
end

-- The steps that the function scenario.plan (nil: none) makes, and the messages they name.
function core.plan_of(scenario)
  local plan = { steps = {}, wires = {}, number_of = {}, ranks = scenario.most_ranks,
    job_ranks = scenario.ranks,
    survivors = scenario.survivors, nodes = scenario.node_ranks,
    stores = scenario.store_kinds,
    name = scenario.name, protocol = scenario.protocol }
  local used = {}
  function plan.uses(wire)
    if used[wire] then return end
    if #plan.wires >= core.MAX_WIRES then
      fail("a plan names at most %d messages of a protocol", core.MAX_WIRES)
    end
    plan.wires[#plan.wires + 1] = wire
    used[wire] = true
  end
  function plan.fields(name) return fields_of_action(name, plan.ranks, scenario.survivors) end
  if scenario.plan then
    -- Draws of one plan must not move those of another.
    local stream, draw = core.stream(core.hash(plan.name), 0)
    scenario.plan(door_to(plan))
    core.stream(stream, draw)
  end
  use_more(plan)
  check_losses(plan)
  plan.closed = true
  return plan.steps, plan.wires
end
