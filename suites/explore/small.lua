-- Jobs so small that `make explore-suites` goes through all their schedules, or says how much of
-- them it has done: README.md has what came of it.

local survivors = { respawn = true, scmel = true, camel = true }

local function job(name, protocol, program, ranks, claims, environment, ...)
  scenario(name) { protocol = protocol, program = program, ranks = ranks, claims = claims,
    survivors = survivors[protocol], environment = environment, arguments = { ... }, timeout = 30 }
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

-- Others go on where a rank dies. Each step of respawn is a line.
job("respawn: one step, 2 ranks", "respawn", "laplace", 2, { "H" }, {},
  "--iterations", 1, "--size", 16)
job("respawn: two steps, 2 ranks", "respawn", "laplace", 2, { "H" }, {},
  "--iterations", 2, "--size", 16)
job("respawn: one step, 3 ranks", "respawn", "laplace", 3, { "H" }, {},
  "--iterations", 1, "--size", 16)
job("scmel: one line", "scmel", "ring", 2, { "H", "M" }, { SCMEL_EVERY = 1 },
  "--iterations", 1, "--size", 1)
job("camel: one line", "camel", "ring", 2, { "H", "M" }, { CAMEL_EVERY = 1 },
  "--iterations", 1, "--size", 1)
