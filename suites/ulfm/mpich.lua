-- What MPICH 4.0.2 with ch3:nemesis does not keep of ULFM, as small as it can be (README.md of this
-- folder). The step engine passes it.

scenario "a rank dies in an agreement" {
  program = "survivors", ranks = 4, engine = "step", survivors = true, protocol = "null",
  arguments = { "--keep", "0:agree=3", "1:agree=7", "2:agree=7", "3:agree=7" }, claims = { "U" },
  plan = function(p)
    p:kill { rank = 1, call = "MPIX_Comm_agree", position = "inside" }
  end,
}

scenario "all revoke and shrink" {
  program = "survivors", ranks = 4, engine = "step", survivors = true, protocol = "null",
  arguments = { "revoke", "shrink", "barrier" }, claims = { "U" },
}

scenario "a communicator is revoked that others have freed" {
  program = "survivors", ranks = 2, engine = "step", survivors = true, protocol = "null",
  arguments = { "dup", "use", "barrier", "0:free", "1:revoke", "1:free", "world", "barrier" },
  claims = { "U" },
}
