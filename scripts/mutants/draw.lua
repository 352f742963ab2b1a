-- Draws mutants of C sources from a seed. Each changes one line: a comparison, a condition or a
-- constant is another one, or a statement is left out. Nobody has seen them, so the share that is
-- found is an estimate for mistakes that nobody thought of.
-- Usage: draw.lua SEED COUNT FOLDER SOURCE.c...
--     COUNT patches FILE.c-LINE-CHANGE.patch are written into FOLDER; fewer where the sources do
--     not have so many lines that can be changed. The same seed draws the same of the same sources.
-- Lines about errors, memory and notes to the harness are left alone, since a run shows nothing of
-- them. A patch need not compile, and may change nothing that matters.

local seed, count, folder = math.tointeger(arg[1]), math.tointeger(arg[2]), arg[3]
if not seed or not count or not arg[4] then
  io.stderr:write("Usage: draw.lua SEED COUNT FOLDER SOURCE.c...\n")
  os.exit(64)
end

-- Where protocols share sources, each gets others from the same seed.
local sum = 0
for _, path in ipairs { table.unpack(arg, 4) } do
  for _, byte in ipairs { path:byte(1, -1) } do sum = (sum * 31 + byte) & 0xffffffff end
end
math.randomseed(seed, sum)

local CONTEXT = 3

local LEFT_ALONE = { '"', "/%*", "%*/", "NULL", "[Ee]rror", "fail", "must", "free%(", "close%(",
  "MPI_SUCCESS", "realloc", "yield", "faultline_", "note_", "phase%(" }

local COMPARED = { ["<"] = "<=", ["<="] = "<", [">"] = ">=", [">="] = ">", ["=="] = "!=",
  ["!="] = "==" }
local JOINED = { ["&&"] = "||", ["||"] = "&&" }
local TRUTH = { ["true"] = "false", ["false"] = "true" }

-- Every line that replacing one match of `pattern` in `line` gives. `replacement` gets what
-- matched, and gives nothing to leave it as it is.
local function each_replaced(line, pattern, replacement)
  local lines, from = {}, 1
  while true do
    local first, last = line:find(pattern, from)
    if not first then return lines end
    local other = replacement(line:sub(first, last))
    if other then lines[#lines + 1] = line:sub(1, first - 1) .. other .. line:sub(last + 1) end
    from = last + 1
  end
end

-- Each gets a line and the one before it, and gives the lines it may become.
local CHANGES = {
  compared = function(line)
    return each_replaced(line, " [<>=!]=? ", function(found)
      local other = COMPARED[found:match("%S+")]
      return other and " " .. other .. " "
    end)
  end,
  joined = function(line)
    return each_replaced(line, "[&|][&|]", function(found) return JOINED[found] end)
  end,
  shifted = function(line)
    return each_replaced(line, " [+-] 1%f[%W]", function() return "" end)
  end,
  untrue = function(line)
    return each_replaced(line, "%f[%w_]%a+%f[^%w_]", function(found) return TRUTH[found] end)
  end,
  never = function(line)
    return { line:match("^%s+if %b()") and line:gsub("^(%s+if )%b()", "%1(false)") or nil }
  end,
  negated = function(line)
    return { line:match("^%s+if %b()") and line:gsub("^(%s+if )(%b())", "%1(!%2)") or nil }
  end,
  dropped = function(line, before)
    local is_begun_before = not before:match("[;{})]$") and not before:match("else$")
    local is_statement = line:match("^%s+[%w_]+%b();$") or
      line:match("^%s+[%w_%.%->%[%]]+ [%+%-|&]?= .*;$") or
      line:match("^%s+[%w_%.%->%[%]]+[%+%-][%+%-];$") or line:match("^%s+continue;$")
    return { not is_begun_before and is_statement and line:match("^%s+") .. ";" or nil }
  end,
}
local NAMES = {}
for name in pairs(CHANGES) do NAMES[#NAMES + 1] = name end
table.sort(NAMES)

local function is_left_alone(line)
  for _, pattern in ipairs(LEFT_ALONE) do
    if line:find(pattern) then return true end
  end
  return not line:find("^    ")
end

-- All that can be changed: { path, lines, number, changes = { { name, line } ... } } for each line.
local function places(paths)
  local found = {}
  for _, path in ipairs(paths) do
    local lines, in_function = {}, false
    for line in io.lines(path) do lines[#lines + 1] = line end
    for number, line in ipairs(lines) do
      in_function = line == "{" or (in_function and line ~= "}")
      local changes = {}
      if in_function and not is_left_alone(line) then
        for _, name in ipairs(NAMES) do
          for _, changed in ipairs(CHANGES[name](line, lines[number - 1])) do
            changes[#changes + 1] = { name = name, line = changed }
          end
        end
      end
      if #changes > 0 then
        found[#found + 1] = { path = path, lines = lines, number = number, changes = changes }
      end
    end
  end
  return found
end

local function write_patch(place, change)
  local first = math.max(1, place.number - CONTEXT)
  local last = math.min(#place.lines, place.number + CONTEXT)
  local name = ("%s/%s-%d-%s.patch"):format(folder, place.path:match("[^/]+$"), place.number,
    change.name)
  local file = assert(io.open(name, "w"))
  file:write(("%s, line %d: %s.\n\n--- a/%s\n+++ b/%s\n"):format(place.path, place.number,
    change.name, place.path, place.path))
  file:write(("@@ -%d,%d +%d,%d @@\n"):format(first, last - first + 1, first, last - first + 1))
  for number = first, last do
    local is_changed = number == place.number
    file:write(is_changed and "-" or " ", place.lines[number], "\n")
    if is_changed then file:write("+", change.line, "\n") end
  end
  assert(file:close())
end

local all = places(table.move(arg, 4, #arg, 1, {}))
for _ = 1, math.min(count, #all) do
  local place = table.remove(all, math.random(#all))
  write_patch(place, place.changes[math.random(#place.changes)])
end
