-- The scenario API, as a scenario file sees it, and the last doors of the sandbox. Run once, before
-- the file itself. `core` is what sandbox.c gives: facts of the lists in C, and where to hand a
-- finished scenario. Every check of a scenario is made here: C takes over only what has passed.
--
-- The file under test may replace any global: everything used below is a local.

local core = ...
local type, rawget, select, tostring, tonumber = type, rawget, select, tostring, tonumber
local getmetatable, setmetatable, next, ipairs = getmetatable, setmetatable, next, ipairs
local math_type, math_tointeger, math_maxinteger = math.type, math.tointeger, math.maxinteger
local format, find, match, gsub = string.format, string.find, string.match, string.gsub
local sub, lower, gmatch = string.sub, string.lower, string.gmatch
local concat, table_pack, table_unpack = table.concat, table.pack, table.unpack

-- ---- order ------------------------------------------------------------------------------------

-- Merge sort: stable, and the same every time. Lua's own picks its pivots by the clock.
local function sort(list, before)
  before = before or function(a, b) return a < b end
  local from, to, width = list, {}, 1
  local count = #list
  while width < count do
    for start = 1, count, 2 * width do
      local left, right = start, start + width
      local left_end, right_end = right, start + 2 * width
      for k = start, start + 2 * width - 1 do
        if k > count then break end
        if left < left_end and left <= count
            and (right >= right_end or right > count or not before(from[right], from[left])) then
          to[k], left = from[left], left + 1
        else
          to[k], right = from[right], right + 1
        end
      end
    end
    from, to, width = to, from, 2 * width
  end
  if from ~= list then
    for k = 1, count do list[k] = from[k] end
  end
end

local order_of_type = { number = 1, string = 2, boolean = 3 }

local function key_before(a, b)
  local order_a, order_b = order_of_type[type(a)], order_of_type[type(b)]
  if order_a ~= order_b then return order_a < order_b end
  if order_a == 3 then return not a and b end
  return a < b
end

