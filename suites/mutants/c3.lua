-- Situations for mutants of C3 (suites/protocols/c3/mutants) that no other suite brings about; the
-- protocol itself passes them.

local LINE = 1

local function stands(rank, region) return { rank = rank, region = region, line = LINE } end

local function situation(name, every, fields)
  fields.protocol, fields.ranks = "c3", fields.ranks or 3
  fields.claims = fields.claims or { "C", "H" }
  fields.environment = fields.environment or {}
  fields.environment.C3_EVERY = every
  scenario(name)(fields)
end

local function recover(p, line)
  p:kill { rank = 1, at = { event = "commit", epoch = line or LINE }, after = "start" }
end

-- In each of the first two lives a rank dies some calls after a line is committed.
local function die_twice(p)
  for life = 1, 2 do
    p:await { event = "commit", epoch = 2 * life - 1 }
    p:kill { rank = math.random(0, p.ranks - 1), event = "call", nth = math.random(60) }
  end
end

-- ---- the end of logging ------------------------------------------------------------------------

-- Rank 2 is not asked for its checkpoint until rank 0 has stopped logging, which it must not.
local function all_stop(name, program, arguments, form, line)
  situation("attempt: all stop while rank 2 is before, " .. name, 10, {
    program = program, arguments = arguments, environment = { C3_PIGGYBACK = form },
    plan = function(p)
      p:hold { message = "pleaseCheckpoint", to = 2, epoch = line, attempt = true, ms = 1000,
               release = { rank = 0, event = "stop-log", epoch = line } }
    end,
  })
end
all_stop("color", "ring", { "--iterations", 19 }, "color", 1)
all_stop("laplace", "laplace", { "--iterations", 30 }, "color", 1)
all_stop("second line", "ring", { "--iterations", 29 }, "epoch", 2)

-- Rank 1 is not told to stop until it has a message, or comes to a call, of rank 0, which has.
situation("attempt: beyond to logging, laplace", 8, {
  program = "laplace",
  plan = function(p)
    p:hold { message = "stopLogging", to = 1, epoch = LINE, attempt = true, ms = 1000,
             release = { rank = 1, event = "deliver", peer = 0, nth = 3,
                         state = stands(0, "beyond") } }
  end,
})
situation("attempt: beyond to logging, MPI_Allreduce", 4, {
  program = "arrangement", ranks = 2,
  arguments = { "--call", 11, "--first", 8, "--iterations", 20 },
  plan = function(p)
    p:hold { message = "stopLogging", to = 1, epoch = LINE, attempt = true, ms = 1000,
             release = { rank = 1, call = "MPI_Allreduce", nth = 2,
                         state = stands(0, "beyond") } }
  end,
})

-- Rank 2 is told to stop logging for line 1 only when it has taken its checkpoint for line 2, at a
-- barrier.
situation("told to stop logging in the next line", 6, {
  program = "collectives", arguments = { "--iterations", 60 }, claims = { "C", "D", "H" },
  engine = "step",
  plan = function(p)
    p:hold { message = "stopLogging", to = 2, epoch = LINE,
             release = { rank = 2, event = "checkpoint", epoch = LINE + 1 } }
  end,
})

-- ---- what probes said -------------------------------------------------------------------------

situation("a probe says in recovery what it said, mixture", 8, {
  program = "mixture", engine = "step", arguments = { "--iterations", 41 },
  plan = function(p) recover(p) end,
})

-- ---- messages ----------------------------------------------------------------------------------

local function early_and_late(p)
  p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE, after = "start",
           release = { rank = 1, event = "deliver", peer = 0, nth = 2,
                       state = stands(0, "logging") } }
end

situation("ring of large tokens", 8, {
  program = "ring", arguments = { "--size", 6000 },
  plan = function(p)
    early_and_late(p)
    recover(p)
  end,
})

