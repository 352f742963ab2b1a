-- The shortest job there is: what a launch costs. bench.lua counts on LAUNCHES of them.
local LAUNCHES = 24
for i = 1, LAUNCHES do
  scenario("two ranks, two laps, no. " .. i) {
    protocol = "null", program = "ring", ranks = 2, arguments = { "--iterations", 2 },
    claims = { "H" },
  }
end
