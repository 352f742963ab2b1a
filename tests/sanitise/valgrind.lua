-- Under each protocol a rank dies, and the job recovers: for valgrind, under which all of it takes
-- some fifty times longer.
local short = { "--iterations", 8 }

local function recovery(protocol, environment, plan)
  scenario(protocol) {
    protocol = protocol, program = "ring", ranks = 2, arguments = short, environment = environment,
    claims = { "H" }, plan = plan,
  }
end

recovery("blocking", { BLOCKING_EVERY = 3 },
  function(p) p:kill { rank = 1, event = "phase", name = "blocking:mid-write", nth = 2 } end)
recovery("c3", { C3_EVERY = 3 },
  function(p) p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 1 } } end)
recovery("chandy_lamport", { CHANDY_EVERY = 3 },
  function(p) p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 1 } } end)
recovery("cocheck", { COCHECK_EVERY = 3 },
  function(p) p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 1 } } end)
