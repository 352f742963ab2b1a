-- Transactions, broken on purpose in nine ways (suites/protocols/transactions/broken/), and the
-- claim that finds it. A scenario here passes only when exactly that violation is found.

local function broken(variant, name, claim, plan)
  scenario(variant .. ": " .. name) {
    protocol = "transactions-" .. variant, program = "laplace", ranks = 4, engine = "step",
    survivors = true, arguments = { "--iterations", 8, "--size", 16 }, claims = { claim },
    expect = { violates = claim }, plan = plan,
  }
end

local function saving(name)
  return function(p)
    p:kill { rank = 1, event = "phase", name = "transactions:" .. name, nth = 3 }
  end
end

broken("alone", "a rank dies at work", "T.agree", function(p)
  p:kill { rank = 1, call = "MPI_Isend", nth = 7 }
end)
broken("barrier", "a rank dies in the barrier", "T.agree", function(p)
  p:kill { rank = 3, call = "MPI_Barrier", level = "wire", nth = 5, position = "inside" }
end)
broken("first-alone", "the first rank dies when it has committed", "T.agree", function(p)
  p:kill { rank = 0, event = "commit", nth = 3 }
end)

broken("stay", "a rank dies when all have saved", "T.undo", saving "after-rename")
broken("own-file", "a rank dies when all have saved", "T.undo", saving "after-rename")
broken("commit-first", "a rank dies when all have saved", "T.undo", saving "after-rename")

broken("agree-first", "a rank dies before it saves", "T.durable", saving "before-write")
broken("flag-only", "a rank dies before it saves", "T.durable", saving "before-write")
broken("from-the-start", "two die at once", "T.durable", function(p)
  p:kill { ranks = { 1, 2 }, at = { rank = 3, call = "MPI_Isend", nth = 9 } }
end)
