-- The blocking protocol with each promise to storage left out (suites/protocols/blocking/broken/),
-- and the claims that find it. A scenario here passes only when exactly that violation is found.

local function broken(variant, name, fields)
  fields.protocol, fields.program, fields.ranks = "blocking-" .. variant, "laplace", 3
  scenario(variant .. ": " .. name)(fields)
end

local function kill_after_commit(lose)
  return function(p)
    p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 2 }, lose = lose }
  end
end

-- Seen in a run without faults: the calls on the store say it.
for _, variant in ipairs { "commit-before-sync", "unsynced-name", "unsynced-content" } do
  broken(variant, "the commit comes before stable storage", {
    claims = { "B.commit" }, expect = { violates = "B.commit" },
  })
end

-- Seen when a power failure takes what was not synced.
-- Rank 0 dies at its own commit. The others wait for it in the barrier after which they sync.
broken("commit-before-sync", "after the commit nothing of the line is left", {
  claims = { "C.restore" }, expect = { violates = "C.restore" },
  plan = function(p)
    p:kill { rank = 0, event = "commit", epoch = 2, lose = "node" }
  end,
})
broken("unsynced-name", "the commit record before is back", {
  claims = { "C.restore" }, expect = { violates = "C.restore" },
  plan = kill_after_commit "node",
})
broken("unsynced-content", "the names are there, the contents are not", {
  claims = { "H.progress" }, expect = { violates = "H.progress" },
  plan = kill_after_commit "node",
})

-- A short write goes unnoticed until somebody wants to read the file.
broken("short-write", "the checkpoint cannot be read", {
  claims = { "H.progress" }, expect = { violates = "H.progress" },
  plan = function(p)
    p:short { rank = 1, event = "write", file = "line-2.rank-1.new", nth = 2, bytes = 1 }
    p:kill { rank = 2, at = { rank = 0, event = "commit", epoch = 2 } }
  end,
})
