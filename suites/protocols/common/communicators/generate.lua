-- Writes the wrappers of a layer that hands out communicators of its own (handles.h): one for every
-- function in mpi.h with a communicator among its parameters that is not written by hand. It passes
-- on to PMPI_X with the library's handle. All are weak: a protocol that defines MPI_X itself wins.
--
--     lua5.4 generate.lua MPICC FILE
--
-- A function is one of four. Whatever does not fit stops the build: a name listed here that no MPI
-- library has (harness/trace/calls.def), and a function that returns communicators and is not
-- listed.

-- Strong, in make.c.
local by_hand = [[
    MPI_Comm_dup MPI_Comm_dup_with_info MPI_Comm_create MPI_Comm_create_group MPI_Comm_split
    MPI_Comm_split_type MPI_Cart_create MPI_Cart_sub MPI_Graph_create MPI_Dist_graph_create
    MPI_Dist_graph_create_adjacent MPI_Comm_free MPI_Comm_disconnect MPI_Comm_set_attr MPI_Attr_put
    MPI_Comm_delete_attr MPI_Attr_delete MPI_Comm_set_errhandler MPI_Errhandler_set
]]

-- Never reach the library: communicators of these could not be made again.
local refused = {
    MPI_Comm_idup = "MPI_Comm_dup",
    MPI_Comm_idup_with_info = "MPI_Comm_dup_with_info",
    MPI_Comm_create_from_group = "MPI_Comm_create_group",
    MPI_Intercomm_create = "intracommunicators",
    MPI_Intercomm_create_from_groups = "intracommunicators",
    MPI_Intercomm_merge = "intracommunicators",
    MPI_Comm_spawn = "the processes of MPI_COMM_WORLD",
    MPI_Comm_spawn_multiple = "the processes of MPI_COMM_WORLD",
    MPI_Comm_accept = "the processes of MPI_COMM_WORLD",
    MPI_Comm_connect = "the processes of MPI_COMM_WORLD",
    MPI_Comm_join = "the processes of MPI_COMM_WORLD",
    MPIX_Comm_shrink = "a restart of the whole job",
    MPIX_Comm_agree = "a restart of the whole job",
    MPIX_Comm_revoke = "a restart of the whole job",
    MPIX_Comm_failure_ack = "a restart of the whole job",
    MPIX_Comm_failure_get_acked = "a restart of the whole job",
    MPIX_Stream_comm_create = "MPI_Comm_dup",
    MPIX_Stream_comm_create_multiplex = "MPI_Comm_dup",
    MPIX_Threadcomm_init = "MPI_Comm_dup",
    MPIX_Threadcomm_free = "MPI_Comm_dup",
}

-- Ask or set something, and communicate nothing. The library's answer is the program's.
local quiet = [[
    MPI_Abort MPI_Attr_get MPI_Cart_coords MPI_Cart_get MPI_Cart_map MPI_Cart_rank MPI_Cart_shift
    MPI_Cartdim_get MPI_Comm_call_errhandler MPI_Comm_compare MPI_Comm_get_attr
    MPI_Comm_get_errhandler MPI_Comm_get_info MPI_Comm_get_name MPI_Comm_group MPI_Comm_rank
    MPI_Comm_remote_group MPI_Comm_remote_size MPI_Comm_set_info MPI_Comm_set_name MPI_Comm_size
    MPI_Comm_test_inter MPI_Dist_graph_neighbors MPI_Dist_graph_neighbors_count MPI_Errhandler_get
    MPI_Graph_get MPI_Graph_map MPI_Graph_neighbors MPI_Graph_neighbors_count MPI_Graphdims_get
    MPI_Pack MPI_Pack_c MPI_Pack_size MPI_Pack_size_c MPI_Topo_test MPI_Unpack MPI_Unpack_c
    MPI_Comm_attach_buffer MPI_Comm_attach_buffer_c MPIX_Comm_get_stream MPIX_Comm_test_threadcomm
]]

-- Without a communicator to translate: what it returns is MPI_COMM_NULL where nothing is spawned.
local untouched = "MPI_Comm_get_parent"

-- All others communicate: the protocol is told first (handles_protocol.communicates).

local names = dofile((arg[0]:match("^(.*)/") or ".") .. "/../mpi_names.lua")

-- "const int recvcounts[]" -> the type and the name, the latter without [].
local function parameter(text)
    local kind, name = text:match("^(.-)([%a_][%w_]*)%s*%[?%]?%[?%d*%]?$")
    if not kind or kind == "" then
        return nil
    end
    return { kind = kind:gsub("%s+$", ""), name = name, text = text }
end

local function parameters(list)
    local all = {}
    for text in (list:sub(2, -2) .. ","):gmatch("%s*(.-)%s*,") do
        local one = parameter(text)
        if not one then
            return nil
        end
        all[#all + 1] = one
    end
    return all
end

local function joined(call, each)
    local list = {}
    for i, one in ipairs(call.parameters) do
        list[i] = each(one)
    end
    return table.concat(list, ", ")
end

local function declared(one)
    return one.text
end

local function passed(one)
    return one.kind == "MPI_Comm" and ("handles_real(%s)"):format(one.name) or one.name
end

local function refusal(call)
    local lines = {}
    for i, one in ipairs(call.parameters) do
        lines[i] = ("    (void)%s;\n"):format(one.name)
    end
    return ('%s    handles_refuse("%s", "%s");\n'):format(table.concat(lines), call.name,
        refused[call.name])
end

local function passing(call, told)
    return ("%s    return P%s(%s);\n"):format(told, call.name, joined(call, passed))
end

local function body(call, kinds)
    if refused[call.name] then
        return refusal(call)
    end
    for _, one in ipairs(call.parameters) do
        if one.kind:find("MPI_Comm") and one.text ~= "MPI_Comm " .. one.name then
            names.stop("%s: parameter '%s' is no communicator that is only read, and nothing here "
                .. "says what to do with it", call.name, one.text)
        end
    end
    local quietly = kinds.quiet[call.name]
    return passing(call, quietly and "" or ('    communicates("%s");\n'):format(call.name))
end

local HEAD = [[
/* Made by suites/protocols/common/communicators/generate.lua. */
#include "common/communicators/table.h"

#define WEAK __attribute__((weak, visibility("default")))

static void communicates(const char *function)
{
    if (handles.protocol && handles.protocol->communicates)
        handles.protocol->communicates(function);
}
]]

local function main(mpicc, path)
    if not path then
        names.stop("use: generate.lua MPICC FILE")
    end
    local kinds = { quiet = names.words(quiet) }
    local hand, left = names.words(by_hand), names.words(untouched)
    local parts, prototypes = { HEAD }, names.prototypes(mpicc)
    for _, call in ipairs(prototypes) do
        if not hand[call.name] and not left[call.name] and not call.list:find("%(.*%(") then
            call.parameters = parameters(call.list)
                or names.stop("%s%s: cannot be read", call.name, call.list)
            local list = joined(call, declared)
            parts[#parts + 1] = ("WEAK int %s(%s);\nWEAK int %s(%s)\n{\n%s}\n"):format(call.name,
                list, call.name, list, body(call, kinds))
        end
    end
    names.check(prototypes, { hand, kinds.quiet, left, refused })
    names.write(path, parts)
end

main(arg[1], arg[2])
