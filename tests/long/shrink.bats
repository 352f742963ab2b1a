#!/usr/bin/env bats
# A failure that takes too long to shrink for `make test`: `make test-long`.

bats_require_minimum_version 1.5.0
load ../driver_common

@test "a failure of C3 with steps that do not matter is shrunk to less than was written by hand" {
    cat >s.lua <<'END'
scenario "a message is taken from the log and comes again" {
  protocol = "c3-log-all", program = "ring", ranks = 3, arguments = { "--iterations", 19 },
  engine = "step", claims = { "C.late.replay" }, environment = { C3_EVERY = 10 },
  plan = function(p)
    p:delay { from = 0, to = 1, nth = 3, ms = 1 }
    p:hold { from = 1, to = 2, nth = 10, release = { rank = 1, event = "recv" }, after = "start" }
    p:hold { from = 2, to = 0, release = { rank = 2, event = "recv" } }
    p:hold { message = "readyToStopLogging", from = 2, epoch = 1,
             release = { rank = 0, event = "deliver", peer = 2, nth = 2, region = "logging",
                         line = 1 } }
    p:jitter { ms = 1, after = "start" }
    p:kill { rank = 1, after = "start", at = { rank = 0, event = "commit", epoch = 1 } }
  end,
}
END
    run -1 timeout 60 "$FAULTLINE" run s.lua
    run -0 timeout -k 10 900 "$FAULTLINE" shrink -j 2 --budget 800 --out shrunk faultline-out/latest/1
    jq -e '.expects and .after.size <= 8' shrunk/*/shrink.json
    run -0 timeout 60 "$FAULTLINE" run shrunk/*/shrunk.lua
}
