-- As crash.lua: a rank dies, a process in reserve takes its place, and something comes late.

local RANKS, RESERVE = 4, 3

local programs = {
  master_worker = { "--iterations", 6, "--size", 4 },
  openatom = { "--iterations", 7 },
}

local function late(protocol, program, what, engine, plan)
  local upper = protocol:upper()
  scenario(("%s, %s: %s"):format(protocol, program, what)) {
    protocol = protocol, program = program, ranks = RANKS + RESERVE, reserve = RESERVE,
    engine = engine, survivors = true, arguments = programs[program],
    environment = { [upper .. "_EVERY"] = 3, [upper .. "_RESERVE"] = RESERVE },
    claims = { "H", "M" }, plan = plan,
  }
end

-- One of the others is told of the death later than the rest. Not with Open MPI, where the library
-- tells.
local function news(protocol, program, rank)
  local last, witness = (rank + 1) % RANKS, (rank + 2) % RANKS
  local what = ("rank %d, and rank %d is told later"):format(rank, last)
  late(protocol, program, what, nil, function(p)
    p:kill { rank = rank, event = "send", level = "wire", nth = 40 }
    p:detect { rank = last, of = rank,
               at = { rank = witness, event = "phase", name = protocol .. ":before-shrink" } }
  end)
end

-- A rank dies so many sends after it has come to its end, and messages are long on their way. So
-- some of the others know that it is there, and some do not; and some are there themselves, and
-- are called back. On the step engine alone, where a rank sends as many each time.
local function messages(protocol, program, rank, nth)
  local what = ("rank %d, %d sends after it has come to its end"):format(rank, nth)
  late(protocol, program, what, "step", function(p)
    for one = 0, RANKS - 1 do p:await { rank = one, event = "call", nth = 2 } end
    p:jitter { ms = 10 }
    p:await { rank = rank, event = "phase", name = protocol .. ":before-finish" }
    p:kill { rank = rank, event = "send", level = "wire", nth = nth, position = "after" }
  end)
end

for protocol, program in pairs {
  scmel = "master_worker", camel = "openatom", pessimistic = "master_worker",
} do
  for rank = 0, RANKS - 1 do news(protocol, program, rank) end
  for rank = 0, RANKS - 1 do
    for nth = 4, 10, 3 do messages(protocol, program, rank, nth) end
  end
end

-- A rank dies in MPI_Init before it has said a word; by then all others wait for its first words.
for protocol, program in pairs {
  scmel = "master_worker", camel = "openatom", pessimistic = "master_worker",
} do
  late(protocol, program, "rank 2, before its first words", "step", function(p)
    p:stop { rank = 2, event = "call", call = "MPI_Comm_dup", level = "wire", position = "after",
             ms = 50 }
    p:kill { rank = 2, event = "send", level = "wire" }
  end)
end