for name, arguments in pairs {
  ["pipeline"] = {}, ["pipeline of slow sends"] = { "--size", 1500, "--iterations", 30 },
} do
  situation(name, 8, {
    program = "pipeline", arguments = arguments,
    plan = function(p)
      early_and_late(p)
      recover(p)
    end,
  })
end

situation("mixture", 8, { program = "mixture", plan = function(p) recover(p, 1) end })
-- Receives of one channel are pending at the checkpoint of rank 1, and what some of them are for is
-- sent again.
situation("pending receives", 8, {
  program = "pipeline", arguments = { "--posts", 1, "--depth", 6, "--iterations", 30 },
  plan = function(p)
    p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE, after = "start",
             release = { rank = 1, event = "deliver", peer = 0, nth = 4,
                         state = stands(0, "logging") } }
    recover(p)
  end,
})

situation("random", 10, {
  program = "random", ranks = 2, arguments = { "--iterations", 19, "--compute-us", 0 },
  plan = function(p)
    p:hold { from = 0, to = 1, nth = 10,
             release = { rank = 0, event = "checkpoint", epoch = LINE } }
    p:hold { message = "readyToStopLogging", from = 1, epoch = LINE, after = "start",
             release = { rank = 0, event = "deliver", peer = 1, nth = 3, region = "logging",
                         line = LINE } }
    recover(p)
  end,
})

-- The program makes a persistent request before checkpoint_restore and frees it; another one gets
-- its number.
situation("a number that another request had", 2, {
  program = "drawn", engine = "step",
  arguments = { "--seed", 7, "--iterations", 25, "--inter", 0, "--replaced", 1 },
  plan = function(p)
    p:await { event = "commit", epoch = LINE }
    p:kill { rank = 1, event = "call", nth = 20 }
  end,
})

-- ---- collective calls --------------------------------------------------------------------------

local BCAST, SCATTER, GATHER, ALLGATHER, ALLREDUCE, BARRIER = 0, 1, 3, 6, 11, 16

-- Ranks 0 and 2 come to the call beyond the line, rank 1 before it. Rank 0 completes it only when
-- it has a message of rank 2, which is kept until rank 0 has stopped logging; it must not.
local function completed_late(name, call)
  situation("attempt: " .. name .. " is completed late", 4, {
    program = "arrangement", claims = { "C", "D", "H" },
    arguments = { "--call", call, "--nonblocking", 1, "--message", 1, "--iterations", 12 },
    plan = function(p)
      p:hold { from = 2, to = 0, region = "logging", line = LINE, after = "start", attempt = true,
               ms = 4000, release = { state = stands(0, "beyond") } }
      p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE, after = "start",
               release = { rank = 2, event = "send", peer = 0, region = "logging", line = LINE } }
    end,
  })
end
completed_late("a call among all", ALLREDUCE)
completed_late("a barrier", BARRIER)

-- The rank comes to the call before the line, rank 0 beyond it; then the job is lost.
local function one_before(name, rank, call, root)
  situation(name, 4, {
    program = "arrangement",
    arguments = { "--call", call, "--iterations", 20, "--root", root },
    plan = function(p)
      local what = ({ [GATHER] = "MPI_Gather", [BCAST] = "MPI_Bcast", [BARRIER] = "MPI_Barrier",
                      [ALLGATHER] = "MPI_Allgather" })[call]
      p:hold { message = "pleaseCheckpoint", to = rank, epoch = LINE, after = "start",
               release = { rank = rank, call = what, nth = 2, state = stands(0, "logging") } }
      recover(p)
    end,
  })
end
one_before("gather: the root is before", 1, GATHER, 1)
one_before("bcast: the root is rank 2", 1, BCAST, 2)
one_before("allgather: rank 1 is before", 1, ALLGATHER, 0)
-- Whoever is kept before comes to its barrier once: it takes its checkpoint there.
situation("barrier: rank 1 is before", 4, {
  program = "arrangement", arguments = { "--call", BARRIER, "--iterations", 20 },
  plan = function(p)
    p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE, after = "start",
             release = { rank = 1, call = "MPI_Barrier", state = stands(0, "logging") } }
    recover(p)
  end,
})

