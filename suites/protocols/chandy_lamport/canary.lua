-- What a campaign over this protocol must find, or it would find nothing: the same with markers
-- that go out too late. Rank 0 takes its state while the others wait for the token of the next lap,
-- so that token is sent after its cut, and rank 1 has it before the marker.
local EVERY = 6
scenario "canary: Chandy-Lamport with late markers" {
  protocol = "chandy_lamport-markers-late", program = "ring", ranks = 3,
  arguments = { "--iterations", 2 * EVERY - 1 }, environment = { CHANDY_EVERY = EVERY },
  claims = { "S.cut" }, expect = { violates = "S.cut" },
}
