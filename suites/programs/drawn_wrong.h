/* Of the program `drawn`: calls with arguments that are wrong. Each returns its error and does
 * nothing, and the calls after it work as ever. Must not know: groups of messages. */
#ifndef DRAWN_WRONG_H
#define DRAWN_WRONG_H

#include "drawn_plan.h"
#include "drawn_rare.h"
#include "program.h"

#define TAG_WRONG 30070
#define TAG_IMPOSSIBLE (-9)

enum wrong_call {
    WRONG_DESTINATION,
    WRONG_TAG,
    WRONG_COUNT,
    WRONG_TYPE,
    WRONG_SOURCE,
    WRONG_PROBED,
    WRONG_RECEIVER, /* of MPI_Sendrecv, and whom it receives from */
    WRONG_SENDER,
    WRONG_REPLACER,
    WRONG_ROOT,
    WRONG_REDUCER,
    WRONG_START,
    WRONG_TOPOLOGY, /* last: not every protocol knows of topologies */
    WRONG_CALLS
};

/* Returns the error of the call; *expected: the class that it has to be of. */
static int call_wrongly(enum wrong_call call, int *expected)
{
    static const int expects[WRONG_CALLS] = {
        MPI_ERR_RANK, MPI_ERR_TAG,     MPI_ERR_COUNT,   MPI_ERR_TYPE, MPI_ERR_RANK,
        MPI_ERR_RANK, MPI_ERR_RANK,    MPI_ERR_RANK,    MPI_ERR_RANK, MPI_ERR_ROOT,
        MPI_ERR_ROOT, MPI_ERR_REQUEST, MPI_ERR_TOPOLOGY};
    uint64_t number = 0, got = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm world = MPI_COMM_WORLD, made;
    int nobody = self.ranks;
    *expected = expects[call];
    switch (call) {
    case WRONG_DESTINATION:
        return MPI_Isend(&number, 1, MPI_UINT64_T, nobody, TAG_WRONG, world, &request);
    case WRONG_TAG:
        return MPI_Send(&number, 1, MPI_UINT64_T, 0, TAG_IMPOSSIBLE, world);
    case WRONG_COUNT:
        return MPI_Send(&number, -1, MPI_UINT64_T, 0, TAG_WRONG, world);
    case WRONG_TYPE:
        return MPI_Send(&number, 1, MPI_DATATYPE_NULL, 0, TAG_WRONG, world);
    case WRONG_SOURCE:
        return MPI_Irecv(&got, 1, MPI_UINT64_T, nobody, TAG_WRONG, world, &request);
    case WRONG_PROBED:
        return MPI_Probe(nobody, TAG_WRONG, world, MPI_STATUS_IGNORE);
    case WRONG_RECEIVER:
        return MPI_Sendrecv(&number, 1, MPI_UINT64_T, nobody, TAG_WRONG, &got, 1, MPI_UINT64_T, 0,
                            TAG_WRONG, world, MPI_STATUS_IGNORE);
    case WRONG_SENDER:
        return MPI_Sendrecv(&number, 1, MPI_UINT64_T, 0, TAG_WRONG, &got, 1, MPI_UINT64_T, nobody,
                            TAG_WRONG, world, MPI_STATUS_IGNORE);
    case WRONG_REPLACER:
        return MPI_Sendrecv_replace(&got, 1, MPI_UINT64_T, nobody, TAG_WRONG, 0, TAG_WRONG, world,
                                    MPI_STATUS_IGNORE);
    case WRONG_ROOT:
        return MPI_Bcast(&got, 1, MPI_UINT64_T, nobody, world);
    case WRONG_REDUCER:
        return MPI_Reduce(&number, &got, 1, MPI_UINT64_T, MPI_SUM, nobody, world);
    case WRONG_START:
        return MPI_Start(&request);
    default:
        return MPI_Cart_sub(world, &nobody, &made);
    }
}

static void wrong_step(uint64_t step)
{
    int expected;
    MPI_Errhandler before;
    if (!feature[WRONG] || draw(step, 94000 + self.rank, 3) > 0)
        return;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int calls = self.constructors > CARTESIAN ? WRONG_CALLS : WRONG_TOPOLOGY;
    int call = draw(step, 94100 + self.rank, calls);
    int class = class_of(call_wrongly((enum wrong_call)call, &expected));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&before);
    if (class == expected)
        return;
    fprintf(stderr, "drawn: wrong call %d gives an error of class %d, and not %d\n", call, class,
            expected);
    wrong_in(step, "a call with wrong arguments gives another error");
}

#endif
