-- Synchronous sends of every kind, with messages that are long on their way, for mutants that call
-- them complete before they are received. The protocols pass them.

for name, variable in pairs {
  c3 = "C3_EVERY", chandy_lamport = "CHANDY_EVERY", cocheck = "COCHECK_EVERY",
} do
  local probes = name == "c3" and 0 or 1 -- README.md of C3: a probe may complete such a send
  for seed = 1, 8 do
    scenario(("%s: synchronous sends, program %d"):format(name, seed)) {
      protocol = name, program = "drawn", ranks = 3, engine = "step", claims = { "H" },
      arguments = { "--iterations", 40, "--seed", seed, "--inter", 0, "--outstanding", 0,
                    "--persistent-collectives", 0, "--probes", probes,
                    "--matched-probes", probes },
      environment = { [variable] = 5 },
      expect = { cover = { "H.synchronous" } },
      plan = function(p)
        p:jitter { ms = 10 }
        p:kill { rank = 1, at = { event = "commit", epoch = 2 } }
      end,
    }
  end
end
