-- known.lua SUITE TAP [KNOWN]: what `faultline run SUITE` printed, in the file TAP, against
-- known.txt: a scenario that failed is either known, and it is said what for, or the exit status is
-- 1; one that is known and passed is told as well. In KNOWN a * stands for any text, a ? for one
-- character.

local suite, tap, known = arg[1], arg[2], arg[3] or arg[0]:gsub("known%.lua$", "known.txt")
if not tap then
  io.stderr:write("usage: known.lua SUITE TAP [KNOWN]\n")
  os.exit(64)
end

local function pattern(text)
  return "^" .. text:gsub("%p", "%%%0"):gsub("%%%*", ".*"):gsub("%%%?", ".") .. "$"
end

-- { suite =, name = pattern, fault = text }; a line that says none of this ends the program.
local function read(path)
  local list, fault, reason = {}, nil, {}
  for line in io.lines(path) do
    local name, text = line:match("^fault (%S+): (.+)$")
    local of, scenario = line:match("^(%S+%.lua): (.+)$")
    if name then
      fault, reason[name] = name, text
    elseif of and fault then
      list[#list + 1] = { suite = of, name = pattern(scenario), fault = reason[fault] }
    elseif line ~= "" and not line:find("^#") then
      error(("%s: neither a fault nor a scenario of one: %s"):format(path, line), 0)
    end
  end
  return list
end

local list = read(known)
local function fault_of(name)
  for _, one in ipairs(list) do
    if one.suite == suite and name:find(one.name) then return one.fault end
  end
end

local count = { pass = 0, known = 0, new = 0 }
for line in io.lines(tap) do
  local name = line:match("^ok %d+ %- (.*)$")
  local failed, how = line:match("^not ok %d+ %- (.*) # (.-)$")
  local fault = fault_of(failed or name or "")
  if failed and fault then
    count.known = count.known + 1
    print(("known fault of Open MPI 5.0.7: %s (%s): %s"):format(failed, how, fault))
  elseif failed then
    count.new = count.new + 1
    print(("fails, and is not known to: %s: %s (%s)"):format(suite, failed, how))
  elseif name then
    count.pass = count.pass + 1
    if fault then print(("passes, though it is known to fail: %s: %s"):format(suite, name)) end
  end
end
local counted = "%s: %d pass, %d known to fail, %d more fail"
print(counted:format(suite, count.pass, count.known, count.new))
os.exit(count.new == 0 and count.pass > 0)
