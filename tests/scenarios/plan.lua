-- Every field of a scenario and of a condition, once.
scenario "everything" {
  protocol = "blocking",
  program = "ring",
  arguments = { "-n", 10, 2.5, "" },
  ranks = 3,
  library = { "libx.so", "liby.so.2" },
  helpers = { 2, 0 },
  nodes = { { 1 }, { 0, 2, 3 } }, stores = { "scratch", "global", ram = "node" },
  files = { ["x.conf"] = "every 5\n", a = "" },
  claims = { "H", "B.empty" },
  result = { "output", ignore = { "[0-9.]+ s", "^#" } }, timeout = 2.5,
  max_incarnations = 4, restart = { ranks = 4 },
  environment = { ZEBRA = "x=y z", ANT = 1 },
  expect = { violates = "B.empty", cover = { "H.orphan", "B.empty" } },
  plan = function(p)
    p:await { event = "checkpoint", epoch = 1, rank = 2, incarnation = 0 }
    p:kill { rank = 1 }
    p:kill { rank = 1, event = "send", nth = 5, peer = 2, tag = 7, comm = "world", level = "wire",
      position = "after" }
    p:kill { ranks = { 1, 2 }, at = { rank = 0, event = "recv", comm = "0x0A3f" } }
    p:kill { rank = 1, call = "MPI_Isend", comm = "self" }
    p:kill { rank = 0, event = "collective", position = "inside" }
    p:await { event = "deliver" }
    p:await { event = "phase", name = "half way there", rank = p.ranks - 1 }
    p:kill { ranks = { 0, 2 } }
  end,
}

scenario "least" { protocol = "null", program = "ring", ranks = 1 }
