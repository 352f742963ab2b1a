-- Jobs that are long enough for a line to be overdue (H.line), in a second life too: for mutants
-- that leave a line open for good, or never begin one. The protocols pass them.

for name, variable in pairs { c3 = "C3_EVERY", chandy_lamport = "CHANDY_EVERY" } do
  scenario(name .. ": lines go on after a death") {
    protocol = name, program = "ring", ranks = 3, arguments = { "--iterations", 200 },
    environment = { [variable] = 5 }, claims = { "H" }, expect = { cover = { "H.line" } },
    plan = function(p) p:kill { rank = 1, at = { event = "commit", epoch = 2 } } end,
  }
end

-- The rank that begins a line waits for more looks than it makes between two potential checkpoints.
scenario "chandy_lamport: a line is begun many looks after it is due" {
  protocol = "chandy_lamport", program = "ring", ranks = 3, arguments = { "--iterations", 120 },
  environment = { CHANDY_EVERY = 1, CHANDY_STEPS = 40 }, claims = { "H" },
  expect = { cover = { "H.line" } },
}
