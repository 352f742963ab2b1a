-- Jobs so small that `make explore-suites` goes through all their schedules, or says how much of
-- them it has done: README.md has what came of it.

local function job(name, protocol, program, ranks, claims, environment, ...)
  scenario(name) { protocol = protocol, program = program, ranks = ranks, claims = claims,
    environment = environment, arguments = { ... }, timeout = 30 }
end

-- A line is taken at every second potential checkpoint of three, or at each.
job("blocking: one line", "blocking", "ring", 2, { "B", "H" }, { BLOCKING_EVERY = 2 },
  "--iterations", 3, "--size", 1)
job("blocking: two lines", "blocking", "ring", 2, { "B", "H" }, { BLOCKING_EVERY = 2 },
  "--iterations", 4, "--size", 1)
job("blocking: three ranks", "blocking", "ring", 3, { "B", "H" }, { BLOCKING_EVERY = 2 },
  "--iterations", 3, "--size", 1)
job("blocking: a wildcard", "blocking", "tally", 3, { "B", "H" },
  { BLOCKING_EVERY = 2 }, "--iterations", 2)

job("chandy_lamport: one line", "chandy_lamport", "tally", 2, { "S", "H" },
  { CHANDY_EVERY = 1, CHANDY_STEPS = 1 }, "--iterations", 1)
job("cocheck: one line", "cocheck", "tally", 2, { "R", "H" }, { COCHECK_EVERY = 2 },
  "--iterations", 2)
job("c3: one line", "c3", "tally", 2, { "C", "H" }, { C3_EVERY = 1 }, "--iterations", 1)
