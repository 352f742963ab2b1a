/* See packing.h. */
#include "engine/data/packing.h"

#include "engine/library.h"

/* The library packs nothing from address 0 (MPI_BOTTOM). A type of absolute addresses is therefore
 * packed from this address, as a type that begins that many bytes earlier. */
#define ELSEWHERE 4096

size_t packing_bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (type == MPI_DATATYPE_NULL || count <= 0)
        return 0;
    local.Type_size_c(type, &size);
    return (size_t)(count * size);
}

/* One element of the type made here is `count` of the old one. */
static MPI_Datatype moved(MPI_Count count, MPI_Datatype type)
{
    MPI_Datatype made;
    MPI_Count length = count, displacement = -ELSEWHERE;
    local.Type_create_hindexed_c(1, &length, &displacement, type, &made);
    local.Type_commit(&made);
    return made;
}

int packing_pack(const void *buffer, MPI_Count count, MPI_Datatype type, void *to, size_t bytes)
{
    MPI_Count at = 0;
    if (bytes == 0)
        return MPI_SUCCESS;
    if (buffer != MPI_BOTTOM)
        return local.Pack_c(buffer, count, type, to, (MPI_Count)bytes, &at, MPI_COMM_SELF);
    MPI_Datatype instead = moved(count, type);
    int result =
        local.Pack_c((void *)ELSEWHERE, 1, instead, to, (MPI_Count)bytes, &at, MPI_COMM_SELF);
    local.Type_free(&instead);
    return result;
}

int packing_unpack(void *buffer, MPI_Count count, MPI_Datatype type, const void *from, size_t bytes)
{
    MPI_Count at = 0;
    int result;
    if (bytes == 0 || count == 0)
        return MPI_SUCCESS;
    if (buffer != MPI_BOTTOM) {
        result = local.Unpack_c(from, (MPI_Count)bytes, &at, buffer, count, type, MPI_COMM_SELF);
    } else {
        MPI_Datatype instead = moved(count, type);
        result = local.Unpack_c(from, (MPI_Count)bytes, &at, (void *)ELSEWHERE, 1, instead,
                                MPI_COMM_SELF);
        local.Type_free(&instead);
    }
    /* A basic element of which only a part is there is left: another signature was sent. */
    return result == MPI_SUCCESS && at < (MPI_Count)bytes ? MPI_ERR_TRUNCATE : result;
}
