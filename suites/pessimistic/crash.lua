-- Programs under pessimistic message logging: ranks die in all phases, newcomers and keepers too,
-- and nobody else goes back.

cover { "H.orphan", "H.loss", "H.duplicate", "H.order", "H.result", "H.progress",
        "M.orphan", "M.replay", "M.order", "M.local", "M.stale" }

local programs = {
  laplace = { "--iterations", 8, "--size", 16 },
  master_worker = { "--iterations", 6, "--size", 4 },
  ring = { "--iterations", 8 },
  openatom = { "--iterations", 7 },
}

local function crash(program, name, plan)
  scenario(program .. ": " .. name) {
    protocol = "pessimistic", program = program, ranks = 4, engine = "step", survivors = true,
    arguments = programs[program], environment = { PESSIMISTIC_EVERY = 3 },
    claims = { "H", "M" }, plan = plan,
  }
end

for program in pairs(programs) do
  crash(program, "without faults")
  for nth = 20, 320, 60 do
    crash(program, ("rank %d, at its call number %d"):format(nth // 60 % 4, nth), function(p)
      p:kill { rank = nth // 60 % 4, event = "call", level = "wire", nth = nth }
    end)
  end
end

for number, phase in ipairs { "before-halt", "flushed", "before-checkpoint", "mid-write",
                              "after-checkpoint", "before-drop", "after-drop" } do
  crash("laplace", ("rank %d, %s"):format(number % 4, phase), function(p)
    p:kill { rank = number % 4, event = "phase", name = "pessimistic:" .. phase,
             nth = 1 + number % 2 }
  end)
end

for _, phase in ipairs { "before-receive-determinants", "after-receive-determinants", "restored",
                         "before-relive", "lives-on" } do
  crash("master_worker", "a newcomer, " .. phase, function(p)
    p:kill { rank = 1, event = "call", level = "wire", nth = 200 }
    p:kill { rank = 4, event = "phase", name = "pessimistic:" .. phase }
  end)
end

-- Rank 1 is the keeper of rank 0, which dies when the new process lives on.
for nth = 64, 264, 40 do
  local name = ("the keeper, at its call number %d, and then rank 0"):format(nth)
  crash("master_worker", name, function(p)
    p:kill { rank = 1, event = "call", level = "wire", nth = nth }
    p:await { rank = 4, event = "phase", name = "pessimistic:lives-on" }
    p:kill { rank = 0, event = "call", level = "wire" }
  end)
end
