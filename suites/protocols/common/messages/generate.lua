-- Writes the functions of MPI that the message layer refuses by name: all in mpi.h with a
-- communicator among their parameters that the layer does not define and that do more than to ask
-- something of MPI_COMM_WORLD which is the same for all. Weak: a definition anywhere wins.
--
--     lua5.4 generate.lua MPICC FILE SOURCE...
--
-- SOURCE: the files of the layer; what they define ("LAYER_EXPORTED int MPI_X(", or by pairs,
-- "CALL(MPI_X, MPI_Ix,", or "SENDS(LAYER_EXPORTED, MPI_X,") is left out. A name
-- that is listed here and that no MPI library has (harness/trace/calls.def) stops the build.

-- The library's answer for MPI_COMM_WORLD will do, whatever the communicator is.
local passed = [[
    MPI_Pack MPI_Pack_size MPI_Unpack MPI_Comm_get_attr MPI_Attr_get
]]

local names = dofile((arg[0]:match("^(.*)/") or ".") .. "/../mpi_names.lua")

local function defined(paths)
    local found = {}
    for _, path in ipairs(paths) do
        local file = io.open(path) or names.stop("%s: cannot be read", path)
        local text = file:read("a")
        for name in text:gmatch("LAYER_EXPORTED %w+ (MPI_[%w_]+)%(") do
            found[name] = true
        end
        for name in text:gmatch("SENDS?%(LAYER_EXPORTED, (MPI_[%w_]+),") do
            found[name] = true
        end
        for blocking, nonblocking in text:gmatch("CALL%((MPI_[%w_]+), (MPI_[%w_]+),") do
            found[blocking], found[nonblocking] = true, true
        end
        file:close()
    end
    return found
end

-- "MPI_Comm comm" -> MPI_COMM_WORLD, any other parameter -> its name.
local function argument(text)
    local comm = text:match("^%s*MPI_Comm [%w_]+%s*$")
    return comm and "MPI_COMM_WORLD" or text:match("([%w_]+)%s*%[?%]?$")
end

local function passing(call)
    local arguments, unused = {}, {}
    for text in (call.list:sub(2, -2) .. ","):gmatch("%s*(.-)%s*,") do
        arguments[#arguments + 1] = argument(text)
        local comm = text:match("^MPI_Comm ([%w_]+)$")
        unused[#unused + 1] = comm and ("    (void)%s;\n"):format(comm)
    end
    return ("WEAK int %s%s;\nWEAK int %s%s\n{\n%s    return P%s(%s);\n}\n"):format(call.name,
        call.list, call.name, call.list, table.concat(unused), call.name,
        table.concat(arguments, ", "))
end

local function refusing(call)
    return ('WEAK int %s%s;\nWEAK int %s%s\n{\n    layer_refuse("%s", INSTEAD);\n}\n')
        :format(call.name, call.list, call.name, call.list, call.name)
end

local HEAD = [[
/* Made by suites/protocols/common/messages/generate.lua. */
#include "common/messages/parts.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define WEAK __attribute__((weak, visibility("default")))
#define INSTEAD "point-to-point messages, and the collective calls that README.md lists"
]]

local function main(mpicc, path, ...)
    if not path then
        names.stop("use: generate.lua MPICC FILE SOURCE...")
    end
    local ours, quiet, parts = defined { ... }, names.words(passed), { HEAD }
    local prototypes = names.prototypes(mpicc)
    for _, call in ipairs(prototypes) do
        if not ours[call.name] then
            parts[#parts + 1] = quiet[call.name] and passing(call) or refusing(call)
        end
    end
    names.check(prototypes, { quiet })
    names.write(path, parts)
end

main(...)
