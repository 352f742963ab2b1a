-- Master and worker over ULFM and over intercommunicators, with a standby and without: a rank dies
-- at each place, or several do. The others go on, and every task's result counts once. Without a
-- standby the master's death is fatal, and the workers say so.

cover { "W.once", "H.loss", "H.result", "H.progress", "U.nostall", "U.class", "U.shrink" }

local kinds = {
  { name = "ULFM", options = {} },
  { name = "intercommunicators", options = { "--inter", 1 } },
}

local function job(name, options, plan, expect)
  scenario(name) {
    program = "master_worker_ulfm", protocol = "null", ranks = 5, engine = "step", survivors = true,
    arguments = options, claims = { "H", "U", "W" }, plan = plan, expect = expect,
  }
end

local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

local function dies(rank, nth)
  return function(p) p:kill(at_call(rank, nth)) end
end

for _, kind in ipairs(kinds) do
  local alone, standby = kind.options, { "--standby", 1, table.unpack(kind.options) }
  job(kind.name, alone, function() end)
  job(kind.name .. ", standby", standby, function() end)
  for nth = 3, 30, 3 do
    for _, rank in ipairs { 1, 4 } do
      job(("%s, worker %d, at its call number %d"):format(kind.name, rank, nth), alone,
        dies(rank, nth))
    end
    for rank = 0, 2 do
      job(("%s, standby, rank %d, at its call number %d"):format(kind.name, rank, nth), standby,
        dies(rank, nth))
    end
  end
  for nth = 33, 132, 3 do
    job(("%s, standby, rank 0, at its call number %d"):format(kind.name, nth), standby,
      dies(0, nth))
  end

  job(kind.name .. ", all workers, one after the other", alone, function(p)
    for worker = 1, 4 do p:kill { rank = worker, call = "MPI_Send", nth = 2 } end
  end)
  job(kind.name .. ", all workers at once", alone, function(p)
    p:kill { ranks = { 1, 2, 3, 4 }, at = { rank = 0, call = "MPI_Waitany", nth = 6 } }
  end)
  job(kind.name .. ", standby: the master, and a worker when the standby leads", standby,
    function(p)
      p:kill { rank = 0, call = "MPI_Waitany", nth = 6 }
      p:kill { ranks = { 2 }, at = { rank = 1, call = "MPI_Waitany", nth = 2 } }
    end)
  job(kind.name .. ", standby: the standby, and nobody misses it", standby, function(p)
    p:kill { rank = 1, call = "MPI_Recv", nth = 3 }
  end)

  local fatal = { violates = "H.progress" }
  job(kind.name .. ": the master", alone, function(p)
    p:kill { rank = 0, call = "MPI_Waitany", nth = 6 }
  end, fatal)
  job(kind.name .. ", standby: it dies, and then the master", standby, function(p)
    p:kill { rank = 1, call = "MPI_Recv", nth = 3 }
    p:kill { rank = 0, call = "MPI_Waitany", nth = 2 }
  end, fatal)
end
