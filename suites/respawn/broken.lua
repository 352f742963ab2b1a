-- The respawn protocol, broken on purpose in seven ways (suites/protocols/respawn/broken/), and the
-- claim that finds it. A scenario here passes only when exactly that violation is found.

local function broken(variant, name, plan, claim)
  claim = claim or "H.progress"
  scenario(variant .. ": " .. name) {
    protocol = "respawn-" .. variant, program = "laplace", ranks = 4, engine = "step",
    survivors = true, arguments = { "--iterations", 10, "--size", 16 },
    claims = { claim }, expect = { violates = claim }, plan = plan,
  }
end

-- Rank 1 does not get what it needs of rank 0, and does not take the next line, for which rank 2
-- waits.
broken("no-revoke", "the second neighbour waits for ever", function(p)
  p:kill { rank = 0, call = "MPI_Isend", nth = 5 }
end)

-- Rank 3 has exchanged line 4, and rank 2 will not have.
broken("no-agreement", "a death in the midst of a line", function(p)
  p:hold { from = 1, to = 2, tag = 32002, level = "wire", nth = 3, attempt = true }
  p:kill { rank = 1, at = { state = { { rank = 3, blocked = "MPIX_Comm_agree" } } } }
end)

broken("stay", "ranks go on from different lines", function(p)
  p:kill { rank = 1, call = "MPI_Isend", nth = 7 }
end)

-- What rank 0 keeps is at rank 1 alone, which is a new process.
broken("old-copies", "the rank before the new process dies too", function(p)
  p:kill { rank = 1, call = "MPI_Isend", nth = 7 }
  p:await { rank = 0, event = "restored" }
  p:kill { rank = 0, call = "MPI_Irecv" }
end)

-- Rank 0 goes on with the rows of rank 1, which are not as warm.
broken("own-copy", "the new process has the state of another rank", function(p)
  p:kill { rank = 0, call = "MPI_Isend", nth = 7 }
end, "H.result")

-- Late enough for the rows to differ from one iteration to the next.
broken("old-bytes", "what was sent last before the recovery is sent ever after", function(p)
  p:kill { rank = 1, call = "MPI_Isend", nth = 15 }
end, "H.loss")

-- The neighbours get it in two iterations.
broken("sent-twice", "rows are an iteration behind", function(p)
  p:kill { rank = 1, call = "MPI_Isend", nth = 7 }
end, "H.duplicate")
