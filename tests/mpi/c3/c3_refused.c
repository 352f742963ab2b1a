/* Does the one thing that its argument names; C3 supports none of them and must say so. Two ranks.
 */
#include "checkpoint.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, number, numbers[4];
static MPI_Request request;

static void large_bcast_init(void)
{
    MPI_Bcast_init_c(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
}

/* 'b'locking, 'n'ot, 'p'ersistent. */
static void neighbours(char way)
{
    int wide = 2, periodic = 1, got[2];
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &wide, &periodic, 0, &ring);
    if (way == 'b')
        MPI_Neighbor_allgather(&number, 1, MPI_INT, got, 1, MPI_INT, ring);
    else if (way == 'n')
        MPI_Ineighbor_allgather(&number, 1, MPI_INT, got, 1, MPI_INT, ring, &request);
    else
        MPI_Neighbor_allgather_init(&number, 1, MPI_INT, got, 1, MPI_INT, ring, MPI_INFO_NULL,
                                    &request);
}

static void neighbour(void)
{
    neighbours('b');
}

static void ineighbour(void)
{
    neighbours('n');
}

static void neighbour_init(void)
{
    neighbours('p');
}

static void intercommunicator(void)
{
    MPI_Comm made;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &made);
}

static void barrier_meanwhile(void)
{
    MPI_Ibcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void isendrecv(void)
{
    MPI_Isendrecv(&number, 1, MPI_INT, rank, 0, numbers, 1, MPI_INT, rank, 0, MPI_COMM_WORLD,
                  &request);
}

static void send_c(void)
{
    MPI_Send_c(&number, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void mrecv_c(void)
{
    MPI_Message message = MPI_MESSAGE_NO_PROC;
    MPI_Mrecv_c(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void window(void)
{
    MPI_Win win;
    MPI_Win_create(numbers, sizeof numbers, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}

static void session(void)
{
    MPI_Session made;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
}

static void cancel(void)
{
    MPI_Isend(&number, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
}

static void forget(void)
{
    MPI_Irecv(&number, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
}

static void pending(void)
{
    MPI_Irecv(&number, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 1000000; i++)
        potential_checkpoint();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*act)(void);
    } acts[] = {
        {"isendrecv", isendrecv},
        {"send_c", send_c},
        {"mrecv_c", mrecv_c},
        {"window", window},
        {"session", session},
        {"cancel", cancel},
        {"forget", forget},
        {"pending", pending},
        {"large_bcast_init", large_bcast_init},
        {"neighbour", neighbour},
        {"ineighbour", ineighbour},
        {"neighbour_init", neighbour_init},
        {"intercommunicator", intercommunicator},
        {"barrier_meanwhile", barrier_meanwhile},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (unsigned i = 0; argc > 1 && i < sizeof acts / sizeof *acts; i++)
        if (strcmp(argv[1], acts[i].name) == 0)
            acts[i].act();
    printf("not refused\n");
    return 0;
}
