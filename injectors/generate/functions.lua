-- What the generator must know of single functions and of collective operations, beyond what their
-- role says (roles.lua): parameters are named as the MPI standard names them.

-- Parent and new communicator, per function. parent = false: made from nothing that has an id on
-- all its members (see communicator_make). of_some: not all members of the parent take part.
-- of_grid: the library refuses the call on the rank that makes it where the parent has no grid.
local makes = {
    MPI_Cart_create = { parent = "comm_old", made = "comm_cart" },
    MPI_Cart_sub = { parent = "comm", made = "newcomm", of_grid = true },
    MPI_Comm_accept = { parent = "comm", made = "newcomm" },
    MPI_Comm_connect = { parent = "comm", made = "newcomm" },
    MPI_Comm_create = { parent = "comm", made = "newcomm" },
    MPI_Comm_create_from_group = { parent = false, made = "newcomm", told = "stringtag" },
    MPI_Comm_create_group = { parent = "comm", made = "newcomm", told = "tag", of_some = true },
    MPI_Comm_dup = { parent = "comm", made = "newcomm" },
    MPI_Comm_dup_with_info = { parent = "comm", made = "newcomm" },
    MPI_Comm_get_parent = { parent = false, made = "parent" },
    MPI_Comm_idup = { parent = "comm", made = "newcomm" },
    MPI_Comm_idup_with_info = { parent = "comm", made = "newcomm" },
    MPI_Comm_join = { parent = false, made = "intercomm" },
    MPI_Comm_spawn = { parent = "comm", made = "intercomm" },
    MPI_Comm_spawn_multiple = { parent = "comm", made = "intercomm" },
    MPI_Comm_split = { parent = "comm", made = "newcomm" },
    MPI_Comm_split_type = { parent = "comm", made = "newcomm" },
    MPI_Dist_graph_create = { parent = "comm_old", made = "comm_dist_graph" },
    MPI_Dist_graph_create_adjacent = { parent = "comm_old", made = "comm_dist_graph" },
    MPI_Graph_create = { parent = "comm_old", made = "comm_graph" },
    MPI_Intercomm_create = { parent = "local_comm", made = "newintercomm", told = "tag" },
    MPI_Intercomm_create_from_groups = {
        parent = false, made = "newintercomm", told = "stringtag",
    },
    MPI_Intercomm_merge = { parent = "intercomm", made = "newintracomm" },
    MPIX_Comm_shrink = { parent = "comm", made = "newcomm" },
    MPIX_Stream_comm_create = { parent = "comm", made = "newcomm" },
    MPIX_Stream_comm_create_multiplex = { parent = "comm", made = "newcomm" },
}

-- Per operation: parameter -> field(s) of struct collective. One that begins with "*" is an array.
local contribution = { sendbuf = "send.buffer", sendcount = "send.count", sendtype = "send.type" }
local outcome = { recvbuf = "recv.buffer", recvcount = "recv.count", recvtype = "recv.type" }
local contributions = {
    sendbuf = "send.buffer",
    sendcounts = "send.counts",
    sendtype = "send.type",
}
local outcomes = { recvbuf = "recv.buffer", recvcounts = "recv.counts", recvtype = "recv.type" }
local reduction = {
    sendbuf = "send.buffer",
    recvbuf = "recv.buffer",
    count = { "send.count", "recv.count" },
    datatype = { "send.type", "recv.type" },
}
local reduction_scattered = {
    sendbuf = "send.buffer",
    recvbuf = "recv.buffer",
    recvcounts = { "send.counts", "recv.counts" },
    datatype = { "send.type", "recv.type" },
}
local all_types = {
    sendbuf = "send.buffer",
    sendcounts = "send.counts",
    sdispls = "send.displacements",
    sendtypes = "send.types",
    recvbuf = "recv.buffer",
    recvcounts = "recv.counts",
    rdispls = "recv.displacements",
    recvtypes = "recv.types",
}

local function merge(...)
    local all = {}
    for _, map in ipairs { ... } do
        for key, value in pairs(map) do
            all[key] = value
        end
    end
    return all
end

local rooted = { root = "root" }
local placed = { displs = "recv.displacements" }
local both_placed = { sdispls = "send.displacements", rdispls = "recv.displacements" }
local bcast = {
    buffer = { "send.buffer", "recv.buffer" },
    count = { "send.count", "recv.count" },
    datatype = { "send.type", "recv.type" },
    root = "root",
}

local operations = {
    BARRIER = {},
    BCAST = bcast,
    SCATTER = merge(contribution, outcome, rooted),
    SCATTERV = merge(contributions, { displs = "send.displacements" }, outcome, rooted),
    GATHER = merge(contribution, outcome, rooted),
    GATHERV = merge(contribution, outcomes, placed, rooted),
    REDUCE = merge(reduction, rooted),
    ALLGATHER = merge(contribution, outcome),
    ALLGATHERV = merge(contribution, outcomes, placed),
    ALLTOALL = merge(contribution, outcome),
    ALLTOALLV = merge(contributions, outcomes, both_placed),
    ALLTOALLW = all_types,
    ALLREDUCE = reduction,
    REDUCE_SCATTER = reduction_scattered,
    REDUCE_SCATTER_BLOCK = {
        sendbuf = "send.buffer",
        recvbuf = "recv.buffer",
        recvcount = { "send.count", "recv.count" },
        datatype = { "send.type", "recv.type" },
    },
    SCAN = reduction,
    EXSCAN = reduction,
    NEIGHBOR_ALLGATHER = merge(contribution, outcome),
    NEIGHBOR_ALLGATHERV = merge(contribution, outcomes, placed),
    NEIGHBOR_ALLTOALL = merge(contribution, outcome),
    NEIGHBOR_ALLTOALLV = merge(contributions, outcomes, both_placed),
    NEIGHBOR_ALLTOALLW = all_types,
}

