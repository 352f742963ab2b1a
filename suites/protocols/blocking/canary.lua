-- What a campaign over this protocol must find, or it would find nothing: the same without its
-- barriers.
scenario "canary: a blocking checkpoint without its barriers" {
  protocol = "blocking-no-barrier", program = "tally", ranks = 3,
  arguments = { "--slow-us", 10000 },
  claims = { "B.empty" }, expect = { violates = "B.empty" },
}
