-- CAMEL, broken on purpose (suites/protocols/camel/broken/), and the claim that finds it. A
-- scenario here passes only when exactly that violation is found. What is told of logs and
-- determinants is judged without any death: the oracle asks of every moment what would be if
-- somebody died then.

local function broken(variant, program, claim, name, arguments, plan)
  scenario(variant .. ": " .. name) {
    protocol = "camel-" .. variant, program = program, ranks = 5, engine = "step",
    survivors = true, arguments = arguments, environment = { CAMEL_EVERY = 4 },
    claims = { claim }, expect = { violates = claim }, plan = plan,
  }
end

local short = { "--iterations", 6 }
local barriers = { "--late", 1, "--iterations", 6, "--call", 1, "--messages", 0 }

broken("no-determinants", "openatom", "M.orphan", "nobody else knows the order", short)
broken("multicast-unlogged", "openatom", "M.replay", "nobody can send it again", short)
broken("contributions-kept", "leanmd", "M.once", "more is kept than the root would need", short)
broken("stored-on-the-way", "leanmd", "M.once", "there is more than one copy", short)
broken("kept-for-each-child", "leanmd", "M.once", "there is one copy for each child", short)
broken("barrier-half-told", "collectives", "M.atomic", "it does not come to all", barriers)
broken("barrier-untold", "collectives", "M.atomic", "it comes to nobody", barriers)

local function dies(rank, nth)
  return function(p) p:kill { rank = rank, event = "call", level = "wire", nth = nth } end
end
broken("order-ignored", "master_worker", "M.order", "answers come in another order",
  short, dies(0, 220))
broken("duplicates-kept", "leanmd", "M.stale", "those below have what is sent again", short,
  dies(1, 200))
broken("past-barriers-skipped", "collectives", "M.atomic", "it does not come to the new process",
  barriers, dies(1, 360))
