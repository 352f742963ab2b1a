-- The blocking protocol on storage that fails: calls that fail, are short or torn, and deaths that
-- take along what was not synced. Whatever happens, the job goes on from the newest line that was
-- committed, and ends with the result of a run without faults.

cover { "H", "B", "C.restore", { fault = "storage", role = "initiator" },
  { fault = "storage", role = "participant" }, { fault = "lose", role = "participant" },
  { fault = "lose", role = "initiator", phase = "blocking:mid-commit" } }

-- Three ranks take lines at iterations 10, 20, 30 and 40. Each writes line-<line>.rank-<rank>.new
-- in four writes and a checksum, syncs it, renames it, and syncs the folder; rank 0 then does the
-- same with `commit`.
-- restores: false where no line is there to go back to, or nobody dies.
local function storage(name, plan, restores)
  scenario("blocking: " .. name) {
    protocol = "blocking", program = "laplace", ranks = 3,
    claims = restores == false and { "H", "B" } or { "H", "B", "C.restore" },
    plan = plan,
  }
end

-- Failed and short calls. Who is told that its checkpoint cannot be written ends the job.
for _, where in ipairs {
  { "open", 1, "line-2.rank-1.new", "EMFILE" }, { "open", 2, ".", "EIO" },
  { "write", 1, "line-1.rank-2.new", "ENOSPC" }, { "write", 3, "line-2.rank-0.new", "EIO" },
  { "write", 2, "commit.new", "ENOSPC" }, { "write", 5, "commit.new", "EDQUOT" },
  { "sync", 1, "line-3.rank-1.new", "EIO" }, { "sync", 2, "commit.new", "ENOSPC" },
  { "sync", 4, ".", "EIO" },
  { "rename", 1, "line-2.rank-2", "EIO" }, { "rename", 3, "commit", "ENOSPC" },
} do
  local event, nth, file, error = table.unpack(where)
  storage(string.format("%s of %s number %d fails with %s", event, file, nth, error), function(p)
    p:fail { rank = file:find("rank%-1") and 1 or file:find("rank%-2") and 2 or 0,
             event = event, file = file, nth = nth, error = error }
  end, file:sub(1, 6) ~= "line-1" and not (file == "commit.new" and nth == 2))
end

for _, bytes in ipairs { 0, 1, 7 } do
  storage("a write of " .. bytes .. " bytes where more are asked for", function(p)
    p:short { rank = 1, event = "write", file = "line-2.rank-1.new", nth = 2, bytes = bytes }
  end, bytes == 0)
end

storage("an old line that cannot be removed", function(p)
  p:fail { rank = 2, event = "unlink", file = "line-1.rank-2", error = "EBUSY" }
end, false)

-- Torn writes: the rank dies in the middle, with and without what it has not synced.
for _, lose in ipairs { false, "rank", "node" } do
  local how = lose and ", what is not synced is lost: " .. lose or ""
  storage("a checkpoint is torn" .. how, function(p)
    p:tear { rank = 2, event = "write", file = "line-2.rank-2.new", nth = 4, bytes = 100,
             lose = lose or nil }
  end)
  storage("the commit record is torn" .. how, function(p)
    p:tear { rank = 0, event = "write", file = "commit.new", nth = 8, bytes = 3,
             lose = lose or nil }
  end)
end

-- Deaths around every call that makes a commit, with the loss of what is not synced.
for _, lose in ipairs { "rank", "node" } do
  for _, call in ipairs {
    { "open", "commit.new" }, { "write", "commit.new" }, { "sync", "commit.new" },
    { "rename", "commit" }, { "unlink", "line-1.rank-0" },
  } do
    for _, position in ipairs { "before", "after" } do
      local event, file = table.unpack(call)
      local nth = event == "write" and 5 or event == "unlink" and 1 or 2
      storage(string.format("rank 0 dies %s the %s of %s, lose %s", position, event, file, lose),
        function(p)
          p:kill { rank = 0, event = event, file = file, nth = nth, position = position,
                   lose = lose }
        end)
    end
  end
  -- The rank that is behind has renamed its file, and the folder is not synced by it.
  storage("rank 1 dies after the rename of its checkpoint, lose " .. lose, function(p)
    p:kill { rank = 1, event = "rename", file = "line-3.rank-1", position = "after", lose = lose }
  end)
  -- Right after the commit everything must be there.
  storage("all die after a commit, lose " .. lose, function(p)
    p:kill { ranks = { 0, 1, 2 }, at = { rank = 0, event = "commit", epoch = 3 }, lose = lose }
  end)
  storage("a death in recovery, and one before, lose " .. lose, function(p)
    p:kill { rank = 0, event = "rename", file = "commit", nth = 2, position = "after",
             lose = lose }
    p:kill { rank = 1, event = "open", file = "line-*", incarnation = 1, lose = lose }
  end)
end
