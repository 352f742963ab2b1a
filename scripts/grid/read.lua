-- Which cells of the grid one run has seen: reads `faultline trace --format json RUN` from
-- standard input, prints a line for each cell, parts separated by tabs: protocol, row, place,
-- life, number of the line. Usage: read.lua PROTOCOL
--
-- A call is `logging` where its rank has taken its checkpoint of a line and not told `stop-log`
-- or `saved` of it yet, else `between` lines. A request is `pending` that was begun before a
-- checkpoint and is complete after it. A receive is `late`, `early` or `replayed`, and a send
-- `suppressed`, where that is told inside the call that completes it. Lines are numbered in each
-- life from 1; the number of a place between lines is that of the line to come.
local protocol = arg[1]
local seen = {}
local ranks = {} -- by process and life

local function class(number) return number >= 10 and "10+" or number <= 2 and tostring(number) end

local function saw(rank, row, place, number)
  local of_number = class(number)
  if row and of_number then
    seen[table.concat({ protocol, row, place, rank.life, of_number }, "\t")] = true
  end
end

local function field(line, name) return line:match('"' .. name .. '":"?([^",}]*)') end

local function wildcards(line)
  local source, tag = field(line, "want_peer") == "any", field(line, "want_tag") == "any"
  return source and tag and ", any source and tag" or source and ", any source" or
         tag and ", any tag" or "", source, tag
end

-- The rows that a record of the application is in; the first is that of its call.
local function rows_of(line, kind, call, rank)
  local rows = { call }
  if kind == "send" then
    if field(line, "peer") == rank.number then rows[#rows + 1] = "send to itself" end
    if field(line, "bytes") == "0" then rows[#rows + 1] = "send of no bytes" end
    if (tonumber(field(line, "tag")) or 0) > 100000000 then
      rows[#rows + 1] = "send, tag above 100 million"
    end
    if field(line, "comm") ~= "1" then rows[#rows + 1] = "send on another communicator" end
  elseif kind == "recv" then
    local with = call:match("^MPI_Sendrecv") and ": receive" or wildcards(line)
    rows[1] = call .. (call:match("mrecv$") and "" or with)
  elseif kind == "probe" then
    local _, source, tag = wildcards(line)
    if call:match("^MPI_I") then
      rows[1] = call .. (field(line, "done") == "true" and ": yes" or ": no")
    end
    if source then rows[#rows + 1] = "probe, any source" end
    if tag then rows[#rows + 1] = "probe, any tag" end
  elseif kind == "complete" and call:match("^MPI_Test") then
    rows[1] = call .. (field(line, "done") == "false" and ": no" or ": yes")
  end
  return rows
end

local function begin(line, kind, call, rank)
  local rows = rows_of(line, kind, call, rank)
  local logging = rank.logging
  for _, row in ipairs(rows) do
    saw(rank, row, logging and "logging" or "between", rank.lines + (logging and 0 or 1))
  end
  return rows
end

local function of_several(call)
  return call:match("any$") or call:match("all$") or call:match("some$")
end

local function completes(line, call, rank)
  local begun = rank.begun[field(line, "request")]
  if begun and rank.lines > begun.lines then saw(rank, begun.row, "pending", rank.lines) end
  rank.receive = begun and begun.receives and begun.row or rank.receive
  if of_several(call) then rank.completed = rank.completed + 1 end
end

-- The record of a call that completes any, all or some stands behind those of what it completes.
local function ends(call, rank)
  local what = rank.completed == 0 and call:match("^MPI_Test") and ": no" or
               rank.completed > 1 and call:match("some$") and ": several"
  if what then
    saw(rank, call .. what, rank.logging and "logging" or "between",
        rank.lines + (rank.logging and 0 or 1))
  end
  rank.completed = 0
end

local told_places = { logged = "late", early = "early", replayed = "replayed" }

local function note(line, rank)
  local what = field(line, "note")
  if what == "checkpoint" then
    rank.lines, rank.logging = rank.lines + 1, true
  elseif what == "stop-log" or what == "saved" then
    rank.logging = false
  elseif what == "restored" then
    rank.lines, rank.logging = 0, false
  elseif told_places[what] then
    rank.told[#rank.told + 1] = told_places[what]
  elseif what == "suppressed" then
    rank.suppressed = true
  end
end

-- A note stands behind the record of a call that completes no request, and ahead of that of a
-- completion: so both look for the other.
local function application(line, kind, call, rank)
  local request = field(line, "request")
  if kind == "complete" then completes(line, call, rank) end
  if kind == "call" and of_several(call) then
    ends(call, rank)
    return
  end
  local rows = begin(line, kind, call, rank)
  if (kind == "send" or kind == "recv") and request then
    rank.begun[request] = { row = rows[1], lines = rank.lines, receives = kind == "recv" }
  end
  if kind == "recv" and not request then rank.receive = rows[1] end
  if kind == "send" then rank.send = rows end
  rank.call = call
end

local function settle(rank)
  if rank.receive then
    for _, place in ipairs(rank.told) do saw(rank, rank.receive, place, math.max(rank.lines, 1)) end
    rank.told = {}
  end
  if rank.suppressed and rank.send then
    for _, row in ipairs(rank.send) do saw(rank, row, "suppressed", math.max(rank.lines, 1)) end
    rank.suppressed = false
  end
end

for line in io.lines() do
  local process = line:match('^{"event":"(r%d+#%d+):')
  if process then
    local number, life = process:match("r(%d+)#(%d+)")
    ranks[process] = ranks[process] or
      { number = number, life = tonumber(life) < 2 and tostring(life + 1) or "3+", lines = 0,
        begun = {}, told = {}, completed = 0 }
    local rank, kind = ranks[process], field(line, "kind")
    if kind == "note" then
      note(line, rank)
      settle(rank)
    elseif field(line, "level") == "app" then
      local call = field(line, "call")
      if kind ~= "complete" and call ~= rank.call then rank.receive, rank.send = nil, nil end
      application(line, kind, call, rank)
      settle(rank)
    end
  end
end
local cells = {}
for cell in pairs(seen) do cells[#cells + 1] = cell end
table.sort(cells)
for _, cell in ipairs(cells) do print(cell) end
