-- Programs under checkpoint on failure: a rank dies at each place, or several do, one after the
-- other, at once, while the others save, or when the job has been started again. The others save
-- and leave, the job is started again, the dead rank's state is rebuilt, and the result is right.

cover {
  "K.save", "H.orphan", "H.loss", "H.collective", "H.result", "H.progress", "U.nostall", "U.class",
  "U.revoke", "U.shrink", "U.agree",
}

local programs = {
  { "laplace", "--iterations", 8, "--size", 16 }, { "ring", "--iterations", 8 },
  { "cg", "--iterations", 8 },
  { "neuron", "--iterations", 12, "--size", 20 }, -- states that are no whole number of words
}

local function job(program, name, plan, claims)
  scenario(program[1] .. ": " .. name) {
    protocol = "checkpoint_on_failure", program = program[1], ranks = 4, engine = "step",
    survivors = true, max_incarnations = 6, arguments = { table.unpack(program, 2) },
    claims = claims or { "H", "U", "K" }, plan = plan,
  }
end

local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

local function point(rank, name)
  return { rank = rank, event = "phase", name = "checkpoint_on_failure:" .. name }
end

-- Before all have come to line 1 there is nothing to save.
for rank = 0, 3 do
  for nth = 3, 9, 2 do
    job(programs[1], ("rank %d, before the first line, at its call number %d"):format(rank, nth),
      function(p) p:kill(at_call(rank, nth)) end, { "H", "U" })
  end
end

for _, program in ipairs(programs) do
  for rank = 0, 3 do
    for nth = 20, 38, 3 do
      job(program, ("rank %d, at its call number %d"):format(rank, nth), function(p)
        p:kill(at_call(rank, nth))
      end)
    end
  end
  job(program, "when all have done their work", function(p)
    p:kill { rank = 2, call = "MPI_Finalize" }
  end, { "H", "U" })
  job(program, "two, one after the other", function(p)
    p:kill(at_call(1, 16))
    p:kill(at_call(2, 16))
  end)
  job(program, "three, one after the other", function(p)
    p:kill(at_call(1, 16))
    p:kill(at_call(0, 14))
    p:kill(at_call(1, 16))
  end)
  job(program, "two at once, and all begin again", function(p)
    p:kill { ranks = { 0, 2 }, at = at_call(1, 18) }
  end, { "H", "U" })
  job(program, "one, then two at once: back to what was saved first", function(p)
    p:kill(at_call(1, 16))
    p:kill { ranks = { 0, 2 }, at = at_call(1, 18) }
  end)
  job(program, "all but one at once", function(p)
    p:kill { ranks = { 0, 1, 2 }, at = at_call(3, 18) }
  end, { "H", "U" })
end

-- A second rank dies while the others save: what it had, and the first, is lost.
for _, name in ipairs { "shrunk", "before-write", "mid-write", "before-sync", "before-rename",
  "after-rename" } do
  for _, rank in ipairs { 0, 3 } do
    job(programs[1], ("while the others save, rank %d at %s"):format(rank, name), function(p)
      p:kill(at_call(1, 24))
      p:kill(point(rank, name))
    end, { "H", "U" })
  end
end
-- The line is given up, and rank 3 has saved its part of it. What it sends is random: in the next
-- life, in which it dies where the line has the same number, that part is of another state.
for nth = 54, 62, 4 do
  job({ "random", "--iterations", 8 },
    ("a line is given up, and then rank 3 at its call number %d"):format(nth), function(p)
      p:kill(at_call(1, 60))
      p:kill(point(2, "after-rename"))
      p:kill(at_call(3, nth))
    end)
end
-- ... or while the line is committed: the next one does it.
for _, name in ipairs { "mid-commit", "before-commit-rename", "after-commit-rename" } do
  job(programs[1], "while rank 0 commits, at " .. name, function(p)
    p:kill(at_call(1, 24))
    p:kill(point(0, name))
  end)
end

-- After the restart, while the state of rank 1 is rebuilt.
for rank = 0, 3 do
  for nth = 1, 12 do
    job(programs[1], ("started again, rank %d at its call number %d"):format(rank, nth),
      function(p)
        p:kill(at_call(1, 24))
        p:await { rank = rank, event = "call", level = "wire", call = "MPI_Init" }
        p:kill(at_call(rank, nth))
      end)
  end
end
