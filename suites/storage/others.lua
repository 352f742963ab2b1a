-- Chandy-Lamport and CoCheck on storage that fails: calls on the files of a line and on the record
-- of its commit that fail, or are torn with the loss of what was not synced. The process to which
-- that happens ends the job. It goes on from the newest committed line, also when a rank dies as
-- soon as line 2 is committed, and ends with the result of a run without faults.

cover { { fault = "storage", role = "initiator" }, { fault = "storage", role = "participant" },
  { fault = "lose", role = "initiator" }, { fault = "lose", role = "participant" } }

local protocols = {
  { name = "chandy_lamport", every = "CHANDY_EVERY", claims = { "S", "H" } },
  { name = "cocheck", every = "COCHECK_EVERY", claims = { "R", "H" } },
}

for _, protocol in ipairs(protocols) do
  local function storage(name, plan)
    scenario(protocol.name .. ": " .. name) {
      protocol = protocol.name, program = "ring", ranks = 3, claims = protocol.claims,
      arguments = { "--iterations", 40 }, environment = { [protocol.every] = 8 }, plan = plan,
    }
  end
  for _, where in ipairs {
    { 1, "open", "line-2.rank-1.new", "EMFILE" }, { 2, "write", "line-2.rank-2.new", "ENOSPC" },
    { 0, "sync", "line-2.rank-0.new", "EIO" }, { 1, "rename", "line-2.rank-1", "EIO" },
    { 0, "write", "commit.new", "ENOSPC", 2 }, { 0, "sync", "commit.new", "EIO", 2 },
    { 0, "rename", "commit", "EIO", 2 },
  } do
    local rank, event, file, error, nth = table.unpack(where)
    storage(string.format("%s of %s fails with %s", event, file, error), function(p)
      p:fail { rank = rank, event = event, file = file, error = error, nth = nth }
      p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 2 } }
    end)
  end
  for _, lose in ipairs { "rank", "node" } do
    storage("a checkpoint is torn, lose " .. lose, function(p)
      p:tear { rank = 2, event = "write", file = "line-2.rank-2.new", nth = 2, bytes = 9,
               lose = lose }
    end)
    storage("all die after a commit, lose " .. lose, function(p)
      p:kill { ranks = { 0, 1, 2 }, at = { rank = 0, event = "commit", epoch = 2 }, lose = lose }
    end)
  end
end
