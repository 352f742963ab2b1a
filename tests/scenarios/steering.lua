-- From the scenario to the rank: each kind of thing that a plan can do, carried out in a job.
local function under(protocol, name, program, plan)
  scenario(name) {
    protocol = protocol, program = program, ranks = 3, claims = { "H.progress" }, timeout = 300,
    plan = plan,
  }
end

under("blocking", "two ways at once", "ring", function(p)
  p:kill { rank = 1, event = "checkpoint", epoch = 2 }
  p:hold { from = 2, ms = 3, after = "start" }
end)

under("blocking", "after a call on the store", "ring", function(p)
  p:kill { rank = 1, event = "sync", position = "after", nth = 2 }
end)

under("blocking", "inside a function", "ring", function(p)
  p:kill { rank = 1, event = "send", within = "main", nth = 4 }
end)

under("null", "stopped and let go by another step", "ring", function(p)
  local stopped = p:stop { rank = 2, at = { rank = 0, event = "send", nth = 2 } }
  p:await { rank = 1, event = "send" } -- it has what rank 0 sent; the ring goes no further
  p:release(stopped)
end)

under("null", "stopped by two steps at once", "ring", function(p)
  p:stop { rank = 2, at = { rank = 0, event = "send", nth = 2 }, ms = 1 }
  p:stop { rank = 2, ms = 20 }
end)

under("null", "choices and orders", "master_worker", function(p)
  p:choose { rank = 0, nth = 2, source = 2 }
  p:reorder { to = 0, count = 2, level = "wire" }
  p:jitter { ms = 1 }
end)

under("c3", "a control message by its name", "ring", function(p)
  p:await { rank = 1, event = "deliver", message = "pleaseCheckpoint", epoch = 1 }
  p:hold { rank = 0, message = "stopLogging", ms = 3 }
end)

under("c3", "held until another rank has come to a region", "ring", function(p)
  p:hold { message = "pleaseCheckpoint", to = 2, epoch = 1,
           release = { rank = 1, region = "logging", line = 1 } }
  p:await { state = { { rank = 1, region = "beyond", line = 1 },
                      { rank = 2, region = "beyond", line = 1 } } }
end)
