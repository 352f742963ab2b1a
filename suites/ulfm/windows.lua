-- One-sided calls and files while a member dies: for libraries with ULFM that have them (the step
-- engine refuses them). README.md says what came of it with Open MPI 5 and MPICH.

local function job(name, steps, plan)
  scenario(name) {
    program = "windows", ranks = 4, survivors = true, protocol = "null",
    arguments = steps, claims = { "U", "H.progress" }, plan = plan,
  }
end

-- Rank 1 dies before, inside and after its nth call `call`.
local function each(name, steps, call, nth)
  for _, position in ipairs { "before", "inside", "after" } do
    job(("%s: death %s it"):format(name, position), steps, function(p)
      p:kill { rank = 1, call = call, nth = nth, position = position, level = "wire" }
    end)
  end
end

each("window", { "window", "barrier" }, "MPI_Win_create", 1)
each("fence", { "window", "fence", "0:put=1", "2:put=3", "fence", "barrier" }, "MPI_Win_fence", 2)
each("lock of the dead", { "window", "barrier", "2:lock=1", "2:put=1", "2:unlock=1" },
  "MPI_Barrier", 1)
each("lock held by the dead", { "window", "1:lock=3", "1:barrier", "0:lock=3", "0:put=3",
  "0:unlock=3" }, "MPI_Win_lock", 1)
each("lock among the living", { "window", "barrier", "2:lock=3", "2:put=3", "2:unlock=3" },
  "MPI_Barrier", 1)
each("file", { "file", "barrier" }, "MPI_File_open", 1)
each("write_all", { "file", "write_all", "barrier" }, "MPI_File_write_at_all", 1)
each("write after a death", { "file", "barrier", "write", "sync" }, "MPI_Barrier", 1)
each("close", { "file", "write", "close" }, "MPI_File_close", 1)
