-- Another rank dies before the first one has recovered: more than SCMEL and CAMEL promise. None of
-- these runs is a violation: each is "unknown" and says that it is unsupported, or passes where by
-- then nothing was left that the dead were needed for.

local RANKS = 4

-- Of each program: its arguments, and the call at which rank 1 dies.
local programs = {
  scmel = {
    laplace = { { "--iterations", 8, "--size", 16 }, 200 },
    master_worker = { { "--iterations", 6, "--size", 4 }, 230 },
  },
  camel = {
    leanmd = { { "--iterations", 6 }, 230 },
    openatom = { { "--iterations", 7 }, 200 },
  },
}

-- reserve: so many processes are; 0: a new process is spawned.
local function deaths(protocol, program, reserve)
  local arguments, call = table.unpack(programs[protocol][program])
  local way, upper = reserve > 0 and "in reserve: " or "", protocol:upper()
  local function second(name, plan)
    scenario(("%s%s, %s: %s"):format(way, protocol, program, name)) {
      protocol = protocol, program = program, ranks = RANKS + reserve, reserve = reserve,
      engine = "step", survivors = true, arguments = arguments,
      environment = { [upper .. "_EVERY"] = 3, [upper .. "_RESERVE"] = reserve },
      claims = { "H", "M" },
      plan = function(p)
        p:kill { rank = 1, event = "call", level = "wire", nth = call }
        plan(p)
      end,
    }
  end
  for _, phase in ipairs { "before-shrink", "after-shrink", "before-send-determinants",
                           "before-barrier", "after-barrier", "after-send-again" } do
    for _, rank in ipairs { 0, 2 } do
      second(("rank %d, %s"):format(rank, phase), function(p)
        p:kill { rank = rank, event = "phase", name = protocol .. ":" .. phase }
      end)
    end
  end
  for _, phase in ipairs { "before-receive-determinants", "after-receive-determinants",
                           "before-load", "restored", "before-relive" } do
    for _, rank in ipairs { 0, 3 } do
      second(("rank %d, the newcomer is at %s"):format(rank, phase), function(p)
        p:await { rank = RANKS, event = "phase", name = protocol .. ":" .. phase }
        p:kill { rank = rank, event = "call", level = "wire" }
      end)
    end
  end
end

for _, reserve in ipairs { 0, 2 } do
  deaths("scmel", "laplace", reserve)
  deaths("scmel", "master_worker", reserve)
  deaths("camel", "leanmd", reserve)
  deaths("camel", "openatom", reserve)
end
