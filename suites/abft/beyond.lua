-- More is lost than the checksum gives back: the ranks say that they cannot give a result, and end
-- the job. That is what A.exact asks of them; what comes of it is called unsupported and not a
-- violation. No scenario here passes.

local methods = { [0] = "product", "factorisation" }

local function job(name, method, plan)
  scenario(methods[method] .. ": " .. name) {
    program = "abft", protocol = "null", ranks = 4, engine = "step", survivors = true,
    arguments = { "--method", method }, claims = { "A", "H", "U" }, plan = plan,
  }
end

for method = 0, 1 do
  for rank = 1, 2 do
    job(("rank %d while the part of rank 3 is rebuilt"):format(rank), method, function(p)
      p:kill { rank = 3, call = "MPIX_Comm_agree", nth = 2 }
      p:kill { rank = rank, call = "MPI_Reduce", nth = 1 }
    end)
  end
  job("two at once", method, function(p)
    p:kill { ranks = { 1, 2 }, at = { rank = 0, call = "MPIX_Comm_agree", nth = 2 } }
  end)
  job("one with two parts", method, function(p)
    p:kill { rank = 3, call = "MPIX_Comm_agree", nth = 2 }
    p:kill { rank = 0, call = "MPIX_Comm_agree", nth = 6 }
  end)
end
