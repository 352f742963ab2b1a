-- Programs under transactions: a rank dies at each place, or several do, one after the other, at
-- once, while a transaction ends, or while the dead are replaced. What was under way is undone,
-- what was committed is kept, and the result is right.

cover {
  "T.agree", "T.undo", "T.durable",
  "H.orphan", "H.loss", "H.result", "H.progress", "U.nostall",
  "U.class", "U.revoke", "U.shrink", "U.agree",
}

local programs = {
  { "laplace", "--iterations", 8, "--size", 16 }, { "ring", "--iterations", 8 },
}

local function job(program, name, plan)
  scenario(program[1] .. ": " .. name) {
    protocol = "transactions", program = program[1], ranks = 4, engine = "step", survivors = true,
    max_incarnations = 2, arguments = { table.unpack(program, 2) },
    claims = { "H", "U", "T" }, plan = plan,
  }
end

local function at_call(rank, nth)
  return { rank = rank, event = "call", level = "wire", nth = nth }
end

local function point(rank, name, nth)
  return { rank = rank, event = "phase", name = "transactions:" .. name, nth = nth }
end

for _, program in ipairs(programs) do
  for rank = 0, 3 do
    for nth = 3, 39, 3 do
      job(program, ("rank %d, at its call number %d"):format(rank, nth), function(p)
        p:kill(at_call(rank, nth))
      end)
    end
  end
  job(program, "when all have done their work", function(p)
    p:kill { rank = 2, call = "MPI_Finalize" }
  end)
  job(program, "two, one after the other", function(p)
    p:kill(at_call(1, 16))
    p:kill(at_call(2, 16))
  end)
  job(program, "the same rank three times", function(p)
    p:kill(at_call(1, 16))
    p:kill(at_call(4, 16)) -- its new process
    p:kill(at_call(5, 16))
  end)
  job(program, "two neighbours at once", function(p)
    p:kill { ranks = { 1, 2 }, at = at_call(3, 18) }
  end)
  job(program, "two that are no neighbours at once", function(p)
    p:kill { ranks = { 1, 3 }, at = at_call(0, 18) }
  end)
  job(program, "all but one at once", function(p)
    p:kill { ranks = { 0, 1, 2 }, at = at_call(3, 18) }
  end)
  job(program, "all at once: the job is started again", function(p)
    p:kill { ranks = { 0, 1, 2, 3 }, at = at_call(3, 24) }
  end)
end

-- Rank 1 has all that it needs and comes to the agreement, where it is still to hand on a message
-- that is held; rank 2 waits for that, and not only for rank 3, which has died.
for _, hold in ipairs {
  { "for a time", ms = 5 },
  { "until rank 0 agrees",
    release = { rank = 0, call = "MPIX_Comm_agree", level = "wire" } },
} do
  job(programs[1], "a message is held " .. hold[1] .. ", and another rank dies", function(p)
    p:hold { from = 1, to = 2, nth = 3, after = "start", ms = hold.ms, release = hold.release }
    p:kill { rank = 3, event = "send", peer = 2, nth = 3, after = "start" }
  end)
end

-- While a transaction ends: of the rank itself, or of the one that commits.
for _, rank in ipairs { 0, 3 } do
  for _, name in ipairs { "before-write", "mid-write", "before-sync", "before-rename",
    "after-rename" } do
    job(programs[1], ("while it saves, rank %d at %s"):format(rank, name), function(p)
      p:kill(point(rank, name, 3))
    end)
  end
end
for _, name in ipairs { "mid-commit", "before-commit-rename", "after-commit-rename" } do
  job(programs[1], "while rank 0 commits, at " .. name, function(p)
    p:kill(point(0, name, 3))
  end)
  job(programs[1], ("while ranks 0 and 1 commit, at %s"):format(name), function(p)
    p:kill(point(0, name, 3))
    p:kill(point(1, name))
  end)
  -- Process 4 takes the place of rank 0. What was committed must be there when all are gone.
  job(programs[1], ("while rank 0 commits, at %s, and then all at once"):format(name), function(p)
    p:kill(point(0, name, 3))
    p:await { rank = 4, event = "restored" }
    p:kill { ranks = { 1, 2, 3, 4 }, at = at_call(3, 2) }
  end)
end

-- Who cannot store its state ends the job. It is started again from the newest transaction that all
-- have stored, and a rank dies when the next one is committed.
for _, where in ipairs {
  { 2, "open", "line-3.rank-2.new", "EMFILE" }, { 1, "write", "line-3.rank-1.new", "ENOSPC" },
  { 3, "sync", "line-3.rank-3.new", "EIO" }, { 0, "rename", "line-3.rank-0", "EIO" },
  { 0, "sync", "commit.new", "EIO", 2 },
} do
  local rank, event, file, error, nth = table.unpack(where)
  job(programs[1], ("%s of %s fails with %s"):format(event, file, error), function(p)
    p:fail { rank = rank, event = event, file = file, error = error, nth = nth }
    p:kill { rank = rank, at = { event = "commit", epoch = 3 } }
  end)
end

-- A new process that cannot read the state which it is to go on from ends the job, too.
job(programs[1], "a new process cannot open what rank 1 has stored", function(p)
  p:kill { rank = 1, at = { event = "commit", epoch = 3 } }
  p:fail { rank = 4, event = "open", file = "line-3.rank-1", error = "EIO" }
end)

-- While rank 1 is replaced: another one, or its new process.
for _, rank in ipairs { 0, 2, 3 } do
  for nth = 1, 10 do
    job(programs[1], ("rank 1 is replaced, rank %d at its call number %d"):format(rank, nth),
      function(p)
        p:kill(at_call(1, 24))
        p:await { rank = rank, event = "phase", name = "transactions:shrunk" }
        p:kill(at_call(rank, nth))
      end)
  end
end
for nth = 1, 30 do
  job(programs[1], ("rank 1 is replaced, its new process at its call number %d"):format(nth),
    function(p)
      p:kill(at_call(1, 24))
      p:kill(at_call(4, nth))
    end)
end
