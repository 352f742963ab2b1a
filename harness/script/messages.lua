-- The messages of a protocol's own, by the names that its wire file gives them: how a condition
-- finds them in what goes over the wire.

local core = ...
local type, rawget, tonumber, ipairs, pairs = type, rawget, tonumber, ipairs, core.sorted_pairs
local format, match, lower, concat = string.format, string.match, string.lower, table.concat
local sorted_keys = core.sorted_keys
local check = core.check
local fail, expected, hint = check.fail, check.expected, check.hint
local integer, choice, flag = check.integer, check.choice, check.flag
local given_table = check.given_table
local fields_of, read = check.fields_of, check.read

-- ---- communicators ------------------------------------------------------------------------------

-- Their ids, as record.h has them.
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

-- The same, or "world#n": the n-th that was made from MPI_COMM_WORLD with all its ranks.
local function communicator_of_wire(value, what)
  local nth = type(value) == "string" and match(value, "^world#(%d+)$")
  if not nth then return { id = communicator(value, what), nth = 0 } end
  return { id = 1, nth = integer(1, core.MAX_COMMUNICATORS)(tonumber(nth), what .. ', after "#"') }
end

-- ---- what a wire file says ----------------------------------------------------------------------

local widths = { u8 = 1, u16 = 2, u32 = 4, u64 = 8 }
local field_at = { integer(0, core.MAX_WIRE_OFFSET), required = "its byte offset in the payload" }
local field_type = { choice(sorted_keys(widths)), required = concat(sorted_keys(widths), ", ") }

local function any(value) return value end

-- A number that stands in the payload.
local function number_check(fields)
  return function(value, what)
    given_table(value, what .. ": ")
    local kept = read(value, fields, what .. ": ")
    local bytes = widths[kept.type]
    if kept.equals ~= nil then
      local most = bytes < 8 and (1 << 8 * bytes) - 1 or math.maxinteger
      kept.equals = integer(0, most)(kept.equals, format('%s: field "equals"', what))
    end
    return { at = kept.at, bytes = bytes, equals = kept.equals }
  end
end

local wire_fields = fields_of {
  comm = { communicator_of_wire, default = { id = 0, nth = 0 } },
  tag = { integer(0, 2147483647) },
  carries = { flag },
  epoch = { number_check(fields_of { at = field_at, type = field_type }) },
  where = { number_check(fields_of { at = field_at, type = field_type,
    equals = { any, required = "the number that must stand there" } }) },
}

local function check_name(name, where)
  if type(name) ~= "string" then fail("%s%s: a message has a name", where, check.shown(name)) end
  if #check.line_of_text(name, where .. "name of a message") >= core.NAME_BYTES then
    fail("%sname of a message: %d bytes; at most %d are possible", where, #name,
      core.NAME_BYTES - 1)
  end
end

-- wire { name = { ... }, ... } into `wires`.
local function add_wires(wires, path, given)
  local place = format("%s:%d: ", path, core.line(path))
  given_table(given, place .. "wire: ")
  for name, entry in pairs(given) do
    check_name(name, place)
    local where = format('%smessage "%s": ', place, name)
    if wires[name] then fail("%sit stands twice", where) end
    given_table(entry, where)
    local kept = read(entry, wire_fields, where)
    if kept.comm.id == 0 and not kept.tag and not kept.where then
      fail("%snothing tells it from others; accepted: comm, tag, where", where)
    end
    kept.name = name
    wires[name] = kept
  end
end

-- What a wire file finds in its world: `wire` and nothing else.
local function world_of(wires, path)
  return setmetatable({ wire = function(given) add_wires(wires, path, given) end }, {
    __index = function(_, name)
      fail("%s:%d: %s is not available in a wire file; accepted: wire", path, core.line(path),
        check.shown(name))
    end,
    __newindex = function(_, name)
      fail("%s:%d: %s cannot be set: write local %s", path, core.line(path), check.shown(name),
        name)
    end,
  })
end

local loaded = {} -- protocol → { wires =, path = }

local function load(protocol)
  if not loaded[protocol] then
    local wires, path, there = {}, core.wire_file(protocol)
    loaded[protocol] = { wires = wires, path = path }
    if there then core.load(path, world_of(wires, path))() end
  end
  return loaded[protocol]
end

-- What is known of a message, by name; `what` is the field that names it.
local function message_of(protocol, name, what)
  local known = load(protocol)
  local wire = rawget(known.wires, name)
  if wire then return wire end
  local names = sorted_keys(known.wires)
  if #names == 0 then
    fail('%s: the protocol "%s" names no messages; a file %s would', what, protocol,
      known.path or "of its own, wire.lua,")
  end
  fail('%s: the protocol "%s" has no message "%s"%s; accepted: %s', what, protocol, name,
    hint(name, names), concat(names, ", "))
end

-- All of a protocol's, by name.
local function messages_of(protocol)
  local wires, all = load(protocol).wires, {}
  for _, name in ipairs(sorted_keys(wires)) do all[#all + 1] = wires[name] end
  return all
end

core.communicator, core.message_of, core.messages_of = communicator, message_of, messages_of
