-- make bench-recovery: how long a job takes to be again where it was when a rank died: with SCMEL
-- and a process in reserve, where one rank does its work again, against blocking checkpoints, where
-- the whole job is started again; on the MPI library, in wall time. From the kill to the moment at
-- which the dead rank's next process has made the sends that the dead one had made since the line.
-- The two of a pair run one after the other; the median ratio of the pairs counts. Fails where it
-- is above the bound. (The step engine has no such figure: who waits by polling moves its clock.)
-- Usage: lua5.4 recovery.lua BUILD_FOLDER [PAIRS] (7)

local build = assert(arg[1], "usage: recovery.lua BUILD_FOLDER [PAIRS]")
local pairs_wanted = math.tointeger(tonumber(arg[2] or 7))
assert(pairs_wanted and pairs_wanted > 0, "PAIRS: a whole number from 1")

local MOST = 0.25 -- of the time that a restart of all takes

local function capture(command)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local text = pipe:read("a")
  if not pipe:close() then error("failed: " .. command, 0) end
  return text
end

-- The events of one process of the run as lines, with the time in seconds in front.
local function events(run, process, incarnation, kind)
  return capture(("%s/faultline trace --level %s --kind %s --rank %d --incarnation %d %s"):format(
    build, kind == "send" and "app" or "self", kind, process, incarnation, run))
end

-- Times of the sends of a process, or of those after `since`.
local function sends(run, process, incarnation, since)
  local times = {}
  for time in events(run, process, incarnation, "send"):gmatch("(%d+%.%d+)%s+r%d+#") do
    if tonumber(time) >= since then times[#times + 1] = tonumber(time) end
  end
  return times
end

local function time_of(text, what)
  for line in text:gmatch("[^\n]+") do
    if line:find(what) then return tonumber(line:match("(%d+%.%d+)")) end
  end
  error("not in the trace: " .. what, 0)
end

-- Seconds from the death of rank 1 to when its next process is as far; how many of them passed
-- until it had its state.
local function recovery(run, process, incarnation)
  local killed = time_of(events(run, 1, 0, "fault"), "kill r1")
  local line = time_of(events(run, 1, 0, "note"), "checkpoint 1")
  local restored = time_of(events(run, process, incarnation, "note"), "restored 1")
  local done = #sends(run, 1, 0, line)
  local again = sends(run, process, incarnation, restored)
  assert(done > 0 and again[done], "the newcomer did not do again what the dead rank had done")
  return again[done] - killed, restored - killed
end

local out = capture("mktemp -d"):gsub("%s+$", "")
local ratios, alone, all = {}, {}, {}
for pair = 1, pairs_wanted do
  local said = capture(("%s/faultline run --engine mpiexec --no-control --out %s "
    .. "scripts/bench/recovery_jobs.lua"):format(build, out))
  local run = assert(said:match("runs in (%S+),"), "no folder of runs is told")
  local one, restored = recovery(run .. "/1", 4, 0)
  local whole, started = recovery(run .. "/2", 1, 1)
  ratios[pair], alone[pair], all[pair] = one / whole, one, whole
  print(("%2d: one rank %.3f s (its state after %.3f s), all %.3f s (%.3f s): %.2f"):format(
    pair, one, restored, whole, started, one / whole))
end
capture("rm -rf " .. out)

local function middle(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end
local ratio = middle(ratios)
print(("%d pairs; medians: one rank %.3f s, all %.3f s"):format(pairs_wanted, middle(alone),
  middle(all)))
print(("ratio %.2f [%.2f .. %.2f], at most %.2f"):format(ratio, ratios[1], ratios[#ratios], MOST))
if ratio > MOST then
  print("the bound is missed")
  os.exit(1)
end
