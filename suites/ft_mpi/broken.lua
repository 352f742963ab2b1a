-- FT-MPI's modes over ULFM, broken on purpose in thirteen ways (suites/protocols/ft_mpi/broken/),
-- and the claim that finds it. A scenario here passes only when exactly that violation is found.

local rounds = 5
local function broken(variant, name, mode, claim, ...)
  local steps = { ... }
  scenario(variant .. ": " .. name) {
    protocol = "ft_mpi-" .. variant, program = "regroup", ranks = mode == "replace" and 3 or 5,
    engine = "step", survivors = true, environment = { FT_MPI_MODE = mode }, claims = { claim },
    arguments = { "--iterations", rounds },
    expect = { violates = claim },
    plan = function(p)
      for _, step in ipairs(steps) do p:kill(step) end
    end,
  }
end

local function at(rank, call, nth, position)
  return { rank = rank, call = call, nth = nth, position = position }
end
local rank_1 = at(1, "MPI_Allreduce", 4)

broken("blank-moves", "rank 1 dies", "blank", "F.blank", rank_1)
broken("blank-filled", "rank 1 dies", "blank", "F.blank", rank_1)
broken("blank-root", "rank 0 dies", "blank", "F.blank", at(0, "MPI_Allreduce", 4))

broken("holes", "rank 1 dies", "shrink", "F.shrink", rank_1)
broken("shrink-turned", "rank 1 dies", "shrink", "F.shrink", rank_1)
broken("shrink-last-moves", "rank 1 dies", "shrink", "F.shrink", rank_1)

broken("turned", "the middle one of three dies", "replace", "F.replace", rank_1)
broken("replace-rotated", "the middle one of three dies", "replace", "F.replace", rank_1)
broken("replace-swapped", "the middle one of three dies", "replace", "F.replace", rank_1)

broken("other-mode", "two die, one after the other", "blank", "F.last", rank_1,
  at(2, "MPI_Allreduce", 5))
broken("one-spare", "two die, one after the other", "replace", "F.last", rank_1,
  at(2, "MPI_Allreduce", 5))
broken("few-other-mode", "two of five die, one after the other", "blank", "F.last", rank_1,
  at(2, "MPI_Allreduce", 5))

-- With 8 rounds each of six seeds shows it; with other numbers all ranks learn of the death under
-- some seeds, or none does.
rounds = 8
broken("no-agreement", "the last barrier comes to some only", "blank", "H.progress",
  at(2, "MPI_Barrier", 1, "after"))