-- Sends that MPI promises not to block: they return when the data is in the attached buffer.
local never_blocks = { MPI_Bsend = true, MPI_Bsend_c = true, MPI_Comm_get_parent = true }

-- Of role CALL, those that may wait for another rank (MPI-IO and windows: their collective and
-- their synchronising calls).
local may_block = {
    "MPIX_Comm_agree",
    "MPI_File_close",
    "MPI_File_open",
    "MPI_File_preallocate",
    "MPI_File_read_all",
    "MPI_File_read_all_c",
    "MPI_File_read_all_end",
    "MPI_File_read_at_all",
    "MPI_File_read_at_all_c",
    "MPI_File_read_at_all_end",
    "MPI_File_read_ordered",
    "MPI_File_read_ordered_c",
    "MPI_File_read_ordered_end",
    "MPI_File_set_size",
    "MPI_File_set_view",
    "MPI_File_sync",
    "MPI_File_write_all",
    "MPI_File_write_all_c",
    "MPI_File_write_all_end",
    "MPI_File_write_at_all",
    "MPI_File_write_at_all_c",
    "MPI_File_write_at_all_end",
    "MPI_File_write_ordered",
    "MPI_File_write_ordered_c",
    "MPI_File_write_ordered_end",
    "MPI_Win_allocate",
    "MPI_Win_allocate_c",
    "MPI_Win_allocate_shared",
    "MPI_Win_allocate_shared_c",
    "MPI_Win_complete",
    "MPI_Win_create",
    "MPI_Win_create_c",
    "MPI_Win_create_dynamic",
    "MPI_Win_fence",
    "MPI_Win_flush",
    "MPI_Win_flush_all",
    "MPI_Win_free",
    "MPI_Win_lock",
    "MPI_Win_lock_all",
    "MPI_Win_start",
    "MPI_Win_unlock",
    "MPI_Win_unlock_all",
    "MPI_Win_wait",
}

-- Of role CALL, those of which more is recorded than that they were called: see roles.lua.
local told = {
    MPIX_Comm_agree = "AGREE",
    MPIX_Comm_failure_get_acked = "FAILED",
    MPIX_Comm_get_failed = "FAILED",
    MPI_Request_get_status = "GET_STATUS",
}

-- What the lower tap calls instead of the library, with the same parameters.
local called = { MPI_Comm_spawn = "spawn_command", MPI_Comm_spawn_multiple = "spawn_commands" }

-- Written by hand in exceptions.c: a variable argument list.
local by_hand = { MPI_Pcontrol = true }

-- Passed on without a record: answered without another rank, and called often.
local passed_on = {
    MPI_Aint_add = true,
    MPI_Aint_diff = true,
    MPI_Wtick = true,
    MPI_Wtime = true,
}
-- Functions where handles are no numbers; MPI_Status_c2f and _f2c are calls like others.
for _, kind in ipairs {
    "Comm", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Type",
    "Win",
} do
    passed_on["MPI_" .. kind .. "_c2f"] = true
    passed_on["MPI_" .. kind .. "_f2c"] = true
end

-- Exported by Open MPI with names of MPI, but no calls of MPI: what a program gives to calls as a
-- function, which the library then calls itself; and what its Fortran modules have inside.
local untapped = {}
for _, name in ipairs {
    "COMM_DUP_FN", "COMM_NULL_COPY_FN", "COMM_NULL_DELETE_FN", "CONVERSION_FN_NULL", "DUP_FN",
    "NULL_COPY_FN", "NULL_DELETE_FN", "TYPE_DUP_FN", "TYPE_NULL_COPY_FN", "TYPE_NULL_DELETE_FN",
    "WIN_DUP_FN", "WIN_NULL_COPY_FN", "WIN_NULL_DELETE_FN",
    "AINT_ADD_F90", "AINT_DIFF_F90", "WTICK_F90", "WTIME_F90",
} do
    untapped["MPI_" .. name] = true
end

-- Parameters that a library's header names otherwise than the standard: those needed by name.
local renamed = {
    MPI_Cart_create = { old_comm = "comm_old" },
    MPI_Cart_sub = { new_comm = "newcomm" },
    MPI_Comm_create_from_group = { tag = "stringtag" },
    MPI_Dist_graph_create = { newcomm = "comm_dist_graph" },
    MPI_Imrecv = { type = "datatype" },
    MPI_Intercomm_create_from_groups = { tag = "stringtag" },
    MPI_Intercomm_merge = { newintercomm = "newintracomm" },
    MPI_Mrecv = { type = "datatype" },
    MPI_Rsend = { ibuf = "buf" },
    MPI_Testany = { index = "indx" },
    MPI_Type_free = { type = "datatype" },
    MPI_Waitany = { index = "indx" },
    MPIX_Comm_get_failed = { failedgroup = "failedgrp" },
}

return {
    renamed = renamed,
    makes = makes,
    operations = operations,
    never_blocks = never_blocks,
    may_block = may_block,
    told = told,
    called = called,
    by_hand = by_hand,
    passed_on = passed_on,
    untapped = untapped,
}
