/* Collective calls over point-to-point messages of this layer, as Chandy and Lamport, and CoCheck,
 * assume them. Must not know: the wire, the past. */
#ifndef COMMON_MESSAGES_COLLECTIVES_H
#define COMMON_MESSAGES_COLLECTIVES_H

#include "common/communicators/payload.h"
#include "common/messages/comms.h"

/* Every member gives `bytes` at `mine` and gets all of them in `all`, in the order of ranks. */
void collective_exchange(struct comm *comm, const void *mine, size_t bytes, void *all);

/* Data of a call in this process: `count` elements at `buffer`, or `elements` after it. */
struct payload collective_part(const void *buffer, int count, MPI_Datatype type);
struct payload collective_part_at(const void *buffer, MPI_Aint elements, int count,
                                  MPI_Datatype type);

/* Whole functions, two of each call: one that blocks, and one that does not. `parameters` in
 * parentheses are those ahead of the communicator; the rest is what both return, of `comm` and of
 * `request`, which is NULL where it blocks. */
#define LIST(...) __VA_ARGS__
#define CALL(blocking, nonblocking, parameters, ...)                                               \
    LAYER_EXPORTED int blocking(LIST parameters, MPI_Comm comm)                                    \
    {                                                                                              \
        MPI_Request *const request = NULL;                                                         \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    LAYER_EXPORTED int nonblocking(LIST parameters, MPI_Comm comm, MPI_Request *request)           \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

/* The library does it, below the channels: see layer_protocol.native_collectives. */
bool collective_is_native(MPI_Comm user);

#endif
