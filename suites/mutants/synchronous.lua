-- Synchronous sends of every kind, with messages that are long on their way, for mutants that call
-- them complete before they are received. The protocols pass them.

for name, variable in pairs { chandy_lamport = "CHANDY_EVERY", cocheck = "COCHECK_EVERY" } do
  for seed = 1, 8 do
    scenario(("%s: synchronous sends, program %d"):format(name, seed)) {
      protocol = name, program = "drawn", ranks = 3, engine = "step", claims = { "H" },
      arguments = { "--iterations", 40, "--seed", seed, "--inter", 0, "--outstanding", 0,
                    "--persistent-collectives", 0 },
      environment = { [variable] = 5 },
      expect = { cover = { "H.synchronous" } },
      plan = function(p)
        p:jitter { ms = 10 }
        p:kill { rank = 1, at = { event = "commit", epoch = 2 } }
      end,
    }
  end
end
