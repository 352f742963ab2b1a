-- What the systematic campaign goes through from end to end: small enough for all its plans to be
-- run, with two lines, so that there is one to go back to while the next is made.

local EVERY = 6
local TWO_LINES = { "--iterations", 2 * EVERY + 2 }

for _, protocol in ipairs { "blocking", "c3" } do
  scenario("all of it: " .. protocol) {
    protocol = protocol, program = "ring", arguments = TWO_LINES, ranks = 3, timeout = 30,
    environment = { [protocol:upper() .. "_EVERY"] = EVERY },
    claims = { protocol == "c3" and "C" or "B", "H" },
  }
end
