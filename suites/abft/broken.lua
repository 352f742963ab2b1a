-- Algorithm-based fault tolerance, broken on purpose in six ways (suites/programs/broken/), and the
-- claim that finds it. A scenario here passes only when exactly that violation is found.

local function broken(variant, name, method, plan, claim)
  scenario(variant .. ": " .. name) {
    program = "abft-" .. variant, protocol = "null", ranks = 4, engine = "step", survivors = true,
    arguments = { "--method", method }, claims = { claim }, expect = { violates = claim },
    plan = plan,
  }
end

local function one_dies(p) p:kill { rank = 1, call = "MPIX_Comm_agree", nth = 3 } end

for method, name in pairs { [0] = "a product", "a factorisation" } do
  broken("no-rebuild", name, method, one_dies, "H.result")
  broken("stale-checksum", name, method, one_dies, "H.result")
  broken("silent", name .. ", two die at once", method, function(p)
    p:kill { ranks = { 1, 2 }, at = { rank = 0, call = "MPIX_Comm_agree", nth = 2 } }
  end, "H.result")
  broken("gives-up", name, method, one_dies, "H.progress")
end
broken("stops-early", "Jacobi", 2, one_dies, "H.result")
broken("no-agreement", "the root of a broadcast dies inside it", 0, function(p)
  p:kill { rank = 1, call = "MPI_Bcast", nth = 3 }
end, "H.progress")
