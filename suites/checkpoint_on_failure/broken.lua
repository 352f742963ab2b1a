-- Checkpoint on failure, broken on purpose in seven ways
-- (suites/protocols/checkpoint_on_failure/broken/), and the claim that finds it. A scenario here
-- passes only when exactly that violation is found.

local function broken(variant, name, claim, plan)
  scenario(variant .. ": " .. name) {
    protocol = "checkpoint_on_failure-" .. variant, program = "laplace", ranks = 4,
    engine = "step", survivors = true, max_incarnations = 4,
    arguments = { "--iterations", 8, "--size", 16 }, claims = { claim },
    expect = { violates = claim }, plan = plan,
  }
end

-- Rank 1 dies as it comes out of the call that makes line 6: of the others some have the line then,
-- and some have not, as the engine decides.
local function at_line(p)
  p:kill { rank = 1, call = "MPI_Allreduce", level = "wire", nth = 8, position = "after" }
end

-- After the restart some lack the line, and the job gives up; or all go on, from different lines.
broken("own-line", "some have a newer line than others", "H.progress", at_line)
broken("newer-line", "some have a newer line than others", "H.progress", at_line)

broken("every-line", "nobody needs to die", "K.save", function() end)

broken("not-again", "another dies before the next line", "K.save", function(p)
  p:kill { rank = 1, call = "MPI_Isend", nth = 9 }
  p:await { rank = 2, event = "restored" }
  p:kill { rank = 2, call = "MPI_Isend" }
end)

broken("forgotten", "rank 1 dies", "K.save", function(p)
  p:kill { rank = 1, call = "MPI_Isend", nth = 9 }
end)

broken("own-part", "rank 1 dies", "H.result", function(p)
  p:kill { rank = 1, call = "MPI_Isend", nth = 9 }
end)

-- Of the last line some have come out, and have done their work.
broken("alone", "some have done their work", "H.progress", function(p)
  p:kill { rank = 1, call = "MPI_Allreduce", level = "wire", nth = 10, position = "after" }
end)
