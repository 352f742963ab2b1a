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
    MPI_Pack MPI_Pack_size MPI_Unpack MPI_Comm_call_errhandler MPI_Comm_get_errhandler
    MPI_Comm_get_attr MPI_Attr_get MPI_Errhandler_get
]]

local here = arg[0]:match("^(.*)/") or "."
local HEADER = here .. "/../../../../harness/mpi_library.h"
local CALLS = here .. "/../../../../harness/trace/calls.def"
local known_names = dofile(here .. "/../known_names.lua")

local function stop(...)
    io.stderr:write("generate.lua: ", string.format(...), "\n")
    os.exit(1)
end

local function words(text)
    local found = {}
    for word in text:gmatch("%S+") do
        found[word] = true
    end
    return found
end

local function header(mpicc)
    local pipe = assert(io.popen(string.format("%s -E -P -x c %s", mpicc, HEADER)))
    local text = pipe:read("a")
    if not pipe:close() then
        stop("%s cannot read mpi.h", mpicc)
    end
    return (text:gsub("__attribute__%s*%b()", ""):gsub("%s+", " "))
end

-- Sorted names of the functions with a communicator, and their parameters as text.
local function prototypes(mpicc)
    local found = {}
    for name, list in header(mpicc):gmatch("int (MPIX?_[%w_]+) ?(%b()) ?;") do
        if list:find("MPI_Comm[^%w_]") then
            found[#found + 1] = { name = name, list = list }
        end
    end
    table.sort(found, function(a, b) return a.name < b.name end)
    return found
end

local function defined(paths)
    local found = {}
    for _, path in ipairs(paths) do
        local file = io.open(path) or stop("%s: cannot be read", path)
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
        stop("use: generate.lua MPICC FILE SOURCE...")
    end
    local known = known_names(CALLS)
    local ours, quiet, parts, seen = defined { ... }, words(passed), { HEAD }, {}
    for _, call in ipairs(prototypes(mpicc)) do
        seen[call.name] = true
        if not ours[call.name] then
            parts[#parts + 1] = quiet[call.name] and passing(call) or refusing(call)
        end
    end
    for name in pairs(quiet) do
        if not seen[name] and not known[name] then
            stop("%s is listed, and neither mpi.h nor calls.def has it", name)
        end
    end
    local file = io.open(path, "w") or stop("%s: cannot be written", path)
    file:write(table.concat(parts, "\n"))
    file:close()
end

main(...)
