-- Ranks live on when others die, with what faultline_lives.h tells: under MPICH's mpiexec, and on
-- the step engine (--engine step). many.lua has two hundred more.

cover { "H.result" }

local RANKS = 4

local function crash(name, reserve, plan)
  scenario(name) {
    protocol = "standby", program = "outlive", ranks = RANKS + reserve, reserve = reserve,
    survivors = true, environment = { STANDBY_PROCESSES = reserve },
    arguments = { "--iterations", 10, "--compute-us", 500 },
    claims = { "H.progress", "H.result" }, plan = plan,
  }
end

local function call(rank, nth, position)
  return { rank = rank, event = "call", level = "wire", nth = nth, position = position }
end

-- The one in a call of the MPI library dies there, whatever it is that the others then wait for.
crash("before a call", 0, function(p) p:kill(call(1, 30)) end)
crash("inside a call", 0, function(p) p:kill(call(0, 40, "inside")) end)
crash("after a call, and a process in reserve takes the place", 1,
  function(p) p:kill(call(2, 35, "after")) end)
crash("in a collective of the others", 0, function(p)
  p:kill { rank = 3,
           at = { rank = 0, event = "call", call = "MPI_Iallreduce", level = "wire", nth = 3 } }
end)
crash("a process in reserve, and then nobody can take the place", 1, function(p)
  p:kill { rank = RANKS, at = call(0, 20) }
  p:kill(call(1, 5))
end)
crash("one that has taken a place", 2, function(p)
  p:kill(call(1, 25))
  p:kill(call(RANKS, 30))
end)
crash("two at once, with one in reserve", 1, function(p)
  p:kill { ranks = { 1, 2 }, at = call(0, 30) }
end)
crash("two, the second while the others make a communicator without the first", 0, function(p)
  p:kill(call(1, 30))
  p:kill { rank = 2, event = "call", call = "MPI_Comm_create_group", level = "wire" }
end)
crash("all but one", 0, function(p)
  p:kill { ranks = { 0, 1, 2 }, at = call(3, 40) }
end)

-- Rank 3 goes on for itself while the others have begun to agree without it.
crash("one is told later than the others", 0, function(p)
  p:kill(call(1, 30))
  p:detect { rank = 3, of = 1, at = { rank = 0, event = "call", level = "wire", nth = 12 } }
end)
