/* See described.h. */
#include "c3/collectives/described.h"

/* How many pieces a side has. */
enum cut { CUT_NONE, CUT_ONE, CUT_EACH };

static const struct {
    enum flow flow;
    enum cut given;
    enum cut got;
} kinds[DESCRIBED_KINDS] = {
    [DESCRIBED_BCAST] = {FLOW_FROM_ROOT, CUT_NONE, CUT_ONE},
    [DESCRIBED_SCATTER] = {FLOW_FROM_ROOT, CUT_EACH, CUT_ONE},
    [DESCRIBED_SCATTERV] = {FLOW_FROM_ROOT, CUT_EACH, CUT_ONE},
    [DESCRIBED_GATHER] = {FLOW_TO_ROOT, CUT_ONE, CUT_EACH},
    [DESCRIBED_GATHERV] = {FLOW_TO_ROOT, CUT_ONE, CUT_EACH},
    [DESCRIBED_REDUCE] = {FLOW_TO_ROOT, CUT_ONE, CUT_ONE},
    [DESCRIBED_ALLGATHER] = {FLOW_AMONG_ALL, CUT_ONE, CUT_EACH},
    [DESCRIBED_ALLGATHERV] = {FLOW_AMONG_ALL, CUT_ONE, CUT_EACH},
    [DESCRIBED_ALLTOALL] = {FLOW_AMONG_ALL, CUT_EACH, CUT_EACH},
    [DESCRIBED_ALLTOALLV] = {FLOW_AMONG_ALL, CUT_EACH, CUT_EACH},
    [DESCRIBED_ALLTOALLW] = {FLOW_AMONG_ALL, CUT_EACH, CUT_EACH},
    [DESCRIBED_ALLREDUCE] = {FLOW_AMONG_ALL, CUT_ONE, CUT_ONE},
    [DESCRIBED_REDUCE_SCATTER] = {FLOW_AMONG_ALL, CUT_EACH, CUT_ONE},
    [DESCRIBED_REDUCE_SCATTER_BLOCK] = {FLOW_AMONG_ALL, CUT_EACH, CUT_ONE},
    [DESCRIBED_SCAN] = {FLOW_AMONG_ALL, CUT_ONE, CUT_ONE},
    [DESCRIBED_EXSCAN] = {FLOW_AMONG_ALL, CUT_ONE, CUT_ONE},
    [DESCRIBED_BARRIER] = {FLOW_AMONG_ALL, CUT_NONE, CUT_NONE},
};

enum flow described_flow(const struct described *call)
{
    return kinds[call->kind].flow;
}

/* --- one rank's part -------------------------------------------------------------------------- */

/* Of a reduction in place the send side says how many elements there are. */
static bool reduces(const struct described *call)
{
    return call->kind == DESCRIBED_REDUCE ||
           (call->kind >= DESCRIBED_ALLREDUCE && call->kind != DESCRIBED_BARRIER);
}

static void forget_side(struct parts *side)
{
    *side = (struct parts){.buffer = side->buffer == MPI_IN_PLACE ? MPI_IN_PLACE : NULL,
                           .type = MPI_BYTE};
}

static void settle_side(struct parts *side, enum cut cut, int size)
{
    side->pieces = cut == CUT_NONE ? 0 : cut == CUT_ONE ? 1 : size;
}

void described_settle(struct described *call, int rank, int size)
{
    enum flow flow = described_flow(call);
    bool is_root = rank == call->root;
    if (flow != FLOW_AMONG_ALL && (call->root < 0 || call->root >= size))
        return;
    if (call->kind == DESCRIBED_REDUCE_SCATTER)
        call->got.length = call->given.lengths[rank];
    settle_side(&call->given, kinds[call->kind].given, size);
    settle_side(&call->got, kinds[call->kind].got, size);
    if (call->given.pieces == 0 || (flow == FLOW_FROM_ROOT && !is_root) ||
        (call->given.buffer == MPI_IN_PLACE && !reduces(call)))
        forget_side(&call->given);
    if (call->got.pieces == 0 || (flow == FLOW_TO_ROOT && !is_root) ||
        call->got.buffer == MPI_IN_PLACE)
        forget_side(&call->got);
}

