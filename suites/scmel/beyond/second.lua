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

local function deaths(protocol, program)
  local arguments, call = table.unpack(programs[protocol][program])
  local function second(name, plan)
    scenario(("%s, %s: %s"):format(protocol, program, name)) {
      protocol = protocol, program = program, ranks = RANKS, engine = "step", survivors = true,
      arguments = arguments, environment = { [protocol:upper() .. "_EVERY"] = 3 },
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

deaths("scmel", "laplace")
deaths("scmel", "master_worker")
deaths("camel", "leanmd")
deaths("camel", "openatom")
