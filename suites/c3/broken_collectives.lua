-- C3, broken on purpose in its collectives: for every claim of family D a mistake that it finds.

local LINE, EVERY = 1, 4
local BCAST, REDUCE, ALLREDUCE, BARRIER = 0, 5, 11, 16

local function stands(rank, region) return { rank = rank, region = region, line = LINE } end

-- arguments: of the program `arrangement`.
local function finds(claim, variant, ranks, arguments, plan)
  scenario(variant .. " is found by " .. claim) {
    protocol = "c3-" .. variant, program = "arrangement", ranks = ranks, arguments = arguments,
    environment = { C3_EVERY = EVERY }, claims = { claim }, expect = { violates = claim },
    plan = plan,
  }
end

-- Rank 1 comes to the call before the line, rank 0 beyond it.
local function one_before(name)
  return function(p)
    p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE,
             release = { rank = 1, call = name, state = stands(0, "logging") } }
  end
end

-- There are no calls before all have taken their checkpoints; rank 1 is the only one that logs on.
local function one_logging(name)
  return function(p)
    p:hold { message = "stopLogging", to = 1, epoch = LINE,
             release = { rank = 1, call = name, nth = 2, state = stands(0, "beyond") } }
  end
end

-- One call, in which all log; then the job is lost and goes on from the line.
local function all_logging(name)
  return function(p)
    p:hold { message = "readyToStopLogging", from = 1, epoch = LINE,
             release = { rank = 1, call = name, position = "after", region = "logging",
                         line = LINE } }
    p:kill { rank = 1, at = { event = "commit", epoch = LINE } }
  end
end

local function one_before_lost(p)
  one_before("MPI_Bcast")(p)
  p:kill { rank = 1, at = { event = "commit", epoch = LINE } }
end

local function calls(call, first, last, ...)
  return { "--call", call, "--first", first, "--last", last, "--iterations", 20, ... }
end

-- Rank 0 is ahead of rank 1, and stands still after its checkpoint until rank 1 has stopped.
local function root_ahead(p)
  p:stop { rank = 0, at = { rank = 0, event = "phase", name = "c3:after-send-stopLogging",
                            region = "logging", line = LINE },
           release = { state = stands(1, "beyond") } }
end

finds("D.2.1", "d-stop-for-behind", 2, { "--call", BARRIER, "--iterations", 6 },
      one_before("MPI_Barrier"))
finds("D.2.2", "d-deaf-to-root", 2, calls(BCAST, 8, 19), one_logging("MPI_Bcast"))
finds("D.2.3", "d-late-uncounted", 2, { "--call", BCAST, "--lag", 3, "--leader", 0 }, root_ahead)
finds("D.all", "d-all-logged", 2, calls(ALLREDUCE, 8, 8), all_logging("MPI_Allreduce"))
finds("D.gather", "d-gather-logged", 2, calls(REDUCE, 8, 8), all_logging("MPI_Reduce"))
-- On a communicator of their own: after a call that only one made, none on it would match.
finds("D.bcast", "d-bcast-logged", 3, calls(BCAST, 8, 8, "--members", 2),
      all_logging("MPI_Bcast"))
-- The line is begun in iteration 3, ahead of the only call.
finds("D.bcast", "d-bcast-forgotten", 3, calls(BCAST, 3, 3, "--members", 2),
      one_before_lost)
finds("D.barrier", "d-barrier-straddles", 2, { "--call", BARRIER }, one_before("MPI_Barrier"))
