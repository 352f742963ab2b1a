-- Rank 1 of a heat solver is killed while it writes its third checkpoint. The blocking protocol
-- brings the job back from the second.
scenario "laplace survives the loss of a rank in the middle of a checkpoint" {
  protocol = "blocking", program = "laplace", ranks = 3,
  claims = { "H", "B" },
  plan = function(p)
    p:kill { rank = 1, event = "phase", name = "blocking:mid-write", nth = 3 }
  end,
}
