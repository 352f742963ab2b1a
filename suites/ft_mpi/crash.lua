-- FT-MPI's modes over ULFM: a rank dies at each place, or several do, one after the other, at once,
-- in a repair, or as the process that takes a dead one's place. The others go on in the same mode.

cover {
  "F.blank", "F.shrink", "F.replace", "F.last", "H.orphan", "H.collective", "H.result",
  "H.progress",
}

-- H.loss is not among them: what is under way when a rank dies is lost.
local histories = { "H.orphan", "H.duplicate", "H.payload", "H.order", "H.result" }

local function job(mode, name, plan, claims)
  claims = claims or { "U", "F", "H.collective" }
  table.move(histories, 1, #histories, #claims + 1, claims)
  scenario(mode .. ": " .. name) {
    protocol = "ft_mpi", program = "regroup", ranks = 4, engine = "step", survivors = true,
    environment = { FT_MPI_MODE = mode }, claims = claims, plan = plan,
  }
end

local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

-- A rank that is shrinking the world, so many calls after that.
local function in_repair(p, rank, nth)
  p:await { rank = rank, event = "phase", name = "ft_mpi:shrunk" }
  p:kill(at_call(rank, nth))
end

for _, mode in ipairs { "blank", "shrink", "replace" } do
  for rank = 0, 3 do
    for nth = 6, 25 do
      job(mode, ("rank %d, at its call number %d"):format(rank, nth), function(p)
        p:kill(at_call(rank, nth))
      end)
    end
  end
  job(mode, "when all have done their work", function(p)
    p:kill { rank = 2, call = "MPI_Finalize" }
  end, { "U", "H.collective" })
  job(mode, "one at work, and another when all have done it", function(p)
    p:kill(at_call(1, 10))
    p:kill { rank = 2, call = "MPI_Finalize" }
  end)
  job(mode, "two, one after the other", function(p)
    p:kill(at_call(1, 8))
    p:kill(at_call(2, 12))
  end)
  -- So many calls after the shrink that rounds are done in the world that it made.
  job(mode, "two, the second when the first is repaired", function(p)
    p:kill(at_call(1, 8))
    in_repair(p, 2, 22)
  end)
  job(mode, "two at once", function(p)
    p:kill { ranks = { 0, 2 }, at = at_call(1, 10) }
  end)
  job(mode, "three at once", function(p)
    p:kill { ranks = { 0, 1, 2 }, at = at_call(3, 10) }
  end)
  -- Where one dies in a collective that nobody else has come to, H.collective counts its new
  -- process one ahead of the others.
  for nth = 1, 8 do
    for _, rank in ipairs { 0, 3 } do
      job(mode, ("in a repair, rank %d, %d calls after it has shrunk"):format(rank, nth),
        function(p)
          p:kill(at_call(1, 10))
          in_repair(p, rank, nth)
        end, mode == "replace" and { "U", "F" } or nil)
    end
  end
end

-- Whoever calls a new process may be one itself by then.
job("replace", "rank 0, and another when it is repaired", function(p)
  p:kill(at_call(0, 8))
  in_repair(p, 2, 22)
end)

-- The first process that comes later is number 4.
for nth = 1, 20 do
  job("replace", ("the new process, at its call number %d"):format(nth), function(p)
    p:kill(at_call(1, 10))
    p:kill(at_call(4, nth))
  end)
end