-- Rank 1 comes to a few calls, one of the root at a time, before the line, and so lists them. After
-- recovery nobody begins the next line before they are all done again.
for name, call in pairs { MPI_Ibcast = BCAST, MPI_Iscatter = SCATTER } do
  situation("listed calls are done again before the next line, " .. name, 2, {
    program = "arrangement", claims = { "C", "D", "H" },
    arguments = { "--iterations", 14, "--call", call, "--nonblocking", 1 },
    plan = function(p)
      p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE, after = "start",
               release = { rank = 1, call = name, nth = 4,
                           state = { stands(0, "logging"), stands(1, "before") } } }
      recover(p)
    end,
  })
end

for name, call in pairs { allgather = ALLGATHER, bcast = BCAST } do
  situation(name .. ", bits in front", 4, {
    program = "arrangement", arguments = { "--call", call, "--iterations", 8 },
    environment = { C3_COLLECTIVE_BITS = "piggyback" },
  })
end
situation("bcast, bits apart", 4, {
  program = "arrangement", arguments = { "--call", BCAST, "--iterations", 8 },
  environment = { C3_COLLECTIVE_BITS = "separate" },
})

-- ---- replay into the next line -----------------------------------------------------------------

-- A line at each potential checkpoint, and a death soon after a commit: others still replay when
-- rank 0 could begin the next line, and come to barriers, which take checkpoints, meanwhile.
for number = 1, 13 do
  situation(("a line each step, deaths soon after commits, program %d"):format(number), 1, {
    program = "drawn", ranks = math.random(2, 4), engine = "step",
    claims = { "C", "D", "H", "-H.synchronous" },
    arguments = { "--seed", math.random(1000000000), "--iterations", 50, "--size", 12,
                  "--inter", 0, "--nonblocking", 0, "--persistent-collectives", 0 },
    max_incarnations = 8,
    plan = function(p)
      for life = 1, 3 do
        p:await { event = "commit", epoch = 2 * life }
        p:kill { rank = math.random(0, p.ranks - 1), event = "call", nth = math.random(20) }
      end
    end,
  })
end

-- ---- probes while others have stopped logging --------------------------------------------------

-- Ranks are told late to stop logging: what a probe finds meanwhile is taken in, and waits for its
-- receive, while messages of the same source and tag are received on other communicators.
for number = 1, 60 do
  situation(("attempt: probes while others have stopped, program %d"):format(number),
            math.random(2, 5), {
    program = "drawn", ranks = math.random(2, 3), engine = "step",
    arguments = { "--seed", math.random(1000000000), "--iterations", 40, "--size", 12, "--inter", 0,
                  "--collectives", 0, "--nonblocking", 0, "--any-tag", math.random(2),
                  "--received", number % 2 == 0 and -1 or math.random(3, 6) },
    environment = { C3_PIGGYBACK = number % 3 == 0 and "color" or "epoch" },
    max_incarnations = 8,
    plan = function(p)
      die_twice(p)
      for line = 1, 4 do
        for rank = 1, p.ranks - 1 do
          p:hold { message = "stopLogging", to = rank, epoch = line, after = "start",
                   attempt = true, ms = 1000,
                   release = { rank = rank, event = "deliver", peer = 0,
                               nth = 10 * line + math.random(20) } }
        end
      end
    end,
  })
end

-- ---- decisions of the program ------------------------------------------------------------------

for rank = 0, 1 do
  situation("decisions one after the other, rank " .. rank .. " dies", 4, {
    program = "random", ranks = 2, engine = "step",
    arguments = { "--iterations", 30, "--compute-us", 0 },
    plan = function(p)
      p:await { event = "commit", epoch = LINE }
      p:kill { rank = rank, event = "call", nth = 3 }
    end,
  })
end

-- ---- receives that name their source beside some that do not -----------------------------------

