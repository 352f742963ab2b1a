-- FT-MPI's modes over ULFM, broken on purpose in five ways (suites/protocols/ft_mpi/broken/), and
-- the claim that finds it. A scenario here passes only when exactly that violation is found.

local function broken(variant, name, mode, claim, ...)
  local calls = { ... }
  scenario(variant .. ": " .. name) {
    protocol = "ft_mpi-" .. variant, program = "regroup", ranks = mode == "replace" and 3 or 4,
    engine = "step", survivors = true, environment = { FT_MPI_MODE = mode }, claims = { claim },
    expect = { violates = claim },
    plan = function(p)
      for _, at in ipairs(calls) do
        p:kill { rank = at[1], call = at[2], nth = at[3], position = at[4] }
      end
    end,
  }
end

broken("blank-moves", "rank 1 dies", "blank", "F.blank", { 1, "MPI_Allreduce", 4 })
broken("holes", "rank 1 dies", "shrink", "F.shrink", { 1, "MPI_Allreduce", 4 })
broken("turned", "the middle one of three dies", "replace", "F.replace", { 1, "MPI_Allreduce", 4 })
broken("other-mode", "two die, one after the other", "blank", "F.last", { 1, "MPI_Allreduce", 4 },
  { 2, "MPI_Allreduce", 5 })
broken("no-agreement", "the last barrier comes to some only", "blank", "H.progress",
  { 1, "MPI_Barrier", 1, "after" })
