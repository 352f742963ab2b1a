/* The eight ways of MPI to complete requests, to be chosen between. Must not know: what the
 * requests are for. */
#ifndef COMPLETING_H
#define COMPLETING_H

#include <mpi.h>
#include <stdbool.h>

enum completing {
    WAIT,
    TEST,
    WAITALL,
    TESTALL,
    WAITANY,
    TESTANY,
    WAITSOME,
    TESTSOME,
    COMPLETING_WAYS
};

/* Completes at least one of them, all for the -all; *done of them, by index. */
static inline void complete_some(enum completing how, int count, MPI_Request *request, int *done,
                                 int *index, MPI_Status *status)
{
    int flag = 0;
    *done = 1;
    if (how == WAITANY)
        MPI_Waitany(count, request, index, status);
    while (how == TESTANY && !flag)
        MPI_Testany(count, request, index, &flag, status);
    if (how == WAITSOME)
        MPI_Waitsome(count, request, done, index, status);
    for (*done = how == TESTSOME ? 0 : *done; how == TESTSOME && *done == 0;)
        MPI_Testsome(count, request, done, index, status);
    if (how == WAITALL)
        MPI_Waitall(count, request, status);
    while (how == TESTALL && !flag)
        MPI_Testall(count, request, &flag, status);
    if (how != WAITALL && how != TESTALL)
        return;
    *done = count;
    for (int i = 0; i < count; i++)
        index[i] = i;
}

static inline void complete_one(bool test, MPI_Request *request, MPI_Status *status)
{
    int flag = !test;
    if (!test)
        MPI_Wait(request, status);
    while (!flag)
        MPI_Test(request, &flag, status);
}

#endif
