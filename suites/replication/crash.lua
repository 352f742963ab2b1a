-- Programs under replication: a process dies at each place, or several do, each of another rank,
-- one after the other or at once. The other process of its rank goes on, and the result is right.

cover { "P.same", "P.mask", "H.orphan", "H.loss", "H.duplicate", "H.result", "H.progress" }

local RANKS = 4 -- of the program; processes 4 to 7 follow 0 to 3

local programs = {
  { "ring", "--iterations", 8 }, { "laplace", "--iterations", 8, "--size", 16 },
  { "master_worker", "--iterations", 4 }, { "mixture", "--iterations", 3 },
}

local function job(program, name, plan)
  scenario(program[1] .. ": " .. name) {
    protocol = "replication", program = program[1], ranks = 2 * RANKS, reserve = RANKS,
    engine = "step", survivors = true, arguments = { table.unpack(program, 2) },
    claims = { "H", "P" }, plan = plan,
  }
end

local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

local function point(rank, name, nth)
  return { rank = rank, event = "phase", name = "replication:" .. name, nth = nth }
end

for _, program in ipairs(programs) do
  for rank = 0, 2 * RANKS - 1 do
    for nth = 10, 100, 30 do
      job(program, ("process %d, at its call number %d"):format(rank, nth), function(p)
        p:kill(at_call(rank, nth))
      end)
    end
  end
  job(program, "all that lead, at once", function(p)
    p:kill { ranks = { 0, 1, 2, 3 }, at = at_call(6, 60) }
  end)
  job(program, "all that follow, at once", function(p)
    p:kill { ranks = { 4, 5, 6, 7 }, at = at_call(1, 60) }
  end)
  job(program, "one of each rank, one after the other", function(p)
    p:kill(at_call(0, 30))
    p:kill(at_call(5, 50))
    p:kill(at_call(2, 70))
    p:kill(at_call(7, 90))
  end)
  for _, rank in ipairs { 1, 5 } do
    job(program, ("process %d, when it has done its work"):format(rank), function(p)
      p:kill { rank = rank, call = "MPI_Finalize" }
    end)
  end
end

-- Between the steps of the protocol.
for _, program in ipairs { programs[2], programs[3] } do
  for _, name in ipairs { "before-tell", "after-tell", "before-send", "mid-send" } do
    for nth = 1, 10, 3 do
      job(program, ("process 1 at %s, %d"):format(name, nth), function(p)
        p:kill(point(1, name, nth))
      end)
    end
  end
  for _, name in ipairs { "before-send", "mid-send" } do
    job(program, "process 5 at " .. name, function(p) p:kill(point(5, name, 3)) end)
  end
  for _, name in ipairs { "before-finish", "before-done", "after-finish" } do
    for _, rank in ipairs { 1, 5 } do
      job(program, ("process %d at %s"):format(rank, name), function(p)
        p:kill(point(rank, name))
      end)
    end
  end
  for nth = 1, 9, 4 do
    job(program, ("a process takes over, and another dies at its call number %d"):format(nth),
      function(p)
        p:kill(at_call(1, 40))
        p:await(point(5, "takes-over"))
        p:kill(at_call(2, nth))
      end)
  end
end

-- Both processes of a rank that has done its work die, while another has not: nobody needs them.
for rank = 0, 1 do
  for _, late in ipairs { 2, 6 } do
    job(programs[2], ("both of rank %d when it is done, and process %d is not"):format(rank, late),
      function(p)
        local stopped = p:stop(point(late, "before-done"))
        p:await(point(rank + RANKS, "before-done"))
        p:await(at_call(rank + RANKS, 12))
        p:kill { ranks = { rank, rank + RANKS }, at = at_call(3, 12) }
        p:release(stopped)
      end)
  end
end

-- Process 2 still waits in MPI_Init for what process 3 sends first, and rank 0 has done its work.
job({ "pipeline", "--iterations", 6, "--one-way", 1 }, "rank 0 is done before process 2 has begun",
  function(p)
    p:hold { from = 3, to = 2, level = "wire", after = "start",
             release = point(RANKS, "before-done") }
    p:kill { rank = 1, call = "MPI_Finalize" }
  end)

-- Process 0 dies while process 4, its follower, still waits in MPI_Init for process 3. The follower
-- must see messages in the order that the other ranks know of.
job({ "drawn", "--seed", 7, "--iterations", 20, "--testimony", 2, "--communicators", 0,
      "--persistent-collectives", 0, "--outstanding", 0, "--constructors", 3 },
  "the leader dies before its follower has begun", function(p)
    p:jitter { ms = 2 }
    p:hold { from = 3, to = RANKS, level = "wire", after = "start",
             release = { rank = 1, event = "call", level = "wire", nth = 1200 } }
    p:kill { rank = 0, event = "call", level = "wire", nth = 700, after = "start" }
  end)
