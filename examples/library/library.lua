-- Four ranks of the program on two nodes, and the warden on a third one.
local good = "partner 2\nsync yes\nverify yes\n"

local function case(name, conf, plan, violates)
  scenario("keep: " .. name) {
    protocol = "null", program = "./solver", ranks = 5,
    library = "libkeep.so", helpers = { 4 }, nodes = { { 0, 1 }, { 2, 3 }, { 4 } },
    files = { ["keep.conf"] = conf },
    claims = { "H" }, plan = plan, expect = violates and { violates = violates },
  }
end

local function committed(line) return { rank = 4, event = "commit", epoch = line } end

-- ---- what it is made for -----------------------------------------------------------------------

case("no fault", good)

case("a rank dies while it writes", good, function(p)
  p:kill { rank = 1, event = "phase", name = "keep:written", nth = 3 }
end)

case("the warden dies", good, function(p)
  p:kill { rank = 4, event = "commit", epoch = 2 }
end)

local function node_without_power(p)
  p:kill { node = 1, lose = "node", at = committed(2) }
end
case("a node loses its power", good, node_without_power)

local function node_without_storage(p)
  p:kill { node = 0, lose = "storage", at = committed(3) }
end
case("a node is lost with its disk", good, node_without_storage)

case("one node after the other is lost with its disk", good, function(p)
  node_without_storage(p)
  p:kill { node = 1, lose = "storage", at = { rank = 4, event = "commit", epoch = 5 } }
end)

case("the files of a rank are lost, not the copies of its partner", good, function(p)
  p:kill { rank = 1, at = committed(3), lose_files = "node0/r1.*" }
end)

case("a disk is full", good, function(p)
  p:fail { rank = 1, event = "write", file = "node0/*", nth = 3, error = "ENOSPC" }
  p:kill { rank = 2, at = committed(3) }
end)

local function decay(p)
  p:flip { rank = 2, event = "write", file = "node1/new.r2.*", nth = 2, byte = 20 }
  p:kill { rank = 0, at = committed(2) }
end
case("a disk decays", good, decay)

-- ---- how it can be configured, and should not ---------------------------------------------------

case("partners on one node: it is lost with its disk", "partner 1\nsync yes\nverify yes\n",
  node_without_storage, "H.progress")

case("the files of a rank are lost, and the copies of its partner", good, function(p)
  p:kill { rank = 1, at = committed(3), lose_files = "*[rp]1.*" }
end, "H.progress")

case("nothing is synced: all nodes lose their power", "partner 2\nsync no\nverify yes\n",
  function(p) p:kill { ranks = { 0, 1, 2, 3 }, lose = "node", at = committed(2) } end, "H.progress")

case("nothing is verified: a disk decays", "partner 2\nsync yes\nverify no\n", decay, "H.result")
