-- A program on a library on a library, which recover from the top down: a rank dies in each level,
-- or several do, one after the other, at once, or in a repair. New processes come in their place,
-- and the results of all three levels are those of a run without deaths.

cover {
  "H.result", "H.progress", "U.nostall", "U.class", "U.local", "U.revoke", "U.shrink", "U.agree",
}

-- H.loss is not among them: what is under way when a rank dies is lost. Nor is H.collective: where
-- a rank dies in a collective that nobody else has come to, its new process is counted one ahead of
-- the others.
local function job(name, plan)
  scenario(name) {
    program = "stack", protocol = "null", ranks = 4, engine = "step", survivors = true,
    claims = { "U", "H.orphan", "H.duplicate", "H.payload", "H.order", "H.result" },
    plan = plan,
  }
end

local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

for rank = 0, 3 do
  for nth = 3, 40 do
    job(("rank %d, at its call number %d"):format(rank, nth), function(p)
      p:kill(at_call(rank, nth))
    end)
  end
end
job("when all have done their work", function(p)
  p:kill { rank = 2, call = "MPI_Finalize" }
end)
job("two, one after the other", function(p)
  p:kill(at_call(1, 20))
  p:kill(at_call(2, 40))
end)
job("two at once", function(p)
  p:kill { ranks = { 0, 2 }, at = at_call(1, 22) }
end)
job("all but one at once", function(p)
  p:kill { ranks = { 0, 1, 2 }, at = at_call(3, 22) }
end)

-- A rank that fills the program's communicator, so many calls after it has shrunk it.
for nth = 1, 10 do
  for _, rank in ipairs { 0, 3 } do
    job(("in a repair, rank %d, %d calls after it has shrunk"):format(rank, nth), function(p)
      p:kill(at_call(1, 22))
      p:await { rank = rank, event = "phase", name = "stack:shrunk" }
      p:kill(at_call(rank, nth))
    end)
  end
end

-- The first process that comes later is number 4.
for nth = 1, 30 do
  job(("the new process, at its call number %d"):format(nth), function(p)
    p:kill(at_call(1, 22))
    p:kill(at_call(4, nth))
  end)
end