/* The lowest rank gets nothing of an exclusive scan. */
struct parts described_result(const struct described *call, int rank)
{
    bool gets = described_flow(call) == FLOW_FROM_ROOT ? rank != call->root
                                                       : call->kind != DESCRIBED_EXSCAN || rank > 0;
    return gets ? call->got : (struct parts){.type = MPI_BYTE};
}

/* --- the library ------------------------------------------------------------------------------ */

static int start_with_root(const struct described *call, MPI_Comm comm, MPI_Request *wire)
{
    const struct parts *given = &call->given, *got = &call->got;
    switch (call->kind) {
    case DESCRIBED_BCAST:
        return PMPI_Ibcast(got->buffer, got->length, got->type, call->root, comm, wire);
    case DESCRIBED_SCATTER:
        return PMPI_Iscatter(given->buffer, given->length, given->type, got->buffer, got->length,
                             got->type, call->root, comm, wire);
    case DESCRIBED_SCATTERV:
        return PMPI_Iscatterv(given->buffer, given->lengths, given->offsets, given->type,
                              got->buffer, got->length, got->type, call->root, comm, wire);
    case DESCRIBED_GATHER:
        return PMPI_Igather(given->buffer, given->length, given->type, got->buffer, got->length,
                            got->type, call->root, comm, wire);
    case DESCRIBED_GATHERV:
        return PMPI_Igatherv(given->buffer, given->length, given->type, got->buffer, got->lengths,
                             got->offsets, got->type, call->root, comm, wire);
    default:
        return PMPI_Ireduce(given->buffer, got->buffer, given->length, given->type, call->op,
                            call->root, comm, wire);
    }
}

static int start_exchange(const struct described *call, MPI_Comm comm, MPI_Request *wire)
{
    const struct parts *given = &call->given, *got = &call->got;
    switch (call->kind) {
    case DESCRIBED_ALLGATHER:
        return PMPI_Iallgather(given->buffer, given->length, given->type, got->buffer, got->length,
                               got->type, comm, wire);
    case DESCRIBED_ALLGATHERV:
        return PMPI_Iallgatherv(given->buffer, given->length, given->type, got->buffer,
                                got->lengths, got->offsets, got->type, comm, wire);
    case DESCRIBED_ALLTOALL:
        return PMPI_Ialltoall(given->buffer, given->length, given->type, got->buffer, got->length,
                              got->type, comm, wire);
    case DESCRIBED_ALLTOALLV:
        return PMPI_Ialltoallv(given->buffer, given->lengths, given->offsets, given->type,
                               got->buffer, got->lengths, got->offsets, got->type, comm, wire);
    default:
        return PMPI_Ialltoallw(given->buffer, given->lengths, given->offsets, given->types,
                               got->buffer, got->lengths, got->offsets, got->types, comm, wire);
    }
}

static int start_reduction(const struct described *call, MPI_Comm comm, MPI_Request *wire)
{
    const struct parts *given = &call->given;
    void *result = call->got.buffer;
    switch (call->kind) {
    case DESCRIBED_ALLREDUCE:
        return PMPI_Iallreduce(given->buffer, result, given->length, given->type, call->op, comm,
                               wire);
    case DESCRIBED_REDUCE_SCATTER:
        return PMPI_Ireduce_scatter(given->buffer, result, given->lengths, given->type, call->op,
                                    comm, wire);
    case DESCRIBED_REDUCE_SCATTER_BLOCK:
        return PMPI_Ireduce_scatter_block(given->buffer, result, given->length, given->type,
                                          call->op, comm, wire);
    case DESCRIBED_SCAN:
        return PMPI_Iscan(given->buffer, result, given->length, given->type, call->op, comm, wire);
    case DESCRIBED_EXSCAN:
        return PMPI_Iexscan(given->buffer, result, given->length, given->type, call->op, comm,
                            wire);
    default:
        return PMPI_Ibarrier(comm, wire);
    }
}

int described_start(const struct described *call, MPI_Comm comm, MPI_Request *wire)
{
    if (described_flow(call) != FLOW_AMONG_ALL)
        return start_with_root(call, comm, wire);
    return call->kind <= DESCRIBED_ALLTOALLW ? start_exchange(call, comm, wire)
                                             : start_reduction(call, comm, wire);
}
