-- The rows of the product: kinds of call as a trace shows them, the roles that each kind has, and
-- the ways in which a call may end.
--
-- A role is one towards the process that died. Of a message: `peer`, whose call names the dead one
-- or may mean it (any source), or `bystander`, whose call names a live process. Of what all members
-- take part in: `root`; `peer`, where the dead one is the root; `member`, any other. `late` is
-- counted besides: another member had returned from it before this one came.
local rows = { list = {}, kind = {} }

local function add(names, roles, gathers, hows)
  for _, name in ipairs(names) do
    local row = { name = name, roles = roles, gathers = gathers,
      hows = hows or { "raised", "revoked", "done" } }
    rows.list[#rows.list + 1] = row
    rows.kind[name] = row
  end
end

local message = { "peer", "bystander" }
add({ "MPI_Send", "MPI_Ssend", "MPI_Isend", "MPI_Issend", "MPI_Send_init", "MPI_Recv", "MPI_Irecv",
  "MPI_Recv_init", "MPI_Sendrecv: send", "MPI_Sendrecv: receive", "MPI_Probe", "MPI_Mprobe" },
  message)
add({ "MPI_Recv, any source", "MPI_Probe, any source", "MPI_Mprobe, any source" }, { "peer" })
-- What blocks is not left pending, and what is not raises nothing else.
add({ "MPI_Irecv, any source", "MPI_Recv_init, any source" }, { "peer" }, false,
  { "pending", "revoked", "done" })

local function forms(call)
  return { "MPI_" .. call, "MPI_I" .. call:lower(), "MPI_" .. call .. "_init" }
end
for _, call in ipairs { "Bcast", "Scatter", "Scatterv", "Gather", "Gatherv", "Reduce" } do
  add(forms(call), { "root", "peer", "member", "late" }, true)
end
for _, call in ipairs { "Barrier", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw",
    "Allreduce", "Scan", "Exscan", "Reduce_scatter", "Reduce_scatter_block" } do
  add(forms(call), { "member", "late" }, true)
end
add({ "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create", "MPI_Cart_create", "MPI_Comm_spawn",
  "MPIX_Comm_agree", "MPIX_Comm_shrink" }, { "member", "late" }, true)

rows.whens = { "before", "inside", "after" }
return rows
