-- Conditions: an event and what must be true of it, or what must be true of ranks.

local core = ...
local ipairs, rawget = ipairs, rawget
local format, gsub, concat = string.format, string.gsub, table.concat
local math_maxinteger = math.maxinteger
local sorted_keys, set = core.sorted_keys, core.set
local check = core.check
local fail, shown, hint = check.fail, check.shown, check.hint
local integer, choice, list, text = check.integer, check.choice, check.list, check.text
local given_table, fields_of, read = check.given_table, check.fields_of, check.read

-- ---- which field goes with which event ----------------------------------------------------------

local events = {}
for i, name in ipairs(core.events) do
  if i > 1 then events[i - 1] = name end -- the first is "none"
end

-- What a wait completes is not known when it is called: whoever means a message says "deliver".
local calls = "send recv deliver wait probe collective call "
local of_store = "open write sync rename unlink "
local told = { line = "", message = "", channel = "", name = "", nothing = "" } -- by what it is of
for name, about in core.sorted_pairs(core.notes) do told[about] = told[about] .. name .. " " end
local fits = {
  call = set(calls), level = set(calls), position = set(calls .. of_store),
  comm = set("send recv deliver probe collective call " .. told.message),
  peer = set("send recv deliver probe collective " .. told.message .. told.channel),
  tag = set("send recv deliver probe " .. told.message),
  epoch = set(told.line .. told.message .. told.channel),
  name = set(told.name),
  message = set "send deliver",
  file = set(of_store), store = set(of_store),
}
local needs_event, words_of = { "store" }, {}
for _, field in ipairs(core.condition_fields) do
  if field.name ~= "event" and field.name ~= "rank" and field.name ~= "state" then
    needs_event[#needs_event + 1] = field.name
  end
  words_of[field.name] = field.words
end

local function check_fits(when, where)
  local event = when.event == "call" and when.call and core.call_family(when.call) or when.event
  for _, field in ipairs(needs_event) do
    local ok = fits[field]
    local of_message = field == "epoch" and when.message and fits.message[event]
    if when[field] ~= nil and ok and not ok[event] and not of_message then
      fail('%sfield "%s" says nothing about event "%s"%s; it goes with: %s', where, field, event,
        field == "epoch" and fits.message[event] and ' without "message"' or "",
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

-- A message of the protocol's own is one of the wire.
local function check_message(plan, when, where)
  if not when.message then return end
  if when.level == "app" then
    fail('%sfield "message": the protocol\'s own messages are seen at level = "wire" only', where)
  end
  when.level = "wire"
  local wire = core.message_of(plan.protocol, when.message, where .. 'field "message"')
  if when.epoch and not wire.epoch then
    fail('%sfield "epoch": the wire file does not say where "%s" holds it', where, when.message)
  end
  plan.uses(wire)
end

-- The pattern of all files of a store that has a name, or of those that match `file` below it; of a
-- node's store with this in place of the number of the node.
local function in_store(plan, name, file, node, where)
  local kind = plan.stores and plan.stores[name]
  if not plan.stores then
    fail('%sthe scenario has no stores; write stores = { "%s" } there', where, name)
  elseif not kind then
    local known = sorted_keys(plan.stores)
    fail("%s%s is no store%s; accepted: %s", where, shown(name), hint(name, known),
      concat(known, ", "))
  end
  local pattern = (kind == "node" and "node" .. node .. "/" or "") .. name .. "/" .. (file or "*")
  if #pattern >= core.NAME_BYTES then
    fail("%s%s has %d bytes; at most %d are possible", where, shown(pattern), #pattern,
      core.NAME_BYTES - 1)
  end
  return pattern
end

-- A file of a store that has a name.
local function check_store(plan, when, where)
  if not when.store then return end
  when.file = in_store(plan, when.store, when.file, "*", where .. 'field "store": ')
  when.store = nil
end

-- ---- what must be true of ranks -----------------------------------------------------------------

local regions = { "before", "logging", "beyond" }

local function check_region(state, where)
  if state.region and not state.line then
    fail('%sfield "region" needs "line": which recovery line, 1 or more', where)
  end
  if state.line and not state.region then
    fail('%sfield "line" needs "region"; accepted: %s', where, concat(regions, ", "))
  end
end

local function state_check(ranks)
  local fields = fields_of {
    rank = ranks.rank, region = ranks.region, line = ranks.line, blocked = { core.blocking_call },
  }
  local function entry(value, what)
    local where = what .. ": "
    given_table(value, where)
    local state = read(value, fields, where)
    check_region(state, where)
    if not state.region and not state.blocked then
      fail('%sit asks for nothing; accepted: region with line, blocked', where)
    end
    return state
  end
  local entries = list(entry, 1, core.MAX_STATES,
    { "states", '{ rank = 2, region = "beyond", line = 1 }' })
  return function(value, what)
    given_table(value, what .. ": ")
    return rawget(value, 1) == nil and { entry(value, what) } or entries(value, what)
  end
end

-- All of them, `region` of the condition itself too. Without an event each names its rank.
local function states_of(kept, where)
  check_region(kept, where)
  local states = { kept.region and { region = kept.region, line = kept.line } }
  for _, state in ipairs(kept.state or {}) do states[#states + 1] = state end
  if #states > core.MAX_STATES then
    fail('%sat most %d states are possible, "region" included', where, core.MAX_STATES)
  end
  for _, state in ipairs(states) do
    if not kept.event then state.rank = state.rank or kept.rank end
    if not kept.event and not state.rank then
      fail('%swhose state is meant? Without an event write "rank"', where)
    end
  end
  return states
end

-- ---- conditions ---------------------------------------------------------------------------------

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

function core.blocking_call(value, what)
  call_name(value, what)
  if not core.call_blocks(value) then
    fail('%s: %s does not wait for other ranks, so nobody is seen blocked in it', what, value)
  end
  return value
end

local function short_text(value, what)
  if #check.line_of_text(value, what) >= core.NAME_BYTES then
    fail("%s: %d bytes; at most %d are possible", what, #value, core.NAME_BYTES - 1)
  end
  return value
end

-- Checks of the fields of a condition, for a job of so many ranks and processes that come later.
local function condition_checks(ranks, newcomers)
  local why = format(" (ranks = %d)", ranks)
  if newcomers > 0 then why = format(" (ranks = %d, and processes that come later)", ranks) end
  local rank = { integer(0, ranks + newcomers - 1, why) }
  local of = {
    event = { choice(events) }, rank = rank, peer = rank,
    incarnation = { integer(0, core.MAX_INCARNATIONS - 1) },
    tag = { integer(0, 2147483647) }, comm = { core.communicator },
    epoch = { integer(0, math_maxinteger) }, nth = { integer(1, math_maxinteger) },
    level = { choice(words_of.level) }, position = { choice(words_of.position) },
    call = { call_name }, name = { short_text }, message = { short_text },
    within = { short_text }, file = { short_text }, store = { short_text },
    region = { choice(regions) }, line = { integer(1, math_maxinteger) },
  }
  of.state = { state_check(of) }
  return of
end

-- Only ranks: true as soon as they all are so, whoever sees it.
local function condition_of_states(kept, states, where)
  for _, field in ipairs(needs_event) do
    if kept[field] ~= nil then
      fail('%sfield "%s" needs an event; accepted: %s', where, field, concat(events, ", "))
    end
  end
  return { event = "none", states = states }
end

-- A condition from checked fields (others in `kept` are not looked at); event "none" and no states
-- where nothing is asked for. victims: of a kill.
local function condition(plan, kept, where, victims)
  kept.event = kept.event or (kept.call and "call")
  local states = states_of(kept, where)
  if not kept.event then return condition_of_states(kept, states, where) end
  local when = { event = kept.event, rank = kept.rank, states = states }
  for _, field in ipairs(needs_event) do when[field] = kept[field] end
  check_fits(when, where)
  check_call(when, where)
  check_message(plan, when, where)
  check_store(plan, when, where)
  check_position(when, where, victims)
  return when
end

-- The same, where something must be asked for.
local function required_condition(plan, kept, where, victims)
  local when = condition(plan, kept, where, victims)
  if when.event == "none" and #when.states == 0 then
    fail('%sfield "event" is missing; accepted: %s; or "state" alone', where, concat(events, ", "))
  end
  return when
end

-- One event of those that something can be done to.
local function limit_event(kept, where, accepted)
  for _, event in ipairs(accepted) do
    if kept.event == event then return end
  end
  if not kept.event or kept.event == "none" then
    fail('%sfield "event" is missing; accepted: %s', where, concat(accepted, ", "))
  end
  fail('%sfield "event": this is not done to "%s"%s; accepted: %s', where, kept.event,
    hint(kept.event, accepted), concat(accepted, ", "))
end

core.condition = {
  checks = condition_checks, optional = condition, required = required_condition,
  limit_event = limit_event, short_text = short_text, in_store = in_store,
}
