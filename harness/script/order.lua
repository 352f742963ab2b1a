-- Things in an order that is the same in every process: pairs, table.sort. First of the parts that
-- make the scenario API; each is given `core` (see sandbox.c) and leaves in it what others need.
-- A scenario may replace any global, so all parts keep what they use in locals.

local core = ...
local type, rawget, next, getmetatable = type, rawget, next, getmetatable
local gmatch = string.gmatch

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

-- { a = true, b = true } of "a b".
local function set(names)
  local of = {}
  for name in gmatch(names, "%S+") do of[name] = true end
  return of
end

core.sort, core.sorted_keys, core.sorted_pairs, core.set = sort, sorted_keys, sorted_pairs, set
