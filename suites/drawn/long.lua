-- Long jobs: a hundred lines, twenty deaths, under each protocol. Each rank dies in its turn, some
-- calls after somebody has told of a checkpoint of a line, that it is saved, or of its commit: so
-- inside lines, and between them. And a thousand lines with one death in the middle.

local EVERY = 3 -- potential checkpoints per line
local RANKS = 3

local protocols = {
  { "blocking", "BLOCKING", { "B", "H" },
    { "--crossing", 0, "--changing", 0, "--outstanding", 0 } },
  { "c3", "C3", { "C", "D", "H", "-H.synchronous" }, { "--inter", 0 } },
  { "chandy_lamport", "CHANDY", { "S", "H" },
    { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0 } },
  { "cocheck", "COCHECK", { "R", "H" },
    { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0 } },
}

local function long(name, variable, claims, off, fields)
  fields.protocol, fields.program, fields.ranks, fields.claims = name, "drawn", RANKS, claims
  -- Some protocols give up a line now and then, or begin one late.
  local steps = fields.lines * EVERY * 5 // 4
  fields.arguments = { "--seed", 21, "--iterations", steps, "--size", 8, table.unpack(off) }
  fields.environment = { [variable .. "_EVERY"] = EVERY }
  local lines, deaths = fields.lines, fields.deaths
  fields.plan = function(p)
    for death = 1, deaths do
      p:await { event = ({ "checkpoint", "saved", "commit" })[death % 3 + 1],
                epoch = death * lines // (deaths + 1) }
      p:kill { rank = death % p.ranks, event = "call", nth = death % 5 + 1 }
    end
    p:await { event = "commit", epoch = lines }
  end
  fields.timeout, fields.lines, fields.deaths = 600, nil, nil
  scenario(("%s: %d lines, deaths: %d"):format(name, lines, deaths))(fields)
end

for _, protocol in ipairs(protocols) do
  local name, variable, claims, off = table.unpack(protocol)
  long(name, variable, claims, off, { lines = 100, deaths = 20 })
  long(name, variable, claims, off, { lines = 1000, deaths = 1 })
end
