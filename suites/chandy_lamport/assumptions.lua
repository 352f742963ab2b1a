-- What Chandy and Lamport assume, left out one by one (the options of the protocol): with a plan
-- that then leads to no snapshot, and that is harmless as long as the assumption holds. In `ring`
-- rank 0 takes its state at its potential checkpoint, when the others wait for the token of the
-- next lap; or so many looks at the network later, when it has passed that on itself. `cg` does
-- nothing but collective calls.

local EVERY, STEPS, LINE = 4, 8, 1
local RECORDED = { rank = 0, region = "logging", line = LINE } -- rank 0 has taken its state

-- Once with the assumption, where the plan may be in vain, and once without.
local function assumption(name, option, violated, plan)
  for _, left_out in ipairs { false, true } do
    local environment = { CHANDY_EVERY = EVERY, CHANDY_STEPS = option.steps }
    if left_out then environment[option[1]] = option[2] end
    scenario(name .. (left_out and ": left out" or ": as it is")) {
      protocol = "chandy_lamport", program = option.program or "ring", ranks = 3,
      arguments = { "--iterations", 12 },
      environment = environment, claims = { "S" },
      expect = left_out and { violates = violated } or nil,
      plan = function(p) plan(p, left_out and option.marker or "marker") end,
    }
  end
end

-- ---- FIFO channels ------------------------------------------------------------------------------

-- The token overtakes the markers, that of rank 0 and that of rank 2.
assumption("no message overtakes a marker",
  { "CHANDY_MARKERS", "beside", marker = "markerBeside" }, "S.cut", function(p, marker)
  p:hold { message = marker, to = 1, count = 2, epoch = LINE, attempt = true,
           release = { rank = 1, event = "deliver", peer = 0, state = RECORDED } }
end)

-- The marker overtakes the token, which then is in nobody's state.
assumption("no marker overtakes a message",
  { "CHANDY_MARKERS", "beside", steps = STEPS }, "S.channel", function(p)
  p:hold { from = 0, to = 1, nth = EVERY + 1, attempt = true,
           release = { rank = 1, event = "clear", peer = 0, epoch = LINE } }
end)

-- ---- a state that can be saved at any time ------------------------------------------------------

-- Rank 1 has the marker when it waits for the token, and the token when it may save its state.
assumption("the state is saved when the marker comes",
  { "CHANDY_SAVE", "at-potential-checkpoint" }, "S.cut", function(p)
  p:hold { from = 0, to = 1, nth = EVERY + 1, attempt = true,
           release = { rank = 1, event = "notified", epoch = LINE } }
end)

-- ---- channels that carry all there is -----------------------------------------------------------

-- Rank 0 takes its state, and all get its part of an MPI_Allgather of the library before markers.
-- Rank 1 may still be in the call before that, so its second return is awaited.
assumption("no collective call overtakes a marker",
  { "CHANDY_COLLECTIVES", "native", program = "cg" }, "S.cut", function(p, marker)
  p:hold { message = marker, from = 0, count = 2, epoch = LINE, attempt = true,
           release = { rank = 1, event = "collective", position = "after", nth = 2 } }
end)
