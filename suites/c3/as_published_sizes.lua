-- Figure 5 of [C3] as it is printed, by the size of the communicator: MPI_LXOR of the colours is
-- true when an odd number of ranks has taken its checkpoint. So an even number of them stops
-- logging at once, while others are before the line; of an odd number none does. The same in
-- sub-communicators, by their members.

local LINE, EVERY, ALLREDUCE = 1, 4, 11

local function keep_before(first, last)
  return function(p)
    for rank = first, last do
      p:hold { message = "pleaseCheckpoint", to = rank, epoch = LINE, ms = 400, after = "start" }
    end
  end
end

-- The ranks 0 to beyond - 1 take their checkpoints, the other members do not. There are no calls
-- before they have.
local function arrangement(ranks, members, beyond)
  local wrong = beyond % 2 == 0
  local where = ranks == members and "" or string.format(" of %d ranks", ranks)
  scenario(string.format("%d beyond the line, %d before%s", beyond, members - beyond, where)) {
    protocol = "c3-as-published", program = "arrangement", ranks = ranks,
    arguments = { "--call", ALLREDUCE, "--members", members, "--first", 6, "--iterations", 8 },
    environment = { C3_EVERY = EVERY }, claims = { wrong and "D.2.1" or "D" },
    expect = wrong and { violates = "D.2.1" } or nil, plan = keep_before(beyond, members - 1),
  }
end

for ranks = 2, 8 do
  for beyond = 1, ranks - 1 do arrangement(ranks, ranks, beyond) end
end
for members = 2, 4 do
  for beyond = 1, members - 1 do arrangement(members + 1, members, beyond) end
end
