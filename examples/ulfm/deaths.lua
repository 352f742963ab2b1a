-- Rank 1 of 4 dies in one of its calls of MPI_Allreduce, drawn from the seed, but not in
-- the first: MPI_Comm_dup might still fail at another rank then, and nothing here repairs that.
-- Who of the others hears of the death when is drawn by the step engine.
for name, program in pairs { sums = "./sums", mended = "./sums-mended" } do
  scenario(name) {
    program = program, ranks = 4, engine = "step", survivors = true, protocol = "null",
    claims = { "H.progress", "U" },
    plan = function(p)
      p:kill { rank = 1, call = "MPI_Allreduce", nth = math.random(2, 21), position = "inside" }
    end,
  }
end
