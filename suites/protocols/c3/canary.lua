-- What a campaign over this protocol must find, or it would find nothing: the same with a log that
-- leaves out late messages. Rank 0 begins the line while the others wait for the token of the next
-- lap, so the first that it takes from rank 2 is late.
local EVERY = 10
scenario "canary: C3 without late messages in its log" {
  protocol = "c3-log-wildcards-only", program = "ring", ranks = 3,
  arguments = { "--iterations", 2 * EVERY - 1 }, environment = { C3_EVERY = EVERY },
  claims = { "C.late.log" }, expect = { violates = "C.late.log" },
  plan = function(p)
    p:hold { from = 1, to = 2, nth = EVERY, release = { rank = 1, event = "recv" } }
    p:hold { from = 2, to = 0, release = { rank = 2, event = "recv" } }
  end,
}
