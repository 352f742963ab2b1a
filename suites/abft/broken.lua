-- Algorithm-based fault tolerance, broken on purpose in eight ways (suites/programs/broken/), and
-- the claim that finds it. A scenario here passes only when exactly that violation is found.

local function broken(variant, name, method, plan, claim)
  scenario(variant .. ": " .. name) {
    program = "abft-" .. variant, protocol = "null", ranks = 4, engine = "step", survivors = true,
    arguments = { "--method", method }, claims = { claim or "A.exact" },
    expect = { violates = claim or "A.exact" }, plan = plan,
  }
end

local function one_dies(p) p:kill { rank = 1, call = "MPIX_Comm_agree", nth = 3 } end

local function two_die(p)
  p:kill { ranks = { 1, 2 }, at = { rank = 0, call = "MPIX_Comm_agree", nth = 2 } }
end

for method, name in pairs { [0] = "a product", "a factorisation" } do
  broken("no-rebuild", name, method, one_dies)
  broken("stale-checksum", name, method, one_dies)
  broken("coarse", name, method, one_dies)
  broken("gives-up", name, method, one_dies)
  broken("silent", name .. ", two die at once", method, two_die)
  broken("leaves", name .. ", two die at once", method, two_die)
end
broken("stops-early", "Jacobi", 2, one_dies)
broken("no-agreement", "the root of a broadcast dies inside it", 0, function(p)
  p:kill { rank = 1, call = "MPI_Bcast", nth = 3 }
end, "H.progress")
