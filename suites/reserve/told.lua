-- As crash.lua: a rank dies, a process in reserve takes its place, and one of the others is told of
-- the death later than the rest. Not with Open MPI, where the library tells.

local RANKS, RESERVE = 4, 3

local programs = {
  master_worker = { "--iterations", 6, "--size", 4 },
  openatom = { "--iterations", 7 },
}

for protocol, program in pairs {
  scmel = "master_worker", camel = "openatom", pessimistic = "master_worker",
} do
  local upper = protocol:upper()
  for rank = 0, RANKS - 1 do
    local late, witness = (rank + 1) % RANKS, (rank + 2) % RANKS
    scenario(("%s, %s: rank %d, and rank %d is told later"):format(protocol, program, rank, late)) {
      protocol = protocol, program = program, ranks = RANKS + RESERVE, reserve = RESERVE,
      survivors = true, arguments = programs[program],
      environment = { [upper .. "_EVERY"] = 3, [upper .. "_RESERVE"] = RESERVE },
      claims = { "H", "M" },
      plan = function(p)
        p:kill { rank = rank, event = "send", level = "wire", nth = 40 }
        p:detect { rank = late, of = rank,
                   at = { rank = witness, event = "phase", name = protocol .. ":before-shrink" } }
      end,
    }
  end
end
