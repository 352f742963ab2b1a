-- Algorithms 2 and 3 of [CM] as they are printed (protocols/camel/broken/as-published), where what
-- they do is not what the paper claims. Each is the smallest job that shows it; the protocol's
-- README says why.

local function shows(name, claim, ranks, edge, rank, nth, root_keeps)
  scenario(name) {
    protocol = "camel-as-published", program = "leanmd", ranks = ranks, engine = "step",
    survivors = true, arguments = { "--iterations", 6, "--size", edge },
    environment = { CAMEL_EVERY = 4, CAMEL_ROOT_KEEPS = root_keeps },
    claims = { claim }, expect = { violates = claim },
    plan = function(p) p:kill { rank = rank, event = "call", level = "wire", nth = nth } end,
  }
end

shows("lemma 1: a new process does not contribute again, and its root may need it", "M.replay",
  2, 1, 1, 100)

-- With rank 2 as root, rank 1 gives to rank 0, which dies. (The root keeps what it does here: else
-- rank 0 would never have recovered.)
shows("algorithm 3, lines 33 and 34: with a contribution its determinants go", "M.orphan", 3, 2,
  0, 240, 1)
