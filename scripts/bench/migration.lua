-- make bench-migration: figure 5 of the CoCheck paper, measured here: how long it takes until a
-- migrated rank goes on, against the size of its state, and a straight line through that (equation
-- 1), t(x) = a + x / b. Beside each migration a bare socket moves as much on the same machine, in
-- turns, and the rates are compared pair by pair; and one that asks for huge pages, as a migration
-- does, though it has no second copy of the state to make. Before each as much memory is touched as
-- a migration needs, see warm.c. A table on standard output, a bound beside each figure (a bound
-- that is missed fails); the numbers and a plot in BUILD/bench/migration-out/.
-- Usage: lua5.4 migration.lua BUILD_FOLDER [MIB_MOST [PAIRS]]

local build = assert(arg[1], "usage: migration.lua BUILD_FOLDER [MIB_MOST [PAIRS]]")
local most, pairs_each = tonumber(arg[2] or 1024), tonumber(arg[3] or 5)
local mpiexec = os.getenv("FAULTLINE_MPIEXEC") or "mpiexec"
local folder = build .. "/bench/migration-out"

local MIB = 1 << 20
local LONG = 64 * MIB -- below, the constant part counts most: so many seconds are allowed for it
local RATIO_LEAST, CONSTANT_MOST = 0.7, 0.004
local HUGE_LEAST = 0.15
-- Beyond 256 MiB most of the time is memory that the machine has to get first, and varies.
local STEADY, OFF_MOST, OFF_MOST_BEYOND = 256 * MIB, 0.5, 2
local COPIES = 5 -- the state and its image, where it is and where it goes to; and some to spare

local function run(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  if not pipe:close() then error("failed: " .. command, 0) end
  return text
end

local function warm(bytes) run(("%s/bench/warm %d"):format(build, COPIES * bytes)) end

-- From the notification until the new addresses are given out, by the clock of the central
-- instance.
local function migrate(bytes)
  local times = folder .. "/times"
  os.remove(times)
  warm(bytes)
  run("rm -rf " .. folder .. "/store")
  run(("FAULTLINE_STORE=%s/store COCHECK_EVERY=1 COCHECK_SKELETONS=1 COCHECK_MIGRATE=1@1 " ..
    "COCHECK_TIMES=%s timeout 600 %s -n 3 -genv LD_PRELOAD %s/protocols/libcocheck.so " ..
    "%s/bench/migrant %d"):format(folder, times, mpiexec, build, build, bytes))
  for line in io.lines(times) do
    local what, seconds = line:match "^(%S+) %d+ (%S+)$"
    if what == "migration" then return tonumber(seconds) end
  end
  error("no migration took place", 0)
end

local function bare(bytes, how)
  warm(bytes)
  return tonumber(run(("%s/bench/socket %d %s"):format(build, bytes, how or "")))
end

local function median(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  local middle = #sorted // 2
  return #sorted % 2 == 1 and sorted[middle + 1] or (sorted[middle] + sorted[middle + 1]) / 2
end

-- Least squares, each point weighted by 1 / t²: the errors are in proportion to the times.
local function fit(points)
  local w, wx, wt, wxx, wxt = 0, 0, 0, 0, 0
  for _, point in ipairs(points) do
    local x, t = point.bytes, point.seconds
    local weight = 1 / (t * t)
    w, wx, wt = w + weight, wx + weight * x, wt + weight * t
    wxx, wxt = wxx + weight * x * x, wxt + weight * x * t
  end
  local slope = (w * wxt - wx * wt) / (w * wxx - wx * wx)
  return (wt - slope * wx) / w, 1 / slope
end

local function measure(bytes)
  local row = { bytes = bytes, times = {}, bares = {}, ratios = {}, huge = {} }
  for pair = 1, pairs_each do
    local first = pair % 2 == 1
    local alone = first and bare(bytes)
    row.times[pair] = migrate(bytes)
    row.bares[pair] = alone or bare(bytes)
    row.ratios[pair] = row.bares[pair] / row.times[pair]
    row.huge[pair] = bare(bytes, "huge") / row.times[pair]
  end
  row.seconds, row.bare, row.ratio = median(row.times), median(row.bares), median(row.ratios)
  row.huge_ratio = median(row.huge)
  return row
end

local function plot(constant, rate)
  local pipe = assert(io.popen("gnuplot", "w"))
  pipe:write(([[
    set terminal svg size 720,480 dynamic background "white"
    set output "FOLDER/migration.svg"
    set logscale xy; set grid; set key left top
    set title "time until a migrated rank goes on"
    set xlabel "state, MiB"; set ylabel "seconds"
    t(x) = CONSTANT + x * 1048576 / RATE
    plot "FOLDER/migration.dat" using 1:2 title "migration" with points pointtype 7, \
         t(x) title "t(x) = %.4f s + x / (%.0f MiB/s)" with lines, \
         "" using 1:3 title "bare socket" with linespoints
  ]]):gsub("FOLDER", folder):gsub("CONSTANT", ("%.9f"):format(constant))
    :gsub("RATE", ("%.3f"):format(rate)):format(constant, rate / MIB))
  assert(pipe:close())
end

run("mkdir -p " .. folder)
local rows, missed = {}, 0

-- "at least 0.70  reached"; `side`: "most" or "least".
local function bound(value, side, reach)
  local good = side == "most" and value <= reach or side == "least" and value >= reach
  if not good then missed = missed + 1 end
  return ("at %s %.2f  %s"):format(side, reach, good and "reached" or "MISSED")
end

local function ratio_least(row)
  return row.bytes >= LONG and RATIO_LEAST or row.bare / (CONSTANT_MOST + row.bare / RATIO_LEAST)
end

local out = assert(io.open(folder .. "/migration.dat", "w"))
print(("%9s %12s %12s %32s %32s"):format("MiB", "migration s", "socket s", "socket / migration",
  "huge / migration"))
for exponent = 0, 30 do
  local bytes = MIB << exponent
  if bytes > most * MIB then break end
  local row = measure(bytes)
  rows[#rows + 1] = row
  out:write(("%d %.6f %.6f %.4f %.4f\n"):format(bytes // MIB, row.seconds, row.bare, row.ratio,
    row.huge_ratio))
  print(("%9d %12.4f %12.4f %8.2f  %s %8.2f  %s"):format(bytes // MIB, row.seconds, row.bare,
    row.ratio, bound(row.ratio, "least", ratio_least(row)), row.huge_ratio,
    bound(row.huge_ratio, "least", HUGE_LEAST)))
end
out:close()

local constant, rate = fit(rows)
plot(constant, rate)
print(("t(x) = %.4f s + x / (%.0f MiB/s)"):format(constant, rate / MIB))
for _, row in ipairs(rows) do
  local off = (row.seconds - constant - row.bytes / rate) / (constant + row.bytes / rate)
  print(("%9d MiB: %+.2f of the line's time off it  %s"):format(row.bytes // MIB, off,
    bound(math.abs(off), "most", row.bytes <= STEADY and OFF_MOST or OFF_MOST_BEYOND)))
end
print("plot: " .. folder .. "/migration.svg")
os.exit(missed == 0)
