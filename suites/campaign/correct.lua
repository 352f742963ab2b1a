-- What campaigns over the protocols that should be right run over: every program under each
-- protocol that it runs under, short, with several lines. There are no plans: campaigns draw them.
-- No run of such a campaign may end in a violation.

-- Program → what keeps it short. Lines are taken at every sixth iteration.
local EVERY = 6
local collective = { laplace = true, cg = true, neuron = true, random = true, collectives = true }
local programs = {
  { "ring", { "--iterations", 32 } },
  { "laplace", { "--iterations", 32, "--size", 16 } },
  { "cg", { "--iterations", 32, "--size", 16 } },
  { "neuron", { "--iterations", 32, "--size", 16 } },
  { "master_worker", { "--iterations", 32, "--size", 4 } },
  { "random", { "--iterations", 32, "--compute-us", 0 } },
  { "pipeline", { "--iterations", 32 }, "c3 alone" },
  { "mixture", { "--iterations", 32 }, "c3 alone" },
  { "collectives", { "--iterations", 24 }, "c3 alone" },
}

for number, program in ipairs(programs) do
  local name, arguments, alone = table.unpack(program)
  if not alone then
    scenario("blocking: " .. name) {
      protocol = "blocking", program = name, arguments = arguments, ranks = 3,
      environment = { BLOCKING_EVERY = EVERY }, claims = { "B", "H" }, timeout = 30,
    }
  end
  scenario("c3: " .. name) {
    protocol = "c3", program = name, arguments = arguments, ranks = 2 + number % 3,
    environment = { C3_EVERY = EVERY, C3_PIGGYBACK = number % 2 == 0 and "epoch" or "color" },
    claims = { "C", "H", collective[name] and "D" }, timeout = 30,
  }
end
