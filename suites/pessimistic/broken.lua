-- Pessimistic message logging, broken on purpose (suites/protocols/pessimistic/broken/), and the
-- claim that finds it, without any death.

for variant, program in pairs { hasty = "pipeline", unstored = "master_worker" } do
  scenario(variant .. ": nobody else knows the order when it is sent on") {
    protocol = "pessimistic-" .. variant, program = program, ranks = 4, engine = "step",
    survivors = true, arguments = { "--iterations", 8 }, environment = { PESSIMISTIC_EVERY = 4 },
    claims = { "M.orphan" }, expect = { violates = "M.orphan" },
  }
end
