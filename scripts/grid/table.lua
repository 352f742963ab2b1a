-- The grid: reads cells as read.lua prints them, of all runs, from standard input. Prints a line
-- for each row and place, with a column for each life and number of line, in which each protocol
-- has its place: its letter where it has been seen, `.` where not (a hole), a space where it
-- cannot be. Then how many cells of each protocol were seen. Usage: table.lua FOLDER_OF_THIS_FILE
package.path = arg[1] .. "/?.lua"
local grid = require "rows"
local protocols = { "blocking", "c3", "chandy_lamport", "cocheck" }
local letters = { blocking = "b", c3 = "3", chandy_lamport = "s", cocheck = "r" }

local seen, cannot = {}, {}
for cell in io.lines() do seen[cell] = true end
for line in io.lines(arg[1] .. "/cannot.txt") do
  if not line:match("^#") then
    local parts = {}
    for part in line:gmatch("[^\t]+") do parts[#parts + 1] = "^" .. part .. "$" end
    cannot[#cannot + 1] = parts
  end
end

local function can_be(protocol, row, place, life, number)
  for _, parts in ipairs(cannot) do
    if protocol:match(parts[1]) and row:match(parts[2]) and place:match(parts[3]) and
       life:match(parts[4]) and number:match(parts[5]) then
      return false
    end
  end
  return true
end

local count = {}
for _, protocol in ipairs(protocols) do count[protocol] = { seen = 0, possible = 0 } end

local function cell(row, place, life, number)
  local text = ""
  for _, protocol in ipairs(protocols) do
    local here = seen[table.concat({ protocol, row, place, life, number }, "\t")]
    local possible = here or can_be(protocol, row, place, life, number)
    local of = count[protocol]
    of.possible = of.possible + (possible and 1 or 0)
    of.seen = of.seen + (here and 1 or 0)
    text = text .. (here and letters[protocol] or possible and "." or " ")
  end
  return text
end

local head = {}
for _, life in ipairs(grid.lives) do
  for _, number in ipairs(grid.numbers) do
    head[#head + 1] = ("%-5s"):format(life .. "/" .. number)
  end
end
print(("%-44s%s"):format("feature, place; life/number of the line:", table.concat(head, " ")))
for _, row in ipairs(grid.rows) do
  for _, place in ipairs(grid.places[row.kind]) do
    local cells = {}
    for _, life in ipairs(grid.lives) do
      for _, number in ipairs(grid.numbers) do
        cells[#cells + 1] = ("%-5s"):format(cell(row.name, place, life, number))
      end
    end
    print((("%-32s%-12s%s"):format(row.name, place, table.concat(cells, " ")):gsub(" +$", "")))
  end
end
for _, protocol in ipairs(protocols) do
  local of = count[protocol]
  print(("%s (%s): %d of %d cells seen, %d holes"):format(protocol, letters[protocol], of.seen,
    of.possible, of.possible - of.seen))
end
