-- Both processes of a rank die: its state is lost. The job ends with that as its reason, and what
-- comes of it is called unsupported and not a violation. No scenario here passes.

local function job(name, plan)
  scenario("laplace: " .. name) {
    protocol = "replication", program = "laplace", ranks = 8, reserve = 4, engine = "step",
    survivors = true, arguments = { "--iterations", 8, "--size", 16 }, claims = { "H", "P" },
    plan = plan,
  }
end

local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

job("both at once", function(p)
  p:kill { ranks = { 1, 5 }, at = at_call(3, 90) }
end)
job("the one that leads, then the other", function(p)
  p:kill(at_call(1, 60))
  p:kill(at_call(5, 120))
end)
job("the one that follows, then the other", function(p)
  p:kill(at_call(5, 60))
  p:kill(at_call(1, 120))
end)
job("both, when one of them takes over", function(p)
  p:kill(at_call(2, 60))
  p:kill { rank = 6, event = "phase", name = "replication:takes-over" }
end)
