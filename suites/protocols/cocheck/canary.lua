-- What a campaign over this protocol must find, or it would find nothing: the same without waiting
-- for the last ready message, where rank 1 has that of rank 0 last.
local EVERY = 6
scenario "canary: CoCheck that does not wait for the last ready message" {
  protocol = "cocheck-flush-one-short", program = "pipeline", ranks = 3,
  arguments = { "--iterations", 2 * EVERY }, environment = { COCHECK_EVERY = EVERY },
  claims = { "R.clear" }, expect = { violates = "R.clear" },
  plan = function(p)
    p:hold { message = "readyMessage", from = 0, to = 1, epoch = 1,
             release = { rank = 1, event = "checkpoint", epoch = 1 } }
  end,
}
