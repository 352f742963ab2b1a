-- Laplace under the respawn protocol: a rank dies at each of a hundred places, or several do, one
-- after the other, at once, in recovery, or as the process that takes the place of a dead one. The
-- others live on, and the job comes to its end.

cover { "H.orphan", "H.loss", "H.collective", "H.result", "H.progress" }

local function crash(name, plan, size)
  scenario(name) {
    protocol = "respawn", program = "laplace", ranks = 4, engine = "step", survivors = true,
    arguments = { "--iterations", 10, "--size", size or 16 },
    claims = { "H" }, plan = plan,
  }
end

crash("without faults")

-- Each rank makes about ninety calls at the wire.
for rank = 0, 3 do
  for nth = 3, 75, 3 do
    crash(("rank %d, at its call number %d"):format(rank, nth), function(p)
      p:kill { rank = rank, event = "call", level = "wire", nth = nth }
    end)
  end
end

-- The first process that comes later is number 4.
local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

for rank = 0, 3 do
  crash(("rank %d, where states are not of one length"):format(rank), function(p)
    p:kill(at_call(rank, 60))
  end, 18)
end

crash("two in a row", function(p)
  p:kill(at_call(1, 30))
  p:kill(at_call(2, 20))
end)

crash("the same rank three times", function(p)
  p:kill(at_call(1, 30))
  p:kill(at_call(4, 40))
  p:kill(at_call(5, 40))
end)

crash("when it has done its work", function(p)
  p:kill { rank = 2, call = "MPI_Finalize" }
end)

crash("when it has done its work, and then its new process", function(p)
  p:kill { rank = 2, call = "MPI_Finalize" }
  p:kill { rank = 4, call = "MPI_Finalize" }
end)

crash("the new process, before it is there", function(p)
  p:kill(at_call(1, 30))
  p:kill { rank = 4, at = { rank = 0, call = "MPI_Comm_spawn", level = "wire" } }
end)

crash("two at once, not side by side", function(p)
  p:kill { ranks = { 0, 2 }, at = at_call(1, 40) }
end)

crash("two at once, side by side: all begin again", function(p)
  p:kill { ranks = { 1, 2 }, at = at_call(3, 40) }
end)

crash("one, and later two side by side: all begin again, its new process, too", function(p)
  p:kill(at_call(1, 30))
  p:await { rank = 4, event = "saved" }
  p:kill { ranks = { 2, 3 }, at = at_call(0, 8) }
end)

crash("the last and the first at once, which are side by side too", function(p)
  p:kill { ranks = { 0, 3 }, at = at_call(1, 40) }
end)

crash("all but one at once", function(p)
  p:kill { ranks = { 0, 1, 2 }, at = at_call(3, 40) }
end)

-- What a process that comes later does: it merges, is told its rank, agrees, gets its state.
for nth = 1, 30 do
  crash(("a new process, at its call number %d"):format(nth), function(p)
    p:kill(at_call(1, 30))
    p:kill(at_call(4, nth))
  end)
end

-- What those who live do: they shrink, spawn, agree, merge, hand the state over.
for nth = 1, 15 do
  crash(("in recovery, the first rank, %d calls after it has shrunk"):format(nth), function(p)
    p:kill(at_call(1, 30))
    p:await { rank = 0, event = "phase", name = "respawn:shrunk" }
    p:kill(at_call(0, nth))
  end)
  crash(("in recovery, another rank, %d calls after it has shrunk"):format(nth), function(p)
    p:kill(at_call(1, 30))
    p:await { rank = 3, event = "phase", name = "respawn:shrunk" }
    p:kill(at_call(3, nth))
  end)
end
