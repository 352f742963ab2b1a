/* Every MPI function by number, name and role. The list is calls.def: one line a function, its
 * number is its place, so lines are only ever appended. Needs no MPI header: a trace can be read
 * where there is no MPI. */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include <stdbool.h>

/* What the taps do with a call; see injectors/README.md for the parameters each needs. */
#define CALL_ROLES(X)                                                                              \
    X(CALL) /* recorded as a call, passed through */                                               \
    X(INIT)                                                                                        \
    X(FINALIZE)                                                                                    \
    X(ABORT)                                                                                       \
    X(SEND) /* blocking send, any mode */                                                          \
    X(ISEND)                                                                                       \
    X(SEND_INIT) /* persistent */                                                                  \
    X(RECV)                                                                                        \
    X(IRECV)                                                                                       \
    X(RECV_INIT)                                                                                   \
    X(MRECV)                                                                                       \
    X(IMRECV)                                                                                      \
    X(SENDRECV)                                                                                    \
    X(SENDRECV_REPLACE)                                                                            \
    X(ISENDRECV)                                                                                   \
    X(ISENDRECV_REPLACE)                                                                           \
    X(START)                                                                                       \
    X(STARTALL)                                                                                    \
    X(PROBE)                                                                                       \
    X(IPROBE)                                                                                      \
    X(MPROBE)                                                                                      \
    X(IMPROBE)                                                                                     \
    X(WAIT)                                                                                        \
    X(WAITALL)                                                                                     \
    X(WAITANY)                                                                                     \
    X(WAITSOME)                                                                                    \
    X(TEST)                                                                                        \
    X(TESTALL)                                                                                     \
    X(TESTANY)                                                                                     \
    X(TESTSOME)                                                                                    \
    X(REQUEST_FREE)                                                                                \
    X(CANCEL)                                                                                      \
    X(COLLECTIVE)      /* blocking */                                                              \
    X(ICOLLECTIVE)     /* non-blocking */                                                          \
    X(COLLECTIVE_INIT) /* persistent */                                                            \
    X(COMM_MAKE)       /* returns a communicator; collective over one */                           \
    X(COMM_IMAKE)      /* the same, with a request */                                              \
    X(COMM_FREE)                                                                                   \
    X(TYPE_FREE) /* forget what is known of a datatype */

/* Which collective, blocking or not: the data flow decides, never the implementation. */
#define CALL_OPERATIONS(X)                                                                         \
    X(NONE)                                                                                        \
    X(BARRIER)                                                                                     \
    X(BCAST)                                                                                       \
    X(SCATTER)                                                                                     \
    X(SCATTERV)                                                                                    \
    X(GATHER)                                                                                      \
    X(GATHERV)                                                                                     \
    X(REDUCE)                                                                                      \
    X(ALLGATHER)                                                                                   \
    X(ALLGATHERV)                                                                                  \
    X(ALLTOALL)                                                                                    \
    X(ALLTOALLV)                                                                                   \
    X(ALLTOALLW)                                                                                   \
    X(ALLREDUCE)                                                                                   \
    X(REDUCE_SCATTER)                                                                              \
    X(REDUCE_SCATTER_BLOCK)                                                                        \
    X(SCAN)                                                                                        \
    X(EXSCAN)                                                                                      \
    X(NEIGHBOR_ALLGATHER)                                                                          \
    X(NEIGHBOR_ALLGATHERV)                                                                         \
    X(NEIGHBOR_ALLTOALL)                                                                           \
    X(NEIGHBOR_ALLTOALLV)                                                                          \
    X(NEIGHBOR_ALLTOALLW)

enum call_role {
#define X(name) ROLE_##name,
    CALL_ROLES(X)
#undef X
};

enum call_operation {
#define X(name) OPERATION_##name,
    CALL_OPERATIONS(X)
#undef X
        OPERATION_COUNT
};

/* 0 is no call. */
enum call_id {
    CALL_NONE = 0,
#define CALL(name, role, operation) CALL_##name,
#include "trace/calls.def"
#undef CALL
    CALL_COUNT
};

/* "MPI_Send"; "-" for 0, "?" for a number outside the list. Static. */
const char *call_name(unsigned call);
enum call_role call_role(unsigned call);
/* Ssend, Issend or Ssend_init: complete only when its receive has begun (MPI 4.0, 3.4). */
bool call_is_synchronous(unsigned call);
enum call_operation call_operation(unsigned call);
const char *call_operation_text(enum call_operation operation); /* "bcast" */

/* CALL_NONE if there is no such function. */
enum call_id call_from_name(const char *name);

#endif
