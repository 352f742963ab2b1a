-- Master and worker over ULFM, broken on purpose in four ways (suites/programs/broken/), and the
-- claim that finds it. A scenario here passes only when exactly that violation is found.

local function broken(variant, name, standby, plan, claim)
  scenario(variant .. ": " .. name) {
    program = "master_worker_ulfm-" .. variant, protocol = "null", ranks = 5, engine = "step",
    survivors = true, arguments = { "--standby", standby }, claims = { claim },
    expect = { violates = claim }, plan = plan,
  }
end

broken("count-again", "nobody needs to die", 1, function() end, "W.once")

broken("forget", "a worker dies with its task", 0, function(p)
  p:kill { rank = 2, call = "MPI_Send", nth = 2 }
end, "W.once")

broken("silent", "the master dies", 0, function(p)
  p:kill { rank = 0, call = "MPI_Waitany", nth = 6 }
end, "W.once")

broken("leave", "nobody needs to die", 1, function() end, "H.progress")
