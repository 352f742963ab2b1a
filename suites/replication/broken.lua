-- Replication, broken on purpose in nine ways (suites/protocols/replication/broken/), and the claim
-- that finds it. A scenario here passes only when exactly that violation is found.

local arguments = {
  laplace = { "--iterations", 8, "--size", 16 }, tally = {}, random = {},
}

local function broken(variant, program, name, claim, plan)
  scenario(variant .. ": " .. name) {
    protocol = "replication-" .. variant, program = program, ranks = 8, reserve = 4,
    engine = "step", survivors = true, arguments = arguments[program], claims = { claim },
    expect = { violates = claim }, plan = plan,
  }
end

local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

local function dies(rank, nth)
  return function(p) p:kill(at_call(rank, nth)) end
end

-- The program finds by itself that numbers are not what was sent: so the job is ended before it
-- does, by the death of both processes of a rank.
broken("own-clock", "random", "a rank is lost", "P.same", function(p)
  p:kill { ranks = { 1, 5 }, at = { rank = 0, call = "MPI_Irecv", nth = 20 } }
end)
broken("untold", "random", "one that leads dies, and the other in the end", "P.same", function(p)
  p:kill { rank = 0, call = "MPI_Irecv", nth = 8 }
  p:kill { rank = 4, call = "MPI_Finalize" }
end)
broken("own-order", "tally", "one that leads dies", "P.same", dies(3, 100))

broken("both-count", "tally", "nobody dies", "P.mask")
broken("newest-only", "laplace", "one that leads dies", "P.mask", dies(1, 120))
broken("once-more", "tally", "one that leads dies", "P.mask", dies(1, 80))

local function both(nth)
  return function(p) p:kill { ranks = { 1, 5 }, at = at_call(3, nth) } end
end

broken("silent", "laplace", "a rank is lost", "P.last", both(90))
broken("at-the-end", "laplace", "a rank is lost", "P.last", both(90))
broken("enough", "tally", "a rank is lost", "P.last", function(p)
  p:kill { ranks = { 1, 5 }, at = at_call(0, 100) }
end)
