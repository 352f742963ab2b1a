-- The stack of two libraries, broken on purpose in four ways (suites/programs/broken/), and the
-- claim that finds it. A scenario here passes only when exactly that violation is found.

local function broken(variant, name, claim, at)
  scenario(variant .. ": " .. name) {
    program = "stack-" .. variant, protocol = "null", ranks = 4, engine = "step", survivors = true,
    claims = { claim }, expect = { violates = claim },
    plan = function(p) p:kill(at) end,
  }
end

-- [UL] section 5.5: from the bottom up it does not work.
broken("from-below", "the program does not know the new process", "H.progress",
  { rank = 1, call = "MPI_Recv", nth = 3 })

-- Rank 2 goes up to the program, and rank 3 waits for the token from it.
broken("own-only", "a rank waits in the library below", "H.progress",
  { rank = 1, call = "MPI_Recv", nth = 3 })

broken("own-digest", "a new process comes in the third step", "H.result",
  { rank = 1, call = "MPI_Recv", nth = 3 })

broken("own-count", "a new process comes in the third step", "H.progress",
  { rank = 1, call = "MPI_Recv", nth = 3 })
