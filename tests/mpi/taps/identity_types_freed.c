/* Datatypes freed while a request still needs them, which MPI allows: those of an MPI_Ialltoallw,
 * whose array is gone too, and one of a receive, freed by way of PMPI as a language binding may. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANKS 8

static MPI_Datatype every_second(void)
{
    MPI_Datatype made;
    MPI_Type_vector(2, 1, 2, MPI_INT, &made);
    MPI_Type_commit(&made);
    return made;
}

static void start_exchange(int ranks, const int *sent, int *got, MPI_Request *request)
{
    static int counts[MAX_RANKS], displacements[MAX_RANKS];
    MPI_Datatype *types = malloc(sizeof *types * (size_t)ranks);
    for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        displacements[i] = i * 4 * (int)sizeof *sent;
        types[i] = every_second();
    }
    MPI_Ialltoallw(sent, counts, displacements, types, got, counts, displacements, types,
                   MPI_COMM_WORLD, request);
    for (int i = 0; i < ranks; i++)
        MPI_Type_free(&types[i]);
    memset(types, 0xff, sizeof *types * (size_t)ranks);
    free(types);
}

int main(int argc, char **argv)
{
    int rank, ranks, sent[4 * MAX_RANKS], got[4 * MAX_RANKS] = {0}, received[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 4 * MAX_RANKS; i++)
        sent[i] = 100 * rank + i;
    MPI_Request request[2];
    start_exchange(ranks, sent, got, &request[0]);

    MPI_Datatype type = every_second();
    MPI_Irecv(received, 1, type, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &request[1]);
    PMPI_Type_free(&type);
    MPI_Send(sent, 2, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    int good = received[2] == 100 * ((rank + 1) % ranks) + 1;
    for (int i = 0; i < ranks; i++)
        good &= got[4 * i + 2] == 100 * i + 4 * rank + 2;
    MPI_Finalize();
    return !good;
}
