-- Which cells of the product "kind of call, role, when the other died, how it ended" one run has
-- seen: reads `faultline trace --format json RUN` from standard input, prints a line for each cell,
-- its four parts separated by tabs. Only calls on the first MPI_COMM_WORLD are looked at: all know
-- who its members are. rows.lua says what kinds and roles there are.
local folder = arg[0]:match("^(.*)/") or "."
package.path = folder .. "/?.lua"
local rows = require "rows"

local WORLD = 1 -- the first MPI_COMM_WORLD's number in traces
local how_of = { [248] = "raised", [249] = "pending", [250] = "revoked", [0] = "done" }

local function field(line, name) return line:match('"' .. name .. '":"?([^",}]*)') end
local function number(line, name) return tonumber(field(line, name)) end

-- What a record names: its kind of call as rows.lua has it, or nil.
local function kind_of(line)
  local call, what = field(line, "call"), field(line, "kind")
  -- The start of a persistent one is a record of its own.
  if what == "call" and call:match("_init$") then return nil end
  local name = call
  if call:match("^MPI_Sendrecv") then
    name = call .. (what == "send" and ": send" or ": receive")
  elseif field(line, "want_peer") == "any" then
    name = call .. ", any source"
  end
  return rows.kind[name] and name
end

-- In the order of their records: { rank, kind, enter, leave, how, peer, root }.
local operations = {}
local died = {} -- by rank, in ns
local begun = {} -- by rank and request: an operation that has not ended
local nth = {} -- by rank and series: how many gatherings it has entered
local gatherings = {} -- by series and number: { operation of each rank }

-- Of the calls of one series the nth of one member goes with the nth of another.
local function series_of(kind)
  return (kind:match("_init$") or kind:match("^MPIX_")) and kind or "collective"
end

local function ends(operation, line)
  operation.leave = number(line, "leave_ns")
  operation.how = how_of[number(line, "error") or 0]
end

local function begin(line, rank, kind)
  local one = {
    rank = rank, kind = kind, enter = number(line, "enter_ns"),
    peer = number(line, "want_peer") or number(line, "peer"), root = number(line, "root"),
  }
  operations[#operations + 1] = one
  -- Of a probe it is the message.
  local request = field(line, "kind") ~= "probe" and field(line, "request")
  if request and (number(line, "error") or 0) == 0 then
    begun[rank .. " " .. request] = one
  else
    ends(one, line)
  end
  if rows.kind[kind].gathers then
    local mine = rank .. " " .. series_of(kind)
    nth[mine] = (nth[mine] or 0) + 1
    local which = series_of(kind) .. " " .. nth[mine]
    gatherings[which] = gatherings[which] or {}
    one.together = gatherings[which]
    table.insert(one.together, one)
  end
end

for line in io.lines() do
  local rank, level = number(line, "rank"), field(line, "level")
  if field(line, "kind") == "fault" and (field(line, "fault") or ""):match("^kill") then
    died[number(line, "peer")] = number(line, "enter_ns")
  elseif level == "app" and field(line, "kind") == "complete" then
    local key = rank .. " " .. (field(line, "request") or "")
    if begun[key] and field(line, "done") == "true" then
      ends(begun[key], line)
      begun[key] = nil
    elseif begun[key] and number(line, "error") == 249 then -- it stays, and is told of
      ends(begun[key], line)
    end
  elseif level == "app" and number(line, "comm") == WORLD then
    local kind = kind_of(line)
    if kind then begin(line, rank, kind) end
  end
end

local function is_late(one)
  for _, other in ipairs(one.together or {}) do
    if other ~= one and other.leave and other.leave <= one.enter then return true end
  end
end

-- The roles that the process of `one` has towards `dead`.
local function roles_of(one, dead)
  local kind = rows.kind[one.kind]
  if kind.gathers then
    local role = one.root == one.rank and "root" or one.root == dead and "peer" or "member"
    return { role, is_late(one) and "late" or nil }
  end
  local is_peer = one.kind:match("any source") or one.peer == dead
  return { is_peer and "peer" or not died[one.peer] and "bystander" or nil }
end

local seen = {}
for _, one in ipairs(operations) do
  for dead, at in pairs(died) do
    local when = at <= one.enter and "before" or one.leave and at <= one.leave and "inside" or
                 "after"
    local told = when ~= "after" or one.how == "done" -- what raised before a death was of another
    if one.rank ~= dead and not died[one.rank] and one.leave and one.how and told then
      for _, role in ipairs(roles_of(one, dead)) do
        seen[table.concat({ one.kind, role, when, one.how }, "\t")] = true
      end
    end
  end
end
for cell in pairs(seen) do print(cell) end
