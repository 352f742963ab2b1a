-- Each program under the blocking protocol, killed at twenty different points: in the middle of
-- every step of the protocol, before, after and inside its own MPI calls, two ranks at once, in
-- recovery, and twice in a row. Whatever happens, the job recovers to the result of a run without
-- faults.

cover { "H", "B", { fault = "kill", role = "initiator", phase = "blocking:mid-commit" },
  { fault = "kill", role = "participant", phase = "blocking:before-rename" } }

-- Lines are taken at iterations 10, 20, 30 and 40 of 40. A phase's nth is the number of its line.
local function at_phase(rank, line, name)
  return { rank = rank, event = "phase", name = "blocking:" .. name, nth = line }
end

local function once(where)
  return function(p) p:kill(where) end
end

-- What every program goes through: name of the point → plan.
local in_protocol = {
  { "on the way to the first line", once(at_phase(1, 1, "before-barrier")) },
  { "at the cut", once { rank = 2, event = "checkpoint", epoch = 2 } },
  { "before the checkpoint is written", once(at_phase(2, 1, "before-write")) },
  { "in the middle of writing", once(at_phase(0, 2, "mid-write")) },
  { "before the checkpoint is stable", once(at_phase(1, 2, "before-sync")) },
  { "before the checkpoint has its name", once(at_phase(2, 3, "before-rename")) },
  { "when the checkpoint is saved", once { rank = 1, event = "saved", epoch = 3 } },
  { "before the commit", once(at_phase(0, 2, "before-commit")) },
  { "in the middle of the commit", once(at_phase(0, 3, "mid-commit")) },
  { "after the commit, another rank",
    function(p) p:kill { rank = 2, at = { rank = 0, event = "commit", epoch = 2 } } end },
  { "before the old line is removed", once(at_phase(1, 4, "before-remove")) },
  { "two ranks at once",
    function(p)
      p:kill { ranks = { 0, 2 }, at = { rank = 1, event = "checkpoint", epoch = 3 } }
    end },
  { "in recovery, before the state is loaded",
    function(p)
      p:kill { rank = 0, event = "commit", epoch = 1 }
      p:kill { rank = 1, event = "phase", name = "blocking:before-load", incarnation = 1 }
    end },
  { "twice in a row, the second time in a line",
    function(p)
      p:kill { rank = 2, event = "saved", epoch = 2 }
      p:kill { rank = 0, event = "phase", name = "blocking:mid-commit", incarnation = 1 }
    end },
}

-- Points in a program's own calls: rank, call, which one, position.
local in_calls = {
  laplace = {
    { 1, "MPI_Irecv", 17, "before" }, { 2, "MPI_Isend", 33, "after" },
    { 1, "MPI_Waitall", 15, "inside" }, { 0, "MPI_Waitall", 29, "after" },
    { 2, "MPI_Allreduce", 3, "inside" }, { 0, "MPI_Allreduce", 7, "before" },
  },
  cg = {
    { 0, "MPI_Allgather", 5, "before" }, { 1, "MPI_Allgather", 15, "inside" },
    { 2, "MPI_Allgather", 39, "after" }, { 1, "MPI_Allreduce", 25, "before" },
    { 0, "MPI_Allreduce", 44, "inside" }, { 2, "MPI_Allreduce", 70, "after" },
  },
  neuron = {
    { 1, "MPI_Allgather", 3, "before" }, { 0, "MPI_Allgather", 12, "inside" },
    { 2, "MPI_Allgather", 31, "after" }, { 2, "MPI_Allgatherv", 11, "before" },
    { 1, "MPI_Allgatherv", 23, "inside" }, { 0, "MPI_Allgatherv", 40, "after" },
  },
  ring = {
    { 1, "MPI_Recv", 5, "before" }, { 2, "MPI_Recv", 14, "inside" },
    { 0, "MPI_Recv", 25, "after" }, { 0, "MPI_Send", 11, "before" },
    { 1, "MPI_Send", 21, "inside" }, { 2, "MPI_Send", 38, "after" },
  },
  master_worker = {
    { 0, "MPI_Recv", 30, "before" }, { 0, "MPI_Recv", 95, "inside" },
    { 1, "MPI_Recv", 27, "inside" }, { 2, "MPI_Recv", 33, "after" },
    { 0, "MPI_Send", 120, "before" }, { 1, "MPI_Send", 12, "after" },
  },
}

local function crash(program, point, plan)
  scenario(program .. ": " .. point) {
    protocol = "blocking", program = program, ranks = 3,
    claims = { "H", "B" },
    plan = plan,
  }
end

for program, calls in pairs(in_calls) do
  for _, point in ipairs(in_protocol) do crash(program, point[1], point[2]) end
  for _, point in ipairs(calls) do
    local rank, call, nth, position = table.unpack(point)
    crash(program, string.format("rank %d, %s %s number %d", rank, position, call, nth),
      once { rank = rank, call = call, nth = nth, position = position })
  end
end
