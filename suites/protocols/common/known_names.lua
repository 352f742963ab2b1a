-- The names of all functions that any MPI library is known to have, as a set: a generator stops at
-- a name that it is told of and that is not there. `file`: harness/trace/calls.def.
return function(file)
    local calls, found = assert(io.open(file)), {}
    for name in calls:read("a"):gmatch("CALL%((MPIX?_[%w_]+),") do
        found[name] = true
    end
    calls:close()
    return found
end
