-- The rows of the grid: features of MPI as a trace shows them, and which places each kind of them
-- has.
local rows = {}

local function add(kind, ...)
  for _, name in ipairs { ... } do rows[#rows + 1] = { name = name, kind = kind } end
end

add("send", "MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend", "MPI_Sendrecv",
    "MPI_Sendrecv_replace", "send to itself", "send of no bytes", "send, tag above 100 million",
    "send on another communicator")
add("request to send", "MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Irsend", "MPI_Send_init",
    "MPI_Ssend_init", "MPI_Bsend_init", "MPI_Rsend_init")
for _, call in ipairs { "MPI_Recv", "MPI_Irecv", "MPI_Recv_init" } do
  for _, any in ipairs { "", ", any source", ", any tag", ", any source and tag" } do
    add(call == "MPI_Recv" and "receive" or "request to receive", call .. any)
  end
end
add("receive", "MPI_Mrecv", "MPI_Sendrecv: receive", "MPI_Sendrecv_replace: receive")
add("request to receive", "MPI_Imrecv")
add("other", "MPI_Probe", "MPI_Iprobe: yes", "MPI_Iprobe: no", "MPI_Mprobe", "MPI_Improbe: yes",
    "MPI_Improbe: no", "probe, any source", "probe, any tag", "MPI_Wait", "MPI_Test: yes",
    "MPI_Test: no", "MPI_Waitall", "MPI_Testall: yes", "MPI_Testall: no", "MPI_Waitany",
    "MPI_Testany: yes", "MPI_Testany: no", "MPI_Waitsome", "MPI_Testsome: yes", "MPI_Testsome: no",
    "MPI_Waitsome: several", "MPI_Testsome: several", "MPI_Request_get_status", "MPI_Cancel",
    "MPI_Comm_split")
for _, call in ipairs { "Barrier", "Bcast", "Scatter", "Scatterv", "Gather", "Gatherv", "Allgather",
    "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce", "Allreduce", "Scan", "Exscan",
    "Reduce_scatter", "Reduce_scatter_block" } do
  add("other", "MPI_" .. call, "MPI_I" .. call:lower(), "MPI_" .. call .. "_init")
end

local places = {
  send = { "between", "logging", "suppressed" },
  ["request to send"] = { "between", "logging", "suppressed", "pending" },
  receive = { "between", "logging", "late", "early", "replayed" },
  ["request to receive"] = { "between", "logging", "late", "early", "replayed", "pending" },
  other = { "between", "logging" },
}

return { rows = rows, places = places, lives = { "1", "2", "3+" }, numbers = { "1", "2", "10+" } }
