-- make bench: the figures of the README. Every figure is a ratio of two commands run in turn
-- (A B A B ...) in this one process; printed are the median ratio, its range, and the bound. Fails
-- if any bound was missed.
-- Usage: lua5.4 bench.lua BUILD_FOLDER [PAIRS [PART]]: only figures whose name holds PART.

local build = assert(arg[1], "usage: bench.lua BUILD_FOLDER [PAIRS]")
local pairs_wanted = tonumber(arg[2] or 9)
local part = arg[3]
local mpiexec = os.getenv("FAULTLINE_MPIEXEC") or "mpiexec"

local function capture(command)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local text = pipe:read("a")
  local good = pipe:close()
  if not good then error("failed: " .. command, 0) end
  return text
end

local scratch = capture("mktemp -d"):gsub("%s+$", "")
local runs = 0

-- A command under the taps; each run gets a trace folder of its own, deleted after it.
local function traced(command, environment)
  return function()
    runs = runs + 1
    local folder = scratch .. "/trace-" .. runs
    local text = capture(("%s %s/faultline exec --trace %s -- %s"):format(environment or "", build,
      folder, command))
    capture("rm -rf " .. folder)
    return tonumber(text)
  end
end

local function number_of(command)
  return function() return tonumber(capture(command)) end
end

-- Wall time in seconds; date's own start and end cost both sides the same.
local function seconds_of(command)
  return function()
    local before = tonumber(capture("date +%s%N"))
    capture(command .. " >/dev/null")
    return (tonumber(capture("date +%s%N")) - before) / 1e9
  end
end

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

local missed = 0

-- "  at most 1.20  reached"; `side`: "most" or "least".
local function bound(value, side, reach, digits)
  local good = side == "most" and value <= reach or side == "least" and value >= reach
  if not good then missed = missed + 1 end
  return ("  at %s %." .. (digits or 2) .. "f  %s"):format(side, reach,
    good and "reached" or "MISSED")
end

