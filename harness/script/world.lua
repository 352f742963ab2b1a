-- The last part: what a scenario finds in its world. Everything else is taken away.

local core = ...
local type, rawget, tostring, ipairs = type, rawget, tostring, ipairs
local getmetatable, setmetatable, next = getmetatable, setmetatable, next
local format, find, gsub = string.format, string.find, string.gsub
local concat, table_pack, table_unpack = table.concat, table.pack, table.unpack
local sorted_keys, set, check = core.sorted_keys, core.set, core.check

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

local elsewhere = set [[os io require dofile load loadfile loadstring collectgarbage debug package
  coroutine next warn arg]]

-- Names of older Luas: whether they are there depends on how Lua was built.
for name in next, set [[atan2 cosh frexp ldexp log10 pow sinh tanh]] do math[name] = nil end
string.dump = nil
string.format = plain_format
table.sort = core.sort
math.random = core.random
math.randomseed = nil
getmetatable("").__metatable = false
_G.pairs, _G.tostring, _G.print = core.sorted_pairs, plain_tostring, function(...)
  local words = table_pack(...)
  for i = 1, words.n do words[i] = plain_tostring(words[i]) end
  core.print(concat(words, "\t"))
end
_G.setmetatable = checked_setmetatable
_G.scenario = core.scenario
_G.cover = core.cover

local visible = set [[assert error ipairs pairs pcall xpcall select tonumber tostring type rawequal
  rawget rawset rawlen setmetatable getmetatable string table math utf8 print scenario cover _G
  _VERSION]]
for _, name in ipairs(sorted_keys(_G)) do
  if not visible[name] then _G[name] = nil end
end

setmetatable(_G, {
  __metatable = false,
  __index = function(_, name)
    if elsewhere[name] then
      core.fail(format("%s is not available in a scenario", name))
    end
    core.fail(format("%s is not defined%s", check.shown(name), check.hint(name, sorted_keys(_G))))
  end,
})