-- What a wildcard took that is still pending when logging ends must be logged, or in recovery it
-- takes what the receive after it has got.
for number = 1, 45 do
  situation(("a wildcard ahead of a named source, program %d"):format(number), math.random(2, 5), {
    program = "drawn", ranks = math.random(2, 3), engine = "step",
    arguments = { "--seed", math.random(1000000000), "--iterations", 40, "--size", 12, "--inter", 0,
                  "--collectives", 0, "--nonblocking", 0, "--any-tag", 2,
                  "--received", number % 2 == 0 and -1 or math.random(0, 2) },
    environment = { C3_PIGGYBACK = number % 3 == 0 and "color" or "epoch" },
    max_incarnations = 8,
    plan = die_twice,
  })
end

-- ---- probes beyond the log --------------------------------------------------------------------

-- What a probe in the log told of is received beyond it, after another probe that asks the same.
for seed = 1, 12 do
  situation("a probe asks again what the log has answered, delays " .. seed, 2, {
    program = "drawn", engine = "step", max_incarnations = 8,
    arguments = { "--seed", 280406650, "--iterations", 30, "--size", 8, "--inter", 0,
                  "--collectives", 0, "--nonblocking", 0, "--sendrecv", 0, "--changing", 0,
                  "--persistent-collectives", 0, "--any-tag", 0, "--received", 3 },
    plan = function(p)
      p:jitter { ms = 3, seed = seed }
      for life, death in ipairs { { 2, 2 }, { 1, 19 }, { 2, 3 } } do
        p:await { event = "commit", epoch = life }
        p:kill { rank = death[1], event = "call", nth = death[2] }
      end
    end,
  })
end

-- ---- messages that were found ahead of the line ------------------------------------------------

-- MPI_Mprobe finds them ahead of the line, MPI_Mrecv receives them beyond it, in recovery too.
for number = 1, 12 do
  situation(("found by a matched probe in the step before, program %d"):format(number), 1, {
    program = "drawn", ranks = math.random(2, 3), engine = "step",
    arguments = { "--seed", math.random(1000000000), "--iterations", 40, "--size", 12, "--inter", 0,
                  "--collectives", 0, "--nonblocking", 0, "--any-tag", math.random(2),
                  "--received", 5, "--matched-ahead", 1 },
    max_incarnations = 8,
    plan = die_twice,
  })
end

-- ---- what programs do seldom -------------------------------------------------------------------

local seldom = { "--iterations", 40, "--size", 5, "--testimony", 1, "--started-again", 1,
                 "--made", 1, "--inter", 0, "--crossing", 0 }

-- Rank 2 is before the line and hears how often a rank that logs has asked for a message.
situation("how often a rank asks, told to one before the line", 3, {
  program = "drawn", claims = { "C", "D", "H", "-H.synchronous" },
  environment = { C3_PIGGYBACK = "color" },
  arguments = { "--seed", 7, "--collectives", 0, "--nonblocking", 0, "--outstanding", 0,
                table.unpack(seldom) },
  plan = function(p)
    p:hold { message = "pleaseCheckpoint", to = 2, epoch = 2, after = "start",
             release = { rank = 2, event = "call", nth = 92 } }
    p:kill { rank = 0, at = { event = "commit", epoch = 2 } }
  end,
})

for _, seed in ipairs { 6, 8, 11 } do
  situation("receives started again, over three deaths, delays " .. seed, 2, {
    program = "drawn", claims = { "C", "D", "H", "-H.synchronous" },
    environment = { C3_PIGGYBACK = "color" },
    arguments = { "--seed", 1, table.unpack(seldom) },
    plan = function(p)
      p:jitter { ms = 2, seed = seed }
      for life, rank in ipairs { 2, 1, 1 } do
        p:await { event = "commit", epoch = 2 * life }
        p:kill { rank = rank, event = "call", nth = ({ 2, 5, 4 })[life] }
      end
    end,
  })
end
