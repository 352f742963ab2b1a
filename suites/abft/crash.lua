-- A matrix product, an LU factorisation and Jacobi's iteration: a rank dies at each place, or
-- several do. Those that live rebuild its part (or drop it), and the result is that of a run
-- without faults, within its tolerance.

cover { "A.exact", "H.progress", "U.nostall", "U.class", "U.shrink", "U.agree" }

local methods = { [0] = "product", "factorisation", "Jacobi" }

local function job(name, method, plan, claims)
  scenario(methods[method] .. ": " .. name) {
    program = "abft", protocol = "null", ranks = 4, engine = "step", survivors = true,
    arguments = { "--method", method }, claims = claims or { "A", "H", "U" },
    plan = plan,
  }
end

local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

for method = 0, 2 do
  job("nobody dies", method, function() end, { "H", "U" }) -- nothing to compare with
  for rank = 0, 3 do
    for nth = 3, 27, 2 do
      job(("rank %d, at its call number %d"):format(rank, nth), method,
        function(p) p:kill(at_call(rank, nth)) end)
    end
  end
  -- The first that lives gets the part of rank 3, the next one that of rank 2.
  job("two, one after the other, each with one part", method, function(p)
    p:kill { rank = 3, call = "MPIX_Comm_agree", nth = 2 }
    p:kill { rank = 2, call = "MPIX_Comm_agree", nth = 6 }
  end)
end

job("all but one", 2, function(p)
  p:kill { ranks = { 0, 1, 2 }, at = { rank = 3, call = "MPIX_Comm_agree", nth = 4 } }
end)
