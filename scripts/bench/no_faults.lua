-- The scenario that `make bench` times against bare mpiexec of the same program.
scenario "ring without faults" {
  protocol = "null", program = "ring", ranks = 4, claims = { "H", "I" },
}
