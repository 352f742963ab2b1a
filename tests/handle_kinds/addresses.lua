-- Reads MPICH's mpi.h, writes one of MPI-3 whose handles are addresses of data in the library, as
-- Open MPI's are: lua5.4 addresses.lua <mpi.h >FOLDER/mpi.h

local text = io.read("a")

local kinds = {}
for kind in text:gmatch("\ntypedef int (MPI_%w+);") do
    kinds[kind] = kind ~= "MPI_Fint"
end

for line in text:gmatch("([^\n]*)\n") do
    local kind = line:match("^typedef int (MPI_%w+);")
    local name, of = line:match("^#define (MPI_[%w_]+)%s+%(%((MPI_%w+)%)%s*%(?0x%x+%)?%)")
    if kinds[kind] then
        print(("typedef struct address_of_%s *%s;"):format(kind, kind))
    elseif kinds[of] then
        print(("extern struct address_of_%s %s_data;"):format(of, name:lower()))
        print(("#define %s ((%s) ((void *) &(%s_data)))"):format(name, of, name:lower()))
    elseif line:match("^#define MPI_VERSION%s") then
        print("#define MPI_VERSION 3")
    else
        print(line)
    end
end
