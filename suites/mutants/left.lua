-- What a process leaves of a file, that died when it had written it and not yet given it its name:
-- the next life writes that file again, and as a rule another length, and a death brings it to use.
-- For mutants that do not begin it anew. The protocols pass them.

local RANKS = 3

for _, protocol in ipairs {
  { "c3", "C3_EVERY", "before-log-rename" },
  { "chandy_lamport", "CHANDY_EVERY", "before-channels-rename" },
} do
  local name, variable, phase = table.unpack(protocol)
  for _, program in ipairs { "pipeline", "mixture" } do
    for rank = 0, RANKS - 1 do
      scenario(("%s: rank %d leaves a file without its name, %s"):format(name, rank, program)) {
        protocol = name, program = program, ranks = RANKS, engine = "step", claims = { "H" },
        arguments = { "--iterations", 60 }, environment = { [variable] = 5 },
        plan = function(p)
          p:jitter { ms = 3 }
          p:kill { rank = rank, event = "phase", name = name .. ":" .. phase, nth = 2 }
          p:kill { rank = (rank + 1) % RANKS, at = { event = "commit", epoch = 2 } }
        end,
      }
    end
  end
end
