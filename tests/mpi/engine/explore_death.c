/* Small jobs in which others go on when the last rank dies, before its MPI_Finalize. What each rank
 * sees of that depends on the schedule, and is its result. By the first argument:
 *
 *   send       the others send to it twice
 *   any        rank 0 receives from anybody twice, and the last rank sends to it once
 *   matched    the last rank begins to receive; rank 0 sends that synchronously, and then once more
 *   given      rank 0 waits for a message of the last rank, which sends none
 *   leave      the last rank comes to no broadcast of rank 0, of which the others need it not
 *   barrier    all come to a barrier, and the last rank to no second one
 *   agree      all agree
 *   shrink     all shrink the world
 *   revoke     rank 0 revokes a communicator on which the others wait for it and for each other
 *   twice      ranks 0 and 1 revoke it, on which the last rank waits: that then sends to rank 1,
 * which looks for the message before it revokes
 *   named      rank 0 begins to receive from rank 1, and then lets the last rank revoke that
 *              communicator: a second message of rank 1 comes before it waits for the first
 */
#include "faultline.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, last;
static char seen[256];

/* Appends how a call ended. */
static void see(const char *what, int code)
{
    int class = MPI_SUCCESS;
    size_t used = strlen(seen);
    MPI_Error_class(code, &class);
    snprintf(seen + used, sizeof seen - used, "%s:%d ", what, class);
}

static void send(void)
{
    for (int i = 0; rank != last && i < 2; i++)
        see("send", MPI_Send(&rank, 1, MPI_INT, last, 0, MPI_COMM_WORLD));
}

static void any(void)
{
    int value = -1;
    if (rank == last)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    else if (rank > 0)
        see("send", MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < 2; i++) {
        see("receive",
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        see("of", value);
    }
}

static void matched(void)
{
    int value = -1;
    MPI_Request request;
    if (rank == last) {
        MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    } else if (rank == 0) {
        see("begin", MPI_Issend(&rank, 1, MPI_INT, last, 0, MPI_COMM_WORLD, &request));
        see("send", MPI_Send(&rank, 1, MPI_INT, last, 1, MPI_COMM_WORLD));
        see("end", MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void given(void)
{
    int value = -1;
    if (rank == 0)
        see("receive", MPI_Recv(&value, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void leave(void)
{
    if (rank != last)
        see("broadcast", MPI_Bcast(&ranks, 1, MPI_INT, 0, MPI_COMM_WORLD));
}

static void barrier(void)
{
    see("first", MPI_Barrier(MPI_COMM_WORLD));
    if (rank != last)
        see("second", MPI_Barrier(MPI_COMM_WORLD));
}

static void agree(void)
{
    int flag = ~(1 << rank);
    see("agree", MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    see("on", flag);
}

static void shrink(void)
{
    MPI_Comm left;
    int size = 0;
    see("shrink", MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
    MPI_Comm_size(left, &size);
    see("to", size);
}

static void revoke(void)
{
    MPI_Comm comm;
    int value = -1, next = rank + 1 < last ? rank + 1 : 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == last)
        return;
    see("send", MPI_Send(&rank, 1, MPI_INT, next, 0, comm));
    if (rank == 0)
        see("revoke", MPIX_Comm_revoke(comm));
    else
        see("receive", MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE));
}

static void twice(void)
{
    MPI_Comm comm;
    int value = -1, there = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == last) {
        see("receive", MPI_Recv(&value, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
        see("send", MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        return;
    }
    if (rank == 1)
        MPI_Iprobe(last, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    see("there", there);
    if (rank < 2)
        see("revoke", MPIX_Comm_revoke(comm));
}

static void named(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int value = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, 0, comm, &request);
        MPI_Send(&rank, 1, MPI_INT, last, 0, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        see("receive", MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (rank == last) {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        see("revoke", MPIX_Comm_revoke(comm));
    } else {
        see("send", MPI_Send(&rank, 1, MPI_INT, 0, 0, comm));
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

static const struct {
    const char *name;
    void (*go)(void);
} jobs[] = {{"send", send},     {"any", any},         {"matched", matched}, {"given", given},
            {"leave", leave},   {"barrier", barrier}, {"agree", agree},     {"shrink", shrink},
            {"revoke", revoke}, {"twice", twice},     {"named", named}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    last = ranks - 1;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        if (argc > 1 && strcmp(argv[1], jobs[i].name) == 0)
            jobs[i].go();
    faultline_result("seen", seen, sizeof seen);
    puts(seen);
    MPI_Finalize();
    return 0;
}
