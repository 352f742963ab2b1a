/* A collective call as its arguments: which one, where its data lies, which way it flows. What a
 * call that does not block is begun with, and what a persistent request keeps. Must not know: the
 * line, requests. */
#ifndef C3_DESCRIBED_H
#define C3_DESCRIBED_H

#include "c3/collectives/parts.h"

/* The first three as the calls that can be done again in reexec.h. */
enum described_kind {
    DESCRIBED_BCAST,
    DESCRIBED_SCATTER,
    DESCRIBED_SCATTERV,
    DESCRIBED_GATHER,
    DESCRIBED_GATHERV,
    DESCRIBED_REDUCE,
    DESCRIBED_ALLGATHER,
    DESCRIBED_ALLGATHERV,
    DESCRIBED_ALLTOALL,
    DESCRIBED_ALLTOALLV,
    DESCRIBED_ALLTOALLW,
    DESCRIBED_ALLREDUCE,
    DESCRIBED_REDUCE_SCATTER,
    DESCRIBED_REDUCE_SCATTER_BLOCK,
    DESCRIBED_SCAN,
    DESCRIBED_EXSCAN,
    DESCRIBED_BARRIER,
    DESCRIBED_KINDS
};

/* A barrier passes on no data, only that each rank has come: from all to all. */
enum flow { FLOW_FROM_ROOT, FLOW_TO_ROOT, FLOW_AMONG_ALL };

/* `given` and `got` are the call's send and receive side, of a reduction both the same elements;
 * a broadcast has `got` alone. Pieces are those of described_settle. */
struct described {
    enum described_kind kind;
    int root; /* of no use among all */
    struct parts given;
    struct parts got;
    MPI_Op op; /* of reductions */
};

enum flow described_flow(const struct described *call);

/* Where it stands in a communicator: counts the pieces, and forgets what MPI says is of no
 * significance at this rank, which is then never looked at. A call whose root is none of the
 * communicator's is left as it is, for the library to complain about. */
void described_settle(struct described *call, int rank, int size);

/* All that the settled call gives this rank; of no pieces: nothing. */
struct parts described_result(const struct described *call, int rank);

/* Begins it with the library. Returns an MPI error code. */
int described_start(const struct described *call, MPI_Comm comm, MPI_Request *wire);

#endif
