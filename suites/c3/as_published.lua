-- Figures 5 to 8 of [C3] as they are printed (protocols/c3/broken/as-published), where what they do
-- is not what the paper claims. Each is the smallest job that shows it; README.md says why.

local LINE, EVERY = 1, 4
local BCAST, REDUCE, ALLREDUCE, BARRIER = 0, 5, 11, 16

local function stands(rank, region) return { rank = rank, region = region, line = LINE } end

-- `more`: further arguments of the program; `engine`: where it shows.
local function shows(name, claim, ranks, call, plan, more, environment, engine)
  local arguments = { "--call", call }
  for _, argument in ipairs(more or {}) do table.insert(arguments, argument) end
  environment = environment or {}
  environment.C3_EVERY = EVERY
  scenario(name) {
    protocol = "c3-as-published", program = "arrangement", ranks = ranks, arguments = arguments,
    environment = environment, claims = { claim }, expect = { violates = claim }, plan = plan,
    engine = engine,
  }
end

local function short(iterations, ...) return { "--iterations", iterations, ... } end

-- Rank 1 is not asked for its checkpoint before it has come to `calls` calls with the others past
-- theirs.
local function keep_before(p, name, calls)
  p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE,
           release = { rank = 1, call = name, nth = calls, state = stands(0, "logging") } }
end

-- ---- figure 5 -----------------------------------------------------------------------------------

-- MPI_LXOR of the colours is their parity. Of three ranks two are beyond the line and one before:
-- crosses_recovery_line is false, and the one before does not log. On the step engine, where rank 2
-- is asked in time; under mpiexec the few calls may be over by then.
local function two_beyond(p)
  p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE, ms = 300 }
end
shows("figure 5: logging stops while a rank is before the line", "D.2.1", 3, ALLREDUCE, two_beyond,
      short(6), nil, "step")
shows("figure 5: data from before the recovery line to beyond the stop-log line", "D.2.3", 3,
      ALLREDUCE, two_beyond, short(6), nil, "step")

-- Only rank 1 logs on; there are no calls before all have taken their checkpoints.
local function one_logging(name)
  return function(p)
    p:hold { message = "stopLogging", to = 1, epoch = LINE,
             release = { rank = 1, call = name, nth = 2, state = stands(0, "beyond") } }
  end
end

-- All three are beyond an odd line: crosses_recovery_line is true. Who logs does not stop.
shows("figure 5: data from beyond the stop-log line to before it", "D.2.2", 3, ALLREDUCE,
      one_logging("MPI_Allreduce"), short(20, "--first", 8))

-- The same: who logs keeps the result although nobody is before, and does not execute it again.
-- (One call, in which all log; where only some do, the others wait for them in recovery, in vain.)
shows("figure 5: a call that does not straddle the line is replayed", "D.all", 3, ALLREDUCE,
      function(p)
        p:hold { message = "readyToStopLogging", from = 1, epoch = LINE,
                 release = { rank = 1, call = "MPI_Allreduce", position = "after",
                             region = "logging", line = LINE } }
        p:kill { rank = 1, at = { event = "commit", epoch = LINE } }
      end, short(20, "--first", 8, "--last", 8))

-- ---- figures 6 and 7 ----------------------------------------------------------------------------

-- What is given before the line and not yet taken is in no sendCount: nobody waits for it. The rank
-- that gives is ahead of the others; it stands still until they have stopped.
local function late(leader, phase)
  return function(p)
    p:stop { rank = leader,
             at = { rank = leader, event = "phase", name = phase, region = "logging",
                    line = LINE },
             release = { state = stands(1 - leader, "beyond") } }
  end
end
shows("figure 6: a late reduction is taken beyond the stop-log line", "D.2.3", 2, REDUCE,
      late(1, "c3:after-send-readyToStopLogging"), short(12, "--lag", 3, "--leader", 1))
shows("figure 7: a late broadcast is taken beyond the stop-log line", "D.2.3", 2, BCAST,
      late(0, "c3:after-send-stopLogging"), short(12, "--lag", 3, "--leader", 0))

-- A root that logs notes in its suppressList who is not to send again, after its own checkpoint.
-- Saved with that (section 3.3) the note is forgotten, and rank 1 sends again what the root has in
-- its log. Rank 2 makes the call before the line. (On a communicator of their own: after a call
-- that only one made, none on it would match.)
local function noted_by_root(p)
  p:hold { message = "pleaseCheckpoint", to = 2, epoch = LINE,
           release = { rank = 2, call = "MPI_Reduce",
                       state = { stands(0, "logging"), stands(1, "logging") } } }
  p:kill { rank = 1, at = { event = "commit", epoch = LINE } }
end
shows("section 3.3: what a root suppresses is not saved", "D.gather", 4, REDUCE, noted_by_root,
      short(20, "--first", 8, "--last", 8, "--members", 3, "--root", 0),
      { C3_SUPPRESS_LIST = "checkpoint" })

-- ---- figure 8 -----------------------------------------------------------------------------------

-- Who is before the line does not log either: some_not_logging is true, and nobody asks whether the
-- line is crossed.
local function one_before(p) keep_before(p, "MPI_Barrier", 1) end
shows("figure 8: logging stops while a rank is before the line", "D.2.1", 2, BARRIER, one_before,
      short(6))
shows("figure 8: logging stops while a rank is before the line, by the text", "D.2.1", 2, BARRIER,
      one_before, short(6), { C3_FIGURE_8 = "text" })
-- Rank 1 sends before the barrier, rank 0 receives after it.
shows("figure 8: a late message is not logged", "C.1.3", 2, BARRIER, one_before,
      short(6, "--message", 1), { C3_FIGURE_8 = "text", C3_PIGGYBACK = "color" })
-- MPI_Reduce tells one rank only (rank 0 here; the figure names none), and it has stopped.
shows("figure 8: a barrier does not tell who logs that another has stopped", "D.2.2", 2, BARRIER,
      one_logging("MPI_Barrier"), short(20, "--first", 8))
