/* MPI_Comm_create_group with what the library refuses at one member and not at the others: all
 * members are told, and none waits; the next one, of the same members, is made. Needs 3 ranks, and
 * survivors. */
#include "mpi/expect.h"

#include <mpi.h>

#define BAD 1

static int rank;
static MPI_Group all;

/* `bad` and `tag` at the one, MPI_COMM_WORLD and 5 at the others. */
static void refused(MPI_Comm bad, int tag)
{
    MPI_Comm made = MPI_COMM_NULL;
    int result = rank == BAD ? MPI_Comm_create_group(bad, all, tag, &made)
                             : MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &made);
    expect(result != MPI_SUCCESS);
    expect(made == MPI_COMM_NULL);
}

static void granted(void)
{
    MPI_Comm made;
    int sum;
    expect(MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &made) == MPI_SUCCESS);
    expect(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made) == MPI_SUCCESS && sum == 3);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    int *most, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    refused(MPI_COMM_WORLD, -1);
    granted();
    if (*most < 0x7fffffff)
        refused(MPI_COMM_WORLD, *most + 1);
    refused(MPI_COMM_NULL, 5);
    granted();
    MPI_Group_free(&all);
    MPI_Finalize();
    return expect_end("lives_refused", rank);
}
