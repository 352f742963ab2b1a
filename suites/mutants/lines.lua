-- Jobs that are long enough for a line to be overdue (H.line), in a second life too: for mutants
-- that leave a line open for good, or never begin one; and lines at moments that come seldom. The
-- protocols pass them.

for name, variable in pairs { c3 = "C3_EVERY", chandy_lamport = "CHANDY_EVERY" } do
  scenario(name .. ": lines go on after a death") {
    protocol = name, program = "ring", ranks = 3, arguments = { "--iterations", 200 },
    environment = { [variable] = 5 }, claims = { "H" }, expect = { cover = { "H.line" } },
    plan = function(p) p:kill { rank = 1, at = { event = "commit", epoch = 2 } } end,
  }
end

-- Datatypes, operations and communicators that the program frees while a call may need them.
for name, variable in pairs {
  c3 = "C3_EVERY", chandy_lamport = "CHANDY_EVERY", cocheck = "COCHECK_EVERY",
} do
  scenario(name .. ": what is freed is still in use") {
    protocol = name, program = "freed", ranks = 3, claims = { "H" },
    environment = { [variable] = 5 },
    plan = function(p) p:kill { rank = 1, at = { event = "commit", epoch = 2 } } end,
  }
end

-- Rank 2 is still on its way to checkpoint_restore when others could begin a line.
for name, variable in pairs { chandy_lamport = "CHANDY_EVERY", cocheck = "COCHECK_EVERY" } do
  scenario(name .. ": a rank comes late to checkpoint_restore") {
    protocol = name, program = "drawn", ranks = 3, claims = { "H", "I" },
    arguments = { "--iterations", 30, "--varied", 1, "--seed", 6, "--inter", 0,
                  "--collectives", 0, "--nonblocking", 0, "--persistent-collectives", 0,
                  "--outstanding", 0, "--sendrecv", 0, "--changing", 0 },
    environment = { [variable] = 1 },
    plan = function(p)
      p:stop { rank = 2, event = "call", nth = 5, attempt = true, after = "start",
               release = { rank = 1, event = "checkpoint", epoch = 1 } }
      p:kill { rank = 1, at = { event = "commit", epoch = 1 }, after = "start" }
    end,
  }
end

-- The rank that begins a line waits for more looks than it makes between two potential checkpoints.
scenario "chandy_lamport: a line is begun many looks after it is due" {
  protocol = "chandy_lamport", program = "ring", ranks = 3, arguments = { "--iterations", 120 },
  environment = { CHANDY_EVERY = 1, CHANDY_STEPS = 40 }, claims = { "H" },
  expect = { cover = { "H.line" } },
}

-- Rank 1 waits for a message, and comes to line 3 ahead of its first potential checkpoint since it
-- was restored to line 2.
for _, program in ipairs { "pipeline", "laplace" } do
  scenario("chandy_lamport: a line right after a restart, " .. program) {
    protocol = "chandy_lamport", program = program, ranks = 3, arguments = { "--iterations", 60 },
    environment = { CHANDY_EVERY = 1 }, claims = { "S", "H" },
    plan = function(p)
      p:kill { rank = 1, at = { rank = 0, event = "commit", epoch = 2 } }
      p:hold { message = "message", from = 0, to = 1,
               release = { rank = 1, event = "checkpoint", epoch = 3 } }
      p:kill { rank = 2, at = { rank = 0, event = "commit", epoch = 3 } }
    end,
  }
end
