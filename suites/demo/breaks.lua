-- The blocking protocol with its barriers taken out: ranks run past each other at a checkpoint, and
-- what a fast rank sends after its own checkpoint is counted by rank 0 before that one's.
scenario "tally under a blocking checkpoint without its barriers" {
  protocol = "blocking-no-barrier", program = "tally", ranks = 3,
  arguments = { "--slow-us", 10000 },
  claims = { "B" },
}
