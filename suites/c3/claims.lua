-- Every claim of family C with its situation, in every program where it can arise: a message is
-- early and another late, the line is committed, a rank dies, the job recovers. A claim whose
-- situation does not arise makes its scenario vacuous.

cover { "C", "H", { fault = "kill", role = "initiator" }, { fault = "kill", role = "participant" } }

-- Of every program: lines are taken and committed, and one is recovered from.
local always = { "C.1.1", "C.class", "C.commit", "C.restore", "C.initiate" }
-- Where there are messages from one rank to another.
local messages = { "C.1.3", "C.late.log", "C.late.ready", "C.late.replay", "C.early.list",
  "C.early.suppress", "C.early.same", "C.epoch" }

local function union(...)
  local all = {}
  for _, list in ipairs { ... } do
    for _, id in ipairs(list) do all[#all + 1] = id end
  end
  return all
end

local programs = {
  ring = union(always, messages, { "C.1.2" }),
  laplace = union(always, messages),
  master_worker = union(always, messages, { "C.nondet" }),
}

-- Rank 1 is asked for its checkpoint when it has taken in a message that rank 0 sent beyond the
-- line: early. (It is the second that it takes in while rank 0 logs; the first may have been sent
-- before.) What rank 1 has sent by then is late for those that have taken theirs.
local function early_and_late(p)
  p:hold { message = "pleaseCheckpoint", to = 1, epoch = 1,
           release = { rank = 1, event = "deliver", peer = 0, nth = 2,
                       state = { rank = 0, region = "logging", line = 1 } } }
end

-- Rank 1 is told to stop logging when it has taken in a message that rank 0 sent beyond the
-- stop-log line (claim 1.2), the second one as above. It has stopped for that message: in ring,
-- where no collective call tells it before.
local function stops_for_a_message(p)
  p:hold { message = "stopLogging", to = 1, epoch = 1,
           release = { rank = 1, event = "deliver", peer = 0, nth = 2,
                       state = { rank = 0, region = "beyond", line = 1 } } }
end

for program, claims in pairs(programs) do
  for _, form in ipairs { "epoch", "color" } do
    for victim = 0, 2 do
      scenario(("%s: rank %d dies, piggybacked %s"):format(program, victim, form)) {
        protocol = "c3", program = program, ranks = 3,
        environment = { C3_EVERY = 8, C3_PIGGYBACK = form },
        claims = { "C", "H" }, expect = { cover = claims },
        plan = function(p)
          early_and_late(p)
          if program == "ring" then stops_for_a_message(p) end
          p:kill { rank = victim, at = { event = "commit", epoch = 1 } }
        end,
      }
    end
  end
end