-- Ratio of what `ours` prints to what `bare` prints.
local function compare(name, ours, bare, side, reach, count)
  if part and not name:find(part, 1, true) then return end
  local ratios = {}
  ours() bare() -- warm up: files in the page cache
  for i = 1, count or pairs_wanted do
    local a, b = ours(), bare()
    ratios[i] = a / b
  end
  local middle = median(ratios)
  print(("%-64s %6.3f  [%.3f .. %.3f]%s"):format(name, middle, ratios[1], ratios[#ratios],
    bound(middle, side, reach)))
end

local pingpong = build .. "/bench/pingpong"
local latency = mpiexec .. " -n 2 " .. pingpong .. " latency 8"
local bandwidth = mpiexec .. " -n 2 " .. pingpong .. " bandwidth"
local ring = build .. "/programs/ring"

print(("%d pairs each; median ratio [range]"):format(pairs_wanted))
compare("8-byte half round trip, both taps recording / bare", traced(latency),
  number_of(latency), "most", 1.20)
compare("8-byte half round trip, taps loaded, recording off / bare",
  traced(latency, "FAULTLINE_RECORD=0"), number_of(latency), "most", 1.03)
compare("4 MiB bandwidth, payloads hashed (default: sampled) / bare", traced(bandwidth),
  number_of(bandwidth), "least", 0.90)
compare("4 MiB bandwidth, every byte hashed (FAULTLINE_HASH=full) / bare",
  traced(bandwidth, "FAULTLINE_HASH=full"), number_of(bandwidth), "least", 0.90)
-- Four spinning ranks on few cores: single launches vary by a factor, so more of them.
compare("4-rank scenario without faults / bare mpiexec (wall)",
  seconds_of(build .. "/faultline run --out " .. scratch .. "/out scripts/bench/no_faults.lua"),
  seconds_of(mpiexec .. " -n 4 " .. ring), "most", 1.25, 5 * pairs_wanted)

-- The same of a program that keeps its state in the store: each rank saves 1 MiB ten times, with a
-- sync. Nothing asks for the store, and it is recorded all the same, so that runs can be replayed.
local checkpoints = capture("realpath " .. build .. "/bench/checkpoints"):gsub("%s+$", "")
local keeping = assert(io.open(scratch .. "/checkpoints.lua", "w"))
keeping:write(([[scenario "checkpoints without faults" {
  protocol = "null", program = "%s", ranks = 4, arguments = { 1048576, 10 }, claims = { "H", "I" },
}]]):format(checkpoints))
keeping:close()
compare("4-rank scenario with 10 checkpoints in its store / bare mpiexec (wall)",
  seconds_of(("%s/faultline run --out %s/out %s/checkpoints.lua"):format(build, scratch, scratch)),
  seconds_of(("FAULTLINE_STORE=%s/store %s -n 4 %s 1048576 10"):format(scratch, mpiexec,
    checkpoints)), "most", 1.25, 5 * pairs_wanted)

-- Launches per second of a job of two ranks, as many at once as there are cores: bare, of scenarios
-- without faults, and in a campaign, where a run that is killed and restarted is two launches.
local cores = tonumber((capture("nproc")))
local launches = 24 -- as launches.lua has them

local function bare_launches()
  local seconds = seconds_of(("seq %d | xargs -P %d -I{} %s -n 2 %s --iterations 2"):format(
    launches, cores, mpiexec, ring))()
  return launches / seconds
end

local function scenario_launches()
  local seconds = seconds_of(("%s/faultline run -j %d --out %s/out %s"):format(build, cores,
    scratch, "scripts/bench/launches.lua"))()
  return launches / seconds
end

local function campaign_launches()
  capture(("%s/faultline campaign -j %d --runs %d --strategy systematic --keep --out %s/out %s")
    :format(build, cores, launches, scratch, "scripts/bench/launches.lua"))
  local folder = scratch .. "/out/latest"
  local lives = capture("cat " .. folder .. "/[0-9]*/run.json | jq -s 'map(.incarnations) | add'")
  local seconds = capture(([[jq -s '(map(.elapsed) | max) -
    (map(select(.kind == "survey").elapsed) | max)' %s/campaign.jsonl]]):format(folder))
  return tonumber(lives) / tonumber(seconds)
end

compare("launches/s: scenarios without faults / bare mpiexec, all cores", scenario_launches,
  bare_launches, "least", 0.85)
compare("launches/s: a campaign / bare mpiexec, all cores", campaign_launches, bare_launches,
  "least", 0.85)

-- Schedules a second, judged: the same scenarios on the step engine and under mpiexec, as many at
-- once as there are cores. Enough of them on the engine that its zygotes, which later runs have, do
-- not count.
local function schedules(engine, ranks, copies)
  local path = ("%s/%s-%d.lua"):format(scratch, engine, ranks)
  local file = assert(io.open(path, "w"))
  file:write(([[
for copy = 1, %d do
  for _, kind in ipairs { { "null", "ring" }, { "blocking", "laplace" }, { "c3", "laplace" } } do
    scenario(kind[1] .. " " .. kind[2] .. " " .. copy) {
      protocol = kind[1], program = kind[2], ranks = %d, engine = "%s", claims = { "H", "I" },
    }
  end
end]]):format(copies, ranks, engine))
  file:close()
  return function()
    local seconds = seconds_of(("%s/faultline run -j %d --out %s/out %s"):format(build, cores,
      scratch, path))()
    capture(("rm -rf %s/out"):format(scratch))
    return 3 * copies / seconds
  end
end

-- At least so many times: half of what two idle processors have shown (24, 30, 31 and 29).
local times = { [2] = 12, [4] = 15, [8] = 15, [16] = 14 }
for _, ranks in ipairs { 2, 4, 8, 16 } do
  compare(("schedules/s, %2d ranks, judged: step engine / mpiexec"):format(ranks),
    schedules("step", ranks, 320 // ranks), schedules("mpiexec", ranks, 2), "least",
    times[ranks], 3)
end

-- What a message costs under C3 outside checkpoints, against the protocol that does nothing, both
-- without the taps. Small messages are packed with what is piggybacked, large ones are not copied.
local function under(protocol, bytes)
  return number_of(("%s -n 2 -genv LD_PRELOAD %s/protocols/lib%s.so %s latency %d"):format(mpiexec,
    build, protocol, pingpong, bytes))
end
for _, bytes in ipairs { 8, 64, 512, 4096, 32768, 262144, 1048576, 4194304 } do
  compare(("%d-byte half round trip under c3 / under null"):format(bytes), under("c3", bytes),
    under("null", bytes), "most", bytes <= 4096 and 1.50 or 1.10)
end

-- The page of a large run: how large it is, and how long a browser needs until it is drawn.
local function page_figures()
  local run = scratch .. "/large"
  capture("mkdir -p " .. run .. "/trace")
  capture(("%s/bench/make_trace %s/trace 64 100000"):format(build, run))
  capture(("cp tests/pages/large.json %s/verdict.json"):format(run))
  capture(("%s/faultline report %s"):format(build, run))
  local bytes = tonumber(capture(("stat -c %%s %s/report.html"):format(run)))
  local seconds = tonumber(capture(("PAGES_MODULES=%s/pages node scripts/bench/page.mjs %s %d")
    :format(build, run .. "/report.html", pairs_wanted)):match("^%S+"))
  local figures = { { "its size, MB", bytes / 1e6, 5 }, { "seconds to open it", seconds, 3 } }
  for _, figure in ipairs(figures) do
    print(("%-64s %6.2f%s"):format("page of a run of 64 ranks and 100,000 events: " .. figure[1],
      figure[2], bound(figure[2], "most", figure[3], 1)))
  end
end
if not part or ("page"):find(part, 1, true) then page_figures() end

-- The last line of bench_check.sh: "check RATE PEAK_SHORT PEAK_LONG", 1 and 10 million records.
local function check_figures()
  local rate, short, long = capture("scripts/bench_check.sh " .. build .. " || true")
    :match("check (%d+) (%d+) (%d+)")
  assert(rate, "scripts/bench_check.sh could not measure")
  print(("%-64s %6.1f%s"):format("faultline check, 10 million records, millions of records/s",
    rate / 1e6, bound(rate / 1e6, "least", 3, 1)))
  print(("%-64s %6.3f%s"):format("its peak memory, 10 million records / 1 million", long / short,
    bound(long / short, "most", 1.10)))
end
if not part or ("faultline check"):find(part, 1, true) then check_figures() end

capture("rm -rf " .. scratch)
os.exit(missed == 0)
