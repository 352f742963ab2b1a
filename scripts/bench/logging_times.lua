-- make bench-logging-times: what message logging costs when nobody dies: the half round trip of a
-- message under each protocol that logs against that under the null protocol, by size, on the MPI
-- library. The two of a pair run one after the other; the median ratio of the pairs counts. Fails
-- where one is above its bound. Wants an idle machine: with fewer free processors than ranks the
-- ratios say how processors are shared out.
-- Usage: lua5.4 logging_times.lua BUILD_FOLDER [PAIRS] (5)

local build = assert(arg[1], "usage: logging_times.lua BUILD_FOLDER [PAIRS]")
local pairs_wanted = math.tointeger(tonumber(arg[2] or 5))
assert(pairs_wanted and pairs_wanted > 0, "PAIRS: a whole number from 1")
local mpiexec = os.getenv("FAULTLINE_MPIEXEC") or "mpiexec"

local ROUNDS = 200 -- in a batch, behind each of which the logs are emptied
local SIZES = { 8, 512, 32768, 262144, 4194304 }
-- What a ratio is at most, by size: a small message is three here (it, its determinants, and the
-- answer that they are stored), of a large one the copies count. Pessimistic: who sends waits.
local MOST = {
  scmel = { 25, 25, 8, 6, 6 }, camel = { 25, 25, 8, 6, 6 }, pessimistic = { 50, 50, 16, 8, 8 },
}

local function capture(command)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local text = pipe:read("a")
  if not pipe:close() then error("failed: " .. command, 0) end
  return text
end

local store = capture("mktemp -d"):gsub("%s+$", "")

-- Nanoseconds; a line is taken behind each batch.
local function measure(protocol, bytes)
  local said = capture(("rm -rf %s/* && env FAULTLINE_STORE=%s %s_EVERY=1 %s -n 2 "
    .. "env LD_PRELOAD=$(realpath %s)/protocols/lib%s.so %s/bench/pingpong latency %d %d"):format(
    store, store, protocol:upper(), mpiexec, build, protocol, build, bytes, ROUNDS))
  return assert(tonumber(said), "no time is told")
end

local missed = 0
print(("%d pairs each; half round trip against null: median ratio [range]"):format(pairs_wanted))
for _, protocol in ipairs { "scmel", "camel", "pessimistic" } do
  for i, bytes in ipairs(SIZES) do
    local ratios = {}
    for pair = 1, pairs_wanted do
      local null = measure("null", bytes)
      ratios[pair] = measure(protocol, bytes) / null
    end
    table.sort(ratios)
    local middle, most = ratios[(#ratios + 1) // 2], MOST[protocol][i]
    missed = missed + (middle > most and 1 or 0)
    print(("%-12s %8d bytes %8.2f  [%.2f .. %.2f]   at most %d%s"):format(protocol, bytes, middle,
      ratios[1], ratios[#ratios], most, middle > most and "   MISSED" or ""))
  end
end
capture("rm -rf " .. store)
if missed > 0 then
  print(missed .. " bounds are missed")
  os.exit(1)
end
