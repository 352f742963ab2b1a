-- make bench-collectives: figures 9 to 12 of the C3 paper, measured here: collective calls of the
-- library, and under C3 with the control bits sent by a call of their own (separate), in front of
-- the data (piggyback), and whichever C3 takes (auto). A table on standard output; in
-- BUILD/bench/collectives-out/ the numbers (NAME.WAY.dat) and a plot of each (NAME.svg).
-- Usage: lua5.4 collectives.lua BUILD_FOLDER [RANKS [ROUNDS]]

local build = assert(arg[1], "usage: collectives.lua BUILD_FOLDER [RANKS [ROUNDS]]")
local ranks, rounds = tonumber(arg[2] or 2), tonumber(arg[3] or 30)
local mpiexec = os.getenv("FAULTLINE_MPIEXEC") or "mpiexec"
local folder = build .. "/bench/collectives-out"

local LONG = 65536          -- bytes, from which on the bound below is asked for
local RATIO_MOST = 1.10     -- of the library's time, with the right way per size
local SHORT_RATIO_MOST = 2  -- the same below LONG
local BARRIERS_MOST = 3     -- the library's barrier and two collectives more

local function run(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  if not pipe:close() then error("failed: " .. command, 0) end
  return text
end

-- Rows { bytes, library's microseconds, C3's }, also in the file.
local function measure(name, way)
  local text = run(("FAULTLINE_STORE=%s/store C3_EVERY=1000000 C3_COLLECTIVE_BITS=%s " ..
    "timeout 600 %s -n %d -genv LD_PRELOAD %s/protocols/libc3.so %s/bench/collectives %s %d")
    :format(folder, way, mpiexec, ranks, build, build, name, rounds))
  local out = assert(io.open(("%s/%s.%s.dat"):format(folder, name, way), "w"))
  local rows = {}
  for bytes, library, ours in text:gmatch("(%d+) (%S+) (%S+)\n") do
    out:write(bytes, " ", library, " ", ours, " ", ours - library, "\n")
    rows[#rows + 1] = { tonumber(bytes), tonumber(library), tonumber(ours) }
  end
  out:close()
  return rows
end

-- Above the times, below what is added, as in the paper.
local function plot(name, title)
  local script = ([[
    set terminal svg size 720,760 dynamic background "white"
    set output "FOLDER/NAME.svg"
    set multiplot layout 2,1
    set logscale xy; set grid; set key left top; set xlabel "bytes"
    set title "TITLE, RANKS ranks"; set ylabel "microseconds a call"
    plot "FOLDER/NAME.separate.dat" using 1:2 title "the library's" with linespoints, \
         "" using 1:3 title "C3, separate" with linespoints, \
         "FOLDER/NAME.piggyback.dat" using 1:3 title "C3, piggybacked" with linespoints
    set title "added by C3"; set yrange [0.01:*]
    plot "FOLDER/NAME.separate.dat" using 1:4 title "separate" with linespoints, \
         "FOLDER/NAME.piggyback.dat" using 1:4 title "piggybacked" with linespoints
  ]]):gsub("FOLDER", folder):gsub("NAME", name):gsub("TITLE", title):gsub("RANKS", ranks)
  local pipe = assert(io.popen("gnuplot", "w"))
  pipe:write(script)
  assert(pipe:close())
end

local function plot_barrier(library, ours)
  local pipe = assert(io.popen("gnuplot", "w"))
  pipe:write(([[
    set terminal svg size 420,420 dynamic background "white"
    set output "%s/barrier.svg"
    set title "MPI_Barrier, %d ranks"; set ylabel "microseconds a call"; set yrange [0:*]
    set boxwidth 0.5; set style fill solid; unset key
    $times << EOD
    library %f
    C3 %f
    EOD
    plot $times using 0:2:xtic(1) with boxes
  ]]):gsub("\n%s+", "\n"):format(folder, ranks, library, ours))
  assert(pipe:close())
end

local missed = 0

local function verdict(good)
  if not good then missed = missed + 1 end
  return good and "reached" or "MISSED"
end

local function compare(name, title)
  local by = {}
  for _, way in ipairs { "separate", "piggyback", "auto" } do by[way] = measure(name, way) end
  plot(name, title)
  print(("%s, %d ranks: microseconds a call; added by C3"):format(title, ranks))
  print(("%9s %12s %12s %12s %12s  %s"):format("bytes", "library", "separate", "piggyback", "auto",
    "auto / library"))
  for i, row in ipairs(by.separate) do
    local function added(way) return by[way][i][3] - by[way][i][2] end
    local ratio = by.auto[i][3] / by.auto[i][2]
    local most = row[1] >= LONG and RATIO_MOST or SHORT_RATIO_MOST
    print(("%9d %12.2f %+12.2f %+12.2f %+12.2f  %.2f  at most %.2f  %s"):format(row[1], row[2],
      added("separate"), added("piggyback"), added("auto"), ratio, most, verdict(ratio <= most)))
  end
end

run("mkdir -p " .. folder)
compare("bcast", "MPI_Bcast")
compare("gather", "MPI_Gather")
compare("allgather", "MPI_Allgather")
local row = measure("barrier", "auto")[1]
plot_barrier(row[2], row[3])
print(("MPI_Barrier, %d ranks: library %.2f, C3 %.2f microseconds: %.2f times  at most %d  %s")
  :format(ranks, row[2], row[3], row[3] / row[2], BARRIERS_MOST,
  verdict(row[3] <= BARRIERS_MOST * row[2])))
print("plots: " .. folder .. "/*.svg")
os.exit(missed == 0)
