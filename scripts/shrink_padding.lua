-- Stands in front of a suite of broken variants (scripts/shrink_table.sh): each plan gets steps
-- that have nothing to do with its violation, mixed in between its own, and nothing is expected.

local PADDING = 10

local function one_of(list) return list[math.random(#list)] end

local irrelevant = {
  function(p)
    p:delay { from = math.random(0, p.ranks - 1), nth = math.random(8), ms = 1, after = "start" }
  end,
  function(p)
    p:delay { to = math.random(0, p.ranks - 1), nth = math.random(8), ms = 2, after = "start" }
  end,
  function(p)
    p:stop { rank = math.random(0, p.ranks - 1), event = "recv", nth = math.random(8),
      ms = math.random(2), after = "start" }
  end,
  function(p)
    p:await { rank = math.random(0, p.ranks - 1), event = one_of { "send", "recv" },
      nth = math.random(8), after = "start" }
  end,
  function(p) p:jitter { ms = 1, after = "start" } end,
  function(p) p:await { event = "checkpoint", epoch = 1, after = "start" } end,
}

-- p as the plan knows it: a step without `after` comes after the plan's own step before it.
local function door(p, pad)
  local last = "start"
  return setmetatable({ ranks = p.ranks }, { __index = function(_, name)
    return function(_, first, second)
      pad()
      local fields = name == "release" and (second or {}) or first
      if fields.after == nil then fields.after = last end
      last = name == "release" and p:release(first, fields) or p[name](p, fields)
      return last
    end
  end })
end

local function padded(plan)
  return function(p)
    local left = PADDING
    local function pad()
      for _ = 1, math.random(0, 4) do
        if left > 0 then one_of(irrelevant)(p) end
        left = left - 1
      end
    end
    if plan then plan(door(p, pad)) end
    while left > 0 do
      one_of(irrelevant)(p)
      left = left - 1
    end
  end
end

local plain = scenario
local function scenario(name) -- luacheck: ignore
  return function(fields)
    fields.plan, fields.expect = padded(fields.plan), nil
    plain(name)(fields)
  end
end
