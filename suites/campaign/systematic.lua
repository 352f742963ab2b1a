-- What the systematic campaigns go through from end to end, one for each protocol: small enough for
-- all its plans to be run, with two lines, so that there is one to go back to while the next is
-- made.

-- Protocol → family of claims, ranks, and potential checkpoints per line. The last two protocols
-- have three times as many named points as the others, and each is paired with each.
for protocol, bounds in pairs {
  blocking = { "B", ranks = 3, every = 6 },
  c3 = { "C", ranks = 3, every = 6 },
  chandy_lamport = { "S", ranks = 2, every = 3 },
  cocheck = { "R", ranks = 2, every = 3 },
} do
  scenario("all of it: " .. protocol) {
    protocol = protocol, program = "ring", arguments = { "--iterations", 2 * bounds.every + 2 },
    ranks = bounds.ranks, timeout = 30, claims = { bounds[1], "H" },
    environment = { [protocol:match("^%a+"):upper() .. "_EVERY"] = bounds.every },
  }
end
