-- Where a message is sent and where it is delivered, against a recovery line [C3, figure 2]: each
-- of the six cells that can occur is forced, and the three that cannot are attempted. The token of
-- `ring` goes from 0 to 1 to 2 to 0, and a line is taken every fourth lap: rank 0 takes its
-- checkpoint when the others are still waiting for the token of the next lap.

cover { "C.cell", "C.1.3", { fault = "hold", role = "initiator" } }

local LINE, EVERY = 1, 4

local function stands(rank, region) return { rank = rank, region = region, line = LINE } end

local function situation(name, cover, plan)
  scenario(name) {
    protocol = "c3", program = "ring", ranks = 3,
    arguments = { "--iterations", 12 }, environment = { C3_EVERY = EVERY },
    claims = { "C", "H" }, expect = { cover = cover }, plan = plan,
  }
end

local function cell(send, delivery, plan)
  situation(send .. " to " .. delivery, { "C.cell." .. send .. "-" .. delivery }, plan)
end

-- ---- the six ------------------------------------------------------------------------------------

-- Nobody is asked for a checkpoint before a whole lap has gone by.
cell("before", "before", function(p)
  p:hold { message = "pleaseCheckpoint", from = 0, count = 2, epoch = LINE,
           release = { rank = 0, event = "deliver", peer = 2 } }
end)

-- Rank 2 does not know of the line when it passes the token on to rank 0, which has taken it: late.
cell("before", "logging", function(p)
  p:hold { message = "pleaseCheckpoint", to = 2, epoch = LINE,
           release = { rank = 0, event = "deliver", peer = 2, region = "logging", line = LINE } }
end)

-- Rank 1 does not know of the line when it takes the token from rank 0, which has taken it: early.
cell("logging", "before", function(p)
  p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE,
           release = { rank = 1, event = "deliver", peer = 0, state = stands(0, "logging") } }
end)

-- Nobody is told to stop before rank 1, which has taken its checkpoint, has the token of one more
-- lap.
cell("logging", "logging", function(p)
  p:hold { message = "readyToStopLogging", from = 2, epoch = LINE,
           release = { rank = 1, event = "deliver", peer = 0, region = "logging", line = LINE } }
end)

-- Nobody is told to stop before there is a token that rank 0 has sent while logging; that waits
-- until rank 1 has stopped.
cell("logging", "beyond", function(p)
  local ready = p:hold { message = "readyToStopLogging", from = 1, epoch = LINE }
  p:hold { from = 0, to = 1, region = "logging", line = LINE,
           release = { state = stands(1, "beyond") } }
  p:release(ready)
end)

cell("beyond", "beyond", function(p)
  p:hold { from = 0, to = 1, region = "beyond", line = LINE,
           release = { state = stands(1, "beyond") } }
end)

-- ---- the three that the protocol makes impossible -----------------------------------------------

-- Claim 1.3: a message sent before the recovery line waits for its receiver to stop logging. But
-- that waits for every late message. (The line is not begun before rank 2 has passed by its
-- potential checkpoint, so that it sends one more token after it.)
situation("attempt: before to beyond", { "C.1.3", "C.late.ready" }, function(p)
  p:hold { from = 2, to = 0, nth = EVERY, release = { rank = 2, event = "recv" } }
  p:hold { from = 2, to = 0, attempt = true, state = { stands(2, "before"), stands(0, "logging") },
           release = { state = stands(0, "beyond") } }
end)

-- Claim 1.2: rank 1 is not asked for its checkpoint until it has a message that rank 0 sent beyond
-- the stop-log line. But nobody stops before all have taken their checkpoints.
situation("attempt: beyond to before", { "C.cell.logging-before" }, function(p)
  p:hold { message = "pleaseCheckpoint", to = 1, epoch = LINE, attempt = true,
           release = { rank = 1, event = "deliver", peer = 0, state = stands(0, "beyond") } }
end)

-- Claim 1.2: rank 1 is not told to stop until it has a message of rank 0, which has: the second
-- that it takes in by then, for the first may have been sent before. But it stops because of the
-- message, before it takes it in.
situation("attempt: beyond to logging", { "C.1.2", "C.cell.beyond-beyond" }, function(p)
  p:hold { message = "stopLogging", to = 1, epoch = LINE, attempt = true,
           release = { rank = 1, event = "deliver", peer = 0, nth = 2,
                       state = stands(0, "beyond") } }
end)
