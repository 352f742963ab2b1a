-- Programs with several threads in MPI, with and without steps of a plan that they come to at once:
-- for ThreadSanitizer. threads.sh names their folder by FAULTLINE_PROGRAMS.
local function threads(name, program, plan)
  scenario(name) { protocol = "null", program = program, ranks = 2, claims = { "I" }, plan = plan }
end

threads("messages", "taps_threads")
threads("datatypes", "identity_threads")
threads("a datatype that is freed while it is in use", "identity_type_in_use")

threads("threads that are cancelled", "taps_cancel")

threads("a rank is killed while others call", "taps_threads", function(p)
  p:kill { rank = 1, event = "send", nth = 200 }
end)

threads("messages are held", "taps_threads", function(p)
  p:hold { from = 0, to = 1, nth = 5, ms = 5 }
  p:hold { from = 1, to = 0, nth = 9, ms = 5 }
end)

threads("a rank is stopped, and goes on", "taps_threads", function(p)
  p:stop { rank = 1, event = "send", nth = 20, ms = 20 }
  p:stop { rank = 0, event = "send", nth = 20, ms = 20 }
end)

threads("messages are slow", "taps_threads", function(p)
  p:jitter { ms = 1 }
end)
