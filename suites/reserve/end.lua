-- As crash.lua: a rank dies when it has come to its end, so many sends later, and messages are long
-- on their way. So some of the others have heard that it is there, and some have not; and some are
-- there themselves, and are called back. On the step engine alone, where a rank sends as many each
-- time.

local RANKS, RESERVE = 4, 3

local programs = {
  master_worker = { "--iterations", 6, "--size", 4 },
  openatom = { "--iterations", 7 },
}

for protocol, program in pairs {
  scmel = "master_worker", camel = "openatom", pessimistic = "master_worker",
} do
  local upper = protocol:upper()
  for rank = 1, RANKS - 1 do
    for nth = 4, 10, 3 do
      local name = ("rank %d, %d sends after it has come to its end"):format(rank, nth)
      scenario(("%s, %s: %s"):format(protocol, program, name)) {
        protocol = protocol, program = program, ranks = RANKS + RESERVE, reserve = RESERVE,
        engine = "step", survivors = true, arguments = programs[program],
        environment = { [upper .. "_EVERY"] = 3, [upper .. "_RESERVE"] = RESERVE },
        claims = { "H", "M" },
        plan = function(p)
          for one = 0, RANKS - 1 do p:await { rank = one, event = "call", nth = 2 } end
          p:jitter { ms = 10 }
          p:await { rank = rank, event = "phase", name = protocol .. ":before-finish" }
          p:kill { rank = rank, event = "send", level = "wire", nth = nth, position = "after" }
        end,
      }
    end
  end
end
