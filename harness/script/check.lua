-- Checks of what a scenario says, and the words when it is wrong. Knows no field by name.

local core = ...
local type, rawget, tostring, next, ipairs = type, rawget, tostring, next, ipairs
local math_type, math_tointeger, math_maxinteger = math.type, math.tointeger, math.maxinteger
local format, find, match, sub, concat = string.format, string.find, string.match, string.sub,
  table.concat
local sorted_keys, set = core.sorted_keys, core.set

-- ---- errors -----------------------------------------------------------------------------------

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

-- What stands in front of every error from now on.
local function set_context(text)
  context = text
end

local function fail(text, ...)
  core.fail(context .. format(text, ...))
end

local function expected(what, accepted, value)
  fail("%s: %s is expected, not %s", what, accepted, shown(value))
end

local function given_table(given, where)
  if type(given) ~= "table" then
    fail("%sa table { ... } is expected, not %s", where, shown(given))
  end
end

-- ' (did you mean "x"?)' or nothing.
local function hint(name, known)
  local near = type(name) == "string" and core.nearest(name, known)
  return near and format(' (did you mean "%s"?)', near) or ""
end

-- ---- checks: each is given a value and what to call it, and returns the value to keep ---------

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

local function flag(value, what)
  if type(value) ~= "boolean" then expected(what, "true or false", value) end
  return value
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

local reserved = set [[FAULTLINE_RUN FAULTLINE_RANK FAULTLINE_RANKS FAULTLINE_STORE FAULTLINE_RECORD
  FAULTLINE_LIBRARY FAULTLINE_HELPERS FAULTLINE_SURVIVORS FAULTLINE_NODES FAULTLINE_NODE
  FAULTLINE_NODE_STORE FAULTLINE_STORES FAULTLINE_FILES LD_PRELOAD PMI_RANK PMI_SIZE PMI_FD]]

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
    if reserved[name] or find(name, "^FAULTLINE_STORE_") then
      fail("%s: %s is set by Faultline itself", what, name)
    end
    kept[#kept + 1] = text(name .. "=" .. argument(rawget(value, name), what .. ", " .. name), what)
  end
  if #kept > core.MAX_ENVIRONMENT then
    fail("%s: at most %d entries are possible, not %d", what, core.MAX_ENVIRONMENT, #kept)
  end
  return kept
end

-- { ["x.conf"] = "what is in it" } → { "x.conf=what is in it" }, sorted.
local function files(value, what)
  if type(value) ~= "table" then
    expected(what, 'a table such as { ["x.conf"] = "what is in it" }', value)
  end
  local kept = {}
  for _, name in ipairs(sorted_keys(value)) do
    if type(name) ~= "string" or not match(name, "^[%w_][%w_.-]*$") or #name > 100 then
      expected(what, "as name of a file up to 100 letters, digits, _ . and -", name)
    end
    local inside = rawget(value, name)
    if type(inside) ~= "string" then expected(what .. ", " .. name, "a text", inside) end
    kept[#kept + 1] = text(name .. "=" .. inside, what .. ", " .. name)
  end
  if #kept > core.MAX_FILES then
    fail("%s: at most %d files are possible, not %d", what, core.MAX_FILES, #kept)
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

core.check = {
  set_context = set_context, fail = fail, expected = expected, shown = shown, hint = hint,
  given_table = given_table, text = text, line_of_text = line_of_text, integer = integer,
  seconds = seconds, choice = choice, flag = flag, func = func, list = list, argument = argument,
  environment = environment, files = files, fields_of = fields_of, read = read,
}
