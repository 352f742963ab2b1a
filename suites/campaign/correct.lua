-- What campaigns over the protocols that should be right run over: every program under each
-- protocol that it runs under, short, with several lines. There are no plans: campaigns draw them.
-- No run of such a campaign may end in a violation.

-- Program → what keeps it short. Lines are taken at every sixth iteration.
local EVERY = 6
local DRAWN = 4 -- programs drawn from seeds, which are drawn from that of the campaign
local collective = { laplace = true, cg = true, neuron = true, random = true, collectives = true,
                     drawn = true }
-- Messages are under way at their potential checkpoints: not for the blocking protocol.
local crossed = { pipeline = true, mixture = true, collectives = true }
-- Of `drawn`, what a protocol refuses.
local refused = {
  blocking = { "--crossing", 0, "--changing", 0, "--outstanding", 0 },
  c3 = { "--inter", 0 },
  chandy_lamport = { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0 },
  cocheck = { "--inter", 0, "--persistent-collectives", 0, "--outstanding", 0 },
}
local programs = {
  { "ring", { "--iterations", 32 } },
  { "laplace", { "--iterations", 32, "--size", 16 } },
  { "cg", { "--iterations", 32, "--size", 16 } },
  { "neuron", { "--iterations", 32, "--size", 16 } },
  { "master_worker", { "--iterations", 32, "--size", 4 } },
  { "random", { "--iterations", 32, "--compute-us", 0 } },
  { "pipeline", { "--iterations", 32 } },
  { "mixture", { "--iterations", 32 } },
  { "collectives", { "--iterations", 24 } },
}
for _ = 1, DRAWN do
  programs[#programs + 1] = { "drawn", { "--seed", math.random(1000000000), "--iterations", 24 } }
end

local function subject(protocol, number, fields)
  local name, arguments = table.unpack(programs[number])
  if name == "drawn" then
    arguments = table.move(refused[protocol], 1, #refused[protocol], 5, { table.unpack(arguments) })
  end
  fields.protocol, fields.program, fields.arguments, fields.timeout = protocol, name, arguments, 30
  fields.ranks = fields.ranks or 3
  fields.environment[protocol:match("^%a+"):upper() .. "_EVERY"] = EVERY
  scenario(("%s: %s%s"):format(protocol, name, name == "drawn" and " " .. number or ""))(fields)
end

for number, program in ipairs(programs) do
  local name = program[1]
  if not crossed[name] then
    subject("blocking", number, { claims = { "B", "H" }, environment = {} })
  end
  subject("c3", number, {
    claims = { "C", "H", collective[name] and "D" }, ranks = 2 + number % 3,
    environment = { C3_PIGGYBACK = number % 2 == 0 and "epoch" or "color" },
  })
  -- Lines begin inside calls as often as at potential checkpoints.
  subject("chandy_lamport", number, { claims = { "S", "H" },
                                      environment = { CHANDY_STEPS = number % 2 * 3 } })
  -- In every other program a rank moves in the second line.
  local moves = number % 2 == 0
  subject("cocheck", number, {
    claims = { "R", "H" }, ranks = moves and 4 or 3, reserve = moves and 1 or nil,
    environment = { COCHECK_SKELETONS = moves and 1 or nil,
                    COCHECK_MIGRATE = moves and "1@2" or nil },
  })
end
