-- A rank that migrates stands still for two seconds between two parts of its state, and the
-- skeleton waits for it. Under mpiexec alone: on the step engine the skeleton, which waits in a
-- socket, would keep the token meanwhile, and nobody else could run.

cover { "R.address" }

scenario "rank 1 stands still while its state is on its way" {
  protocol = "cocheck", program = "ring", arguments = { "--iterations", 26 },
  ranks = 4, reserve = 1,
  environment = { COCHECK_EVERY = 6, COCHECK_SKELETONS = 1, COCHECK_MIGRATE = "1@1" },
  claims = { "R", "H" }, expect = { cover = { "R.address" } },
  plan = function(p)
    p:stop { rank = 1, event = "phase", name = "cocheck:mid-transfer", ms = 2000 }
  end,
}
