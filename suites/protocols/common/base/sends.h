/* MPI has each function that sends in four modes, with the same arguments. Here is the whole of
 * such a function, which hands its arguments and its mode to `call`. Must not know: what modes are.
 */
#ifndef COMMON_BASE_SENDS_H
#define COMMON_BASE_SENDS_H

#include "mpi_library.h"

/* One that blocks, and one that makes a request. */
#define SENDS(exported, function, call, mode)                                                      \
    exported int function(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,    \
                          MPI_Comm comm)                                                           \
    {                                                                                              \
        return call(buf, count, datatype, dest, tag, comm, mode);                                  \
    }
#define REQUESTS_SEND(exported, function, call, mode)                                              \
    exported int function(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,    \
                          MPI_Comm comm, MPI_Request *request)                                     \
    {                                                                                              \
        return call(buf, count, datatype, dest, tag, comm, mode, request);                         \
    }

#endif