-- Keys in an order that is the same in every process.
local function sorted_keys(of)
  local keys = {}
  for key in next, of do
    if not order_of_type[type(key)] then
      core.fail("pairs: keys must be texts, numbers or booleans here: with a " .. type(key)
        .. " as key the order, and so the plan, would differ from run to run")
    end
    keys[#keys + 1] = key
  end
  sort(keys, key_before)
  return keys
end

local function sorted_pairs(of)
  local meta = getmetatable(of)
  local own = type(meta) == "table" and rawget(meta, "__pairs")
  if own then return own(of) end
  if type(of) ~= "table" then core.fail("pairs: a table is expected, not a " .. type(of)) end
  local keys, at = sorted_keys(of), 0
  return function()
    local value
    repeat
      at = at + 1
      if keys[at] == nil then return nil end
      value = of[keys[at]]
    until value ~= nil
    return keys[at], value
  end, of, nil
end

-- ---- texts without addresses ----------------------------------------------------------------------

-- tostring of a table or function tells where it lies in memory: that differs from run to run.
local function has_address(value)
  local kind = type(value)
  if kind ~= "table" and kind ~= "function" and kind ~= "userdata" then return false end
  local meta = getmetatable(value)
  return not (type(meta) == "table" and rawget(meta, "__tostring"))
end

local function plain_tostring(value)
  return has_address(value) and type(value) or tostring(value)
end

local function plain_format(pattern, ...)
  if type(pattern) == "string" and find(gsub(pattern, "%%%%", ""), "%%[-+ #0-9.]*p") then
    core.fail("string.format: %p is not available: addresses differ from run to run")
  end
  local given = table_pack(...)
  for i = 1, given.n do
    if has_address(given[i]) then given[i] = type(given[i]) end
  end
  return format(pattern, table_unpack(given, 1, given.n))
end

local function checked_setmetatable(object, meta)
  if type(meta) == "table" and rawget(meta, "__gc") ~= nil then
    core.fail("setmetatable: __gc is not available: when it runs differs from run to run")
  end
  return setmetatable(object, meta)
end

-- ---- errors -----------------------------------------------------------------------------------------

local SHOWN_BYTES = 60

-- A value as an error names it: short, on one line.
local function shown(value)
  local kind = type(value)
  if kind == "nil" then return "nothing" end
  if kind == "number" or kind == "boolean" then return tostring(value) end
  if kind ~= "string" then return "a " .. kind end
  local text = #value > SHOWN_BYTES and sub(value, 1, SHOWN_BYTES) .. "..." or value
  return '"' .. core.printable(text) .. '"'
end

local context = "" -- of the scenario that is being read: 'scenario "x": '

local function fail(text, ...)
  core.fail(context .. format(text, ...))
end

local function expected(what, accepted, value)
  fail("%s: %s is expected, not %s", what, accepted, shown(value))
end

-- ' (did you mean "x"?)' or nothing.
local function hint(name, known)
  local near = type(name) == "string" and core.nearest(name, known)
  return near and format(' (did you mean "%s"?)', near) or ""
end

-- ---- checks: each is given a value and what to call it, and returns the value to keep --------------

local function text(value, what)
  if type(value) ~= "string" then expected(what, "a text", value) end
  if value == "" then expected(what, "a text that is not empty", value) end
  if #value >= core.TEXT_BYTES then
    fail("%s: a text of %d bytes; at most %d are possible", what, #value, core.TEXT_BYTES - 1)
  end
  if find(value, "\0", 1, true) then expected(what, "a text without zero bytes", value) end
  return value
end

local function line_of_text(value, what)
  if find(text(value, what), "%c") then
    expected(what, "a text without control characters", value)
  end
  return value
end

local function integer(from, to, why)
  local accepted = format("an integer from %d to %d%s", from, to, why or "")
  if to == math_maxinteger then accepted = format("an integer, %d or more", from) end
  return function(value, what)
    local whole = math_type(value) and math_tointeger(value)
    if not whole or whole < from or whole > to then expected(what, accepted, value) end
    return whole
  end
end

local function seconds(value, what)
  if not math_type(value) or not (value > 0 and value <= core.MAX_TIMEOUT_S) then
    expected(what, format("a number of seconds, above 0 and at most %d", core.MAX_TIMEOUT_S), value)
  end
  return value + 0.0
end

local function choice(known)
  return function(value, what)
    for _, name in ipairs(known) do
      if value == name then return value end
    end
    fail('%s: %s is not known%s; accepted: %s', what, shown(value), hint(value, known),
      concat(known, ", "))
  end
end

local function func(value, what)
  if type(value) ~= "function" then expected(what, "a function", value) end
  return value
end

-- A list { a, b, ... } of 1 to `limit` values (`least` may be 0), each checked.
local function list(check, least, limit, of_what)
  local accepted = format("a list of %s such as { %s }", of_what[1], of_what[2])
  return function(value, what)
    if type(value) ~= "table" then expected(what, accepted, value) end
    local count = 0
    for key in next, value do
      if not math_type(key) or not math_tointeger(key) then
        fail("%s: %s is expected, without named entries (%s)", what, accepted, shown(key))
      end
      count = count + 1
    end
    if count ~= #value then fail("%s: the list has gaps", what) end
    if count < least or count > limit then
      fail("%s: %d to %d entries are expected, not %d", what, least, limit, count)
    end
    local kept = {}
    for i = 1, count do kept[i] = check(rawget(value, i), format("%s, entry %d", what, i)) end
    return kept
  end
end

-- A word of a command line: numbers are written as Lua writes them.
local function argument(value, what)
  if math_type(value) then return tostring(value) end
  if type(value) == "string" and value == "" then return value end
  if type(value) ~= "string" then expected(what, "a text or a number", value) end
  return text(value, what)
end

local reserved = { FAULTLINE_RUN = true, FAULTLINE_RANK = true, FAULTLINE_RANKS = true,
  FAULTLINE_STORE = true, FAULTLINE_RECORD = true, LD_PRELOAD = true, PMI_RANK = true,
  PMI_SIZE = true, PMI_FD = true }

-- { NAME = "value" } → { "NAME=value" }, sorted.
local function environment(value, what)
  if type(value) ~= "table" then
    expected(what, 'a table such as { NAME = "value" }', value)
  end
  local kept = {}
  for _, name in ipairs(sorted_keys(value)) do
    if type(name) ~= "string" or not match(name, "^[%a_][%w_]*$") then
      expected(what, "as name a word of letters, digits and _", name)
    end
    if reserved[name] then fail("%s: %s is set by Faultline itself", what, name) end
    kept[#kept + 1] = text(name .. "=" .. argument(rawget(value, name), what .. ", " .. name), what)
  end
  if #kept > core.MAX_ENVIRONMENT then
    fail("%s: at most %d entries are possible, not %d", what, core.MAX_ENVIRONMENT, #kept)
  end
  return kept
end

-- The fields that a table may have: name → { check, required =, default = }.
local function fields_of(checks)
  return { checks = checks, names = sorted_keys(checks) }
end

local function check_known(given, fields, where)
  local checks, unknown = fields.checks, false
  for key in next, given do unknown = unknown or checks[key] == nil end
  if not unknown then return end
  for _, key in ipairs(sorted_keys(given)) do -- in order: the same error every time
    if checks[key] == nil then
      fail('%sunknown field %s%s; accepted: %s', where, shown(key), hint(key, fields.names),
        concat(fields.names, ", "))
    end
  end
end

-- Reads the table `given`. `where` stands in front of a field's name in errors.
local function read(given, fields, where)
  check_known(given, fields, where)
  local kept = {}
  for _, name in ipairs(fields.names) do
    local field, value = fields.checks[name], rawget(given, name)
    if value ~= nil then
      kept[name] = field[1](value, format('%sfield "%s"', where, name))
    elseif field.required then
      fail('%sfield "%s" is missing: %s', where, name, field.required)
    else
      kept[name] = field.default
    end
  end
  return kept
end

-- ---- conditions: when a step of the plan is done ----------------------------------------------------

local function set(names)
  local of = {}
  for name in gmatch(names, "%S+") do of[name] = true end
  return of
end

local events = {}
for i, name in ipairs(core.events) do
  if i > 1 then events[i - 1] = name end -- the first is "none"
end

-- Which fields say something about which event.
local calls = set "send recv deliver wait probe collective call"
local fits = {
  peer = calls, comm = calls, call = calls, level = calls, position = calls,
  tag = set "send recv deliver wait probe call",
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
  if #line_of_text(value, what) >= core.NAME_BYTES then
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
  for _, field in ipairs(condition_names) do
    local ok = fits[field]
    if when[field] ~= nil and ok and not ok[when.event] then
      fail('%sfield "%s" says nothing about event "%s"; it goes with: %s', where, field, when.event,
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

-- ---- the plan ------------------------------------------------------------------------------------------

local function given_table(given, where)
  if type(given) ~= "table" then fail("%sa table { ... } is expected, not %s", where, shown(given)) end
end

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

-- What a plan function is given: p.ranks, and a method per verb. The plan itself stays out of reach.
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

local function steps_of(plan, ranks, name)
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

-- ---- scenario "name" { ... } ----------------------------------------------------------------------------

local texts = { "texts", '"H"' }
local expect_fields = fields_of {
  violates = { line_of_text, default = "" },
  cover = { list(line_of_text, 0, core.MAX_CLAIMS, texts), default = {} },
}
local scenario_fields = fields_of {
  protocol = { line_of_text, required = "the name of a protocol, or the path of a shared library" },
  program = { line_of_text, required = "the name of a program, or the path of an executable" },
  arguments = { list(argument, 0, core.MAX_ARGUMENTS, { "texts and numbers", '"-n", 10' }),
    default = {} },
  ranks = { integer(1, core.MAX_RANKS), required = format("1 to %d", core.MAX_RANKS) },
  claims = { list(line_of_text, 1, core.MAX_CLAIMS, texts), default = { "H" } },
  plan = { func },
  timeout = { seconds, default = 0.0 },
  environment = { environment, default = {} },
  max_incarnations = { integer(1, core.MAX_INCARNATIONS), default = 0 },
  expect = { function(value, what)
    given_table(value, what .. ": ")
    return read(value, expect_fields, "expect: ")
  end, default = { violates = "", cover = {} } },
}

local defined = {} -- name → line
local open = {}    -- name → line, of scenarios whose table has not come yet
local emitted = 0

local function check_name(name)
  if type(name) ~= "string" then
    core.fail("scenario: a name is expected, not " .. shown(name)
      .. '; write scenario "name" { ... }')
  end
  if name == "" or #name >= core.SCENARIO_NAME_BYTES or find(name, "[^%w_./:+=, -]") then
    core.fail(format("scenario %s: a name is 1 to %d letters, digits, blanks and _ . / : + = , -",
      shown(name), core.SCENARIO_NAME_BYTES - 1))
  end
  if defined[name] then
    core.fail(format('scenario "%s": the name stands already in line %d', name, defined[name]))
  end
end

-- A claim that must be found violated must be judged.
local function check_violates(kept)
  local violates = kept.expect.violates
  if violates == "" or match(violates, "^I%.") or violates == "H.progress" then return end
  for _, claim in ipairs(kept.claims) do
    if claim == violates or sub(violates, 1, #claim + 1) == claim .. "." then return end
  end
  fail('expect: field "violates": "%s" is not among the claims that are judged: %s', violates,
    concat(kept.claims, ", "))
end

local function define(name, line, given)
  if type(given) ~= "table" then
    core.fail(format('scenario "%s": a table { ... } is expected, not %s', name, shown(given)))
  end
  check_name(name)
  defined[name], open[name] = line, nil
  context = format('scenario "%s": ', name)
  local kept = read(given, scenario_fields, "")
  check_violates(kept)
  kept.name, kept.line = name, line
  kept.steps = steps_of(kept.plan, kept.ranks, name)
  context = ""
  core.emit(kept)
  emitted = emitted + 1
end

local function scenario(name)
  check_name(name)
  local line = core.line()
  open[name] = line
  return function(given) define(name, line, given) end
end

-- Called by C when the file has come to its end.
function core.finish()
  for _, name in ipairs(sorted_keys(open)) do
    core.fail(format('scenario "%s": its table { ... } is missing', name), open[name])
  end
  if emitted == 0 then core.fail("the file defines no scenario") end
end

-- ---- what the file sees ---------------------------------------------------------------------------------

local known_outside = set [[os io require dofile load loadfile loadstring collectgarbage debug package
  coroutine next warn arg]]

string.dump = nil
string.format = plain_format
table.sort = sort
math.random = core.random
math.randomseed = nil
getmetatable("").__metatable = false
_G.pairs, _G.tostring, _G.print = sorted_pairs, plain_tostring, function(...)
  local words = table_pack(...)
  for i = 1, words.n do words[i] = plain_tostring(words[i]) end
  core.print(concat(words, "\t"))
end
_G.setmetatable = checked_setmetatable
_G.scenario = scenario

local visible = set [[assert error ipairs pairs pcall xpcall select tonumber tostring type rawequal
  rawget rawset rawlen setmetatable getmetatable string table math utf8 print scenario _G _VERSION]]
for _, name in ipairs(sorted_keys(_G)) do
  if not visible[name] then _G[name] = nil end
end

setmetatable(_G, {
  __metatable = false,
  __index = function(_, name)
    if known_outside[name] then
      core.fail(format("%s is not available in a scenario", name))
    end
    core.fail(format("%s is not defined%s", shown(name), hint(name, sorted_keys(_G))))
  end,
})
