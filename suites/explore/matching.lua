-- Programs with a race between messages that a thousand runs under mpiexec do not show, and that a
-- campaign on the step engine, or `explore`, finds in seconds.

for _, name in ipairs { "barrier", "waitany", "rounds" } do
  scenario("matching: " .. name) { protocol = "null", program = "matching", ranks = 3,
    arguments = { name }, claims = { "H.progress", "I" }, timeout = 30 }
end
