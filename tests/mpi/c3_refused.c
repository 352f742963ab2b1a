/* Does the one thing that its argument names; C3 supports none of them and must say so. Two ranks.
 */
#include "checkpoint.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, number, numbers[4];
static MPI_Request request;

static void ibarrier(void)
{
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
}

static void persistent_bcast(void)
{
    MPI_Bcast_init(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
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
        {"ibarrier", ibarrier},
        {"isendrecv", isendrecv},
        {"send_c", send_c},
        {"mrecv_c", mrecv_c},
        {"window", window},
        {"session", session},
        {"cancel", cancel},
        {"forget", forget},
        {"pending", pending},
        {"persistent_bcast", persistent_bcast},
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
