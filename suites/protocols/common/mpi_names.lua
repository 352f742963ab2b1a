-- What the generators of the protocols' common layers share: to read mpi.h, and to find names that
-- no MPI library has. `arg[0]` is the generator.
local here = arg[0]:match("^(.*)/") or "."
local HEADER = here .. "/../../../../harness/mpi_library.h"
local CALLS = here .. "/../../../../harness/trace/calls.def"

local names = {}

function names.stop(...)
    io.stderr:write(arg[0]:match("[^/]*$"), ": ", string.format(...), "\n")
    os.exit(1)
end

-- The words of a text, as a set.
function names.words(text)
    local found = {}
    for word in text:gmatch("%S+") do
        found[word] = true
    end
    return found
end

-- Sorted list of { name, list } of the functions in mpi.h with a communicator among their
-- parameters; `list`: these as text, in parentheses.
function names.prototypes(mpicc)
    local pipe = assert(io.popen(string.format("%s -E -P -x c %s", mpicc, HEADER)))
    local text = pipe:read("a")
    if not pipe:close() then
        names.stop("%s cannot read mpi.h", mpicc)
    end
    text = text:gsub("__attribute__%s*%b()", ""):gsub("%s+", " ")
    local found = {}
    for name, list in text:gmatch("int (MPIX?_[%w_]+) ?(%b()) ?;") do
        if list:find("MPI_Comm[^%w_]") then
            found[#found + 1] = { name = name, list = list }
        end
    end
    table.sort(found, function(a, b) return a.name < b.name end)
    return found
end

-- Stops the build at a name in one of `sets` that neither mpi.h (`prototypes`) nor any MPI library
-- (harness/trace/calls.def) has.
function names.check(prototypes, sets)
    local known = {}
    for _, call in ipairs(prototypes) do
        known[call.name] = true
    end
    local calls = assert(io.open(CALLS))
    for name in calls:read("a"):gmatch("CALL%((MPIX?_[%w_]+),") do
        known[name] = true
    end
    calls:close()
    for _, set in ipairs(sets) do
        for name in pairs(set) do
            if not known[name] then
                names.stop("%s is listed, and neither mpi.h nor calls.def has it", name)
            end
        end
    end
end

function names.write(path, parts)
    local file = io.open(path, "w") or names.stop("%s: cannot be written", path)
    file:write(table.concat(parts, "\n"))
    file:close()
end

return names
