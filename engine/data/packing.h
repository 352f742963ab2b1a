/* Elements of a type to bytes that lie together, and back: what a message or a deposit holds. */
#ifndef ENGINE_DATA_PACKING_H
#define ENGINE_DATA_PACKING_H

#include <mpi.h>
#include <stddef.h>

/* The bytes of `count` elements; a type without a handle has none. */
size_t packing_bytes(MPI_Count count, MPI_Datatype type);

/* Packs `count` elements at `buffer` (which may be MPI_BOTTOM, for a type of addresses) into
 * `bytes` bytes, or unpacks as many from there. Return what the library returns, or
 * MPI_ERR_TRUNCATE where the bytes end within a basic element. */
int packing_pack(const void *buffer, MPI_Count count, MPI_Datatype type, void *to, size_t bytes);
int packing_unpack(void *buffer, MPI_Count count, MPI_Datatype type, const void *from,
                   size_t bytes);

#endif
