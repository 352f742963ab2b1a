-- The scenarios that `make bench-recovery` times: the same program and the same death, where a
-- process in reserve takes the dead rank's place and nobody else goes back, and where the whole job
-- is started again. A line every 20 iterations; rank 1 dies in the 36th.
local RANKS, ITERATIONS, LINE, DEATH, COMPUTE_US = 4, 60, 20, 36, 5000
local SENDS = 2 -- of rank 1 in each iteration

local function job(protocol, reserve)
  local upper = protocol:upper()
  scenario(protocol) {
    protocol = protocol, program = "laplace", ranks = RANKS + reserve, reserve = reserve,
    survivors = reserve > 0,
    arguments = { "--iterations", ITERATIONS, "--size", 16, "--compute-us", COMPUTE_US },
    environment = { [upper .. "_EVERY"] = LINE,
                    [upper .. "_RESERVE"] = reserve > 0 and reserve or nil },
    claims = { "H.progress", "H.result" },
    plan = function(p) p:kill { rank = 1, event = "send", nth = SENDS * DEATH } end,
  }
end

job("scmel", 1)
job("blocking", 0)
