-- A job that is begun on some ranks, and goes on on fewer or more when one has died.
local function case(name, ranks, again, kill, more)
  scenario("cells: " .. name) {
    protocol = "null", program = "./cells", ranks = ranks, restart = { ranks = again },
    arguments = more and more.arguments, stores = { "global" },
    claims = { "H.result" }, expect = more and more.expect,
    plan = function(p)
      kill(p)
      if more and more.again then more.again(p) end
    end,
  }
end

local function committed(line)
  return function(p) p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = line } } end
end

case("on fewer ranks", 4, 3, committed(2))
case("on more ranks", 3, 5, committed(2))
case("on one rank", 4, 1, committed(3))
case("before there is a line", 3, 2, function(p)
  p:kill { rank = 2, event = "send", nth = 3 }
end)
case("a rank that was not there before dies, too", 2, 4, committed(2), { again = function(p)
  p:kill { rank = 3, event = "send", nth = 6, incarnation = 1 }
end })
case("a rank dies while it writes", 4, 2, function(p)
  p:kill { rank = 3, event = "write", store = "global", nth = 4, position = "after" }
end)
case("the store is lost", 4, 3, function(p)
  p:kill { rank = 1, lose_store = "global", at = { rank = 0, event = "commit", epoch = 4 } }
end)

-- ---- how it should not be -----------------------------------------------------------------------

case("by rank, on fewer ranks", 4, 3, committed(2),
  { arguments = { "--by-rank" }, expect = { violates = "H.result" } })
case("by rank, on as many", 4, 4, committed(2), { arguments = { "--by-rank" } })
