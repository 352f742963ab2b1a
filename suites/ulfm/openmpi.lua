-- What Open MPI 5.0.7 does not keep of ULFM, as small as it can be (README.md of this folder). The
-- step engine passes it.

local function job(name, ranks, steps, plan)
  scenario(name) {
    program = "survivors", ranks = ranks, engine = "step", survivors = true, protocol = "null",
    arguments = { steps }, claims = { "U" }, plan = plan,
  }
end

job("a small send that does not block, on what has been revoked", 2, "0:revoke 0:isend=1 wait")
-- Rank 1 waits for rank 2, who never receives, when rank 0 revokes.
job("a synchronous send, which is revoked", 3, "0:recv=2 0:revoke 2:send=0 2:recv=0 1:ssend=2")
job("a collective that does not block, on what has been revoked", 2, "0:revoke ibcast=0 wait")
job("a collective that does not block, after a death", 4, "--keep ireduce=0 wait ireduce=0 wait",
  function(p)
    p:kill { rank = 1, call = "MPI_Ireduce", position = "before" }
  end)
