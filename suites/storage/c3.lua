-- C3 on storage that fails: its checkpoint, its log and its commit record, with the loss of what
-- was not synced. Whatever happens, the job goes on from the newest committed line, and ends with
-- the result of a run without faults.

cover { "C.commit", "C.restore", { fault = "storage", role = "initiator" },
  { fault = "storage", role = "participant" }, { fault = "lose", role = "participant" },
  { fault = "lose", role = "initiator", phase = "c3:mid-commit" } }

-- restores: false where there is no line yet to go back to.
local function storage(name, plan, restores)
  scenario("c3: " .. name) {
    protocol = "c3", program = "ring", ranks = 3,
    claims = restores == false and { "H", "C.commit" } or { "H", "C.commit", "C.restore" },
    plan = plan,
  }
end

for _, where in ipairs {
  { 1, "write", "line-2.rank-1.new", "ENOSPC" }, { 0, "sync", "line-2.rank-0.new", "EIO" },
  { 2, "open", "log-2.rank-2.new", "EDQUOT" }, { 0, "write", "log-2.rank-0.new", "ENOSPC" },
  { 1, "sync", "log-2.rank-1.new", "EIO" }, { 2, "rename", "log-2.rank-2", "EIO" },
  { 0, "rename", "commit", "EIO", 2 },
} do
  local rank, event, file, error, nth = table.unpack(where)
  storage(string.format("%s of %s fails with %s", event, file, error), function(p)
    p:fail { rank = rank, event = event, file = file, error = error, nth = nth }
  end)
end

for _, lose in ipairs { "rank", "node" } do
  storage("a log is torn, lose " .. lose, function(p)
    p:tear { rank = 1, event = "write", file = "log-2.rank-1.new", bytes = 4, lose = lose }
  end)
  storage("a checkpoint is torn, lose " .. lose, function(p)
    p:tear { rank = 2, event = "write", file = "line-2.rank-2.new", nth = 2, bytes = 9,
             lose = lose }
  end)
  for _, position in ipairs { "before", "after" } do
    for _, call in ipairs { { "sync", 2, "commit.new" }, { "rename", 2, "commit" } } do
      local event, nth, file = table.unpack(call)
      storage(string.format("rank 0 dies %s the %s of %s, lose %s", position, event, file, lose),
        function(p)
          p:kill { rank = 0, event = event, file = file, nth = nth, position = position,
                   lose = lose }
        end)
    end
    storage(string.format("rank 1 dies %s the rename of its log, lose %s", position, lose),
      function(p)
        p:kill { rank = 1, event = "rename", file = "log-2.rank-1", position = position,
                 lose = lose }
      end)
  end
  storage("all die after a commit, lose " .. lose, function(p)
    p:kill { ranks = { 0, 1, 2 }, at = { rank = 0, event = "commit", epoch = 2 }, lose = lose }
  end)
end
