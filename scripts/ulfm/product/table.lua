-- The product: reads cells as read.lua prints them, of all runs, from standard input. Prints a line
-- for each kind of call and role with how it ended, by when the other died: the first letter of
-- what has been seen (raised, pending, revoked: v, done), a `.` for what has not (a hole), nothing
-- where it cannot be (cannot.txt says why). Then how many were seen of what can be; the exit status
-- is 1 where something was seen that cannot be. Usage: table.lua FOLDER_OF_THIS_FILE
package.path = arg[1] .. "/?.lua"
local rows = require "rows"
local letters = { raised = "r", pending = "p", revoked = "v", done = "d" }

local seen, cannot = {}, {}
for cell in io.lines() do seen[cell] = true end
for line in io.lines(arg[1] .. "/cannot.txt") do
  if line ~= "" and not line:match("^#") then
    local parts = {}
    for part in line:gmatch("[^\t]+") do parts[#parts + 1] = "^" .. part .. "$" end
    if #parts ~= 5 then error("cannot.txt: not five parts separated by tabs: " .. line, 0) end
    cannot[#cannot + 1] = { parts = parts, used = false }
  end
end

local function can_be(cell)
  local possible = true
  for _, one in ipairs(cannot) do
    local fits = true
    for i, part in ipairs(cell) do fits = fits and part:match(one.parts[i]) end
    if fits then
      one.used = true
      possible = false
    end
  end
  return possible
end

local count = { seen = 0, possible = 0 }

local function letter(cell)
  local name = table.concat(cell, "\t")
  if not can_be(cell) then return " " end
  local here = seen[name]
  seen[name] = nil
  count.possible = count.possible + 1
  count.seen = count.seen + (here and 1 or 0)
  return here and letters[cell[4]] or "."
end

print(("%-32s%-11s%-8s%-8s%s"):format("call", "role", table.unpack(rows.whens)))
for _, row in ipairs(rows.list) do
  for _, role in ipairs(row.roles) do
    local columns = {}
    for i, when in ipairs(rows.whens) do
      columns[i] = ""
      for _, how in ipairs(row.hows) do
        columns[i] = columns[i] .. letter({ row.name, role, when, how })
      end
    end
    print((("%-32s%-11s%-8s%-8s%s"):format(row.name, role, table.unpack(columns)):gsub(" +$", "")))
  end
end
print(("%d of %d cells seen, %d holes"):format(count.seen, count.possible,
  count.possible - count.seen))

local wrong = {}
for _, one in ipairs(cannot) do
  if not one.used then wrong[#wrong + 1] = "cannot.txt: no cell is like " .. one.parts[1] end
end
for cell in pairs(seen) do wrong[#wrong + 1] = "seen, though it cannot be: " .. cell end
table.sort(wrong)
for _, text in ipairs(wrong) do print(text) end
os.exit(#wrong == 0)
