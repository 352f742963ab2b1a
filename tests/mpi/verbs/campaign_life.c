/* A short job for the tests of campaigns: rank 0 sends a message to rank 1. The first argument says
 * what else:
 *   right    nothing
 *   relapse  a rank that is started again exits with status 3
 *   shy FILE a barrier, as long as FILE is shorter than SHY_RUNS; rank 0 adds a byte each time */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define STATUS_RELAPSE 3
#define SHY_RUNS 2 /* the reference and the survey of a campaign */

/* true: this rank has lived before in this run. */
static int lived_before(int rank)
{
    char path[PATH_BYTES];
    const char *store = getenv("FAULTLINE_STORE");
    snprintf(path, sizeof path, "%s/lived.%d", store != NULL ? store : ".", rank);
    int before = access(path, F_OK) == 0;
    FILE *file = fopen(path, "w");
    if (file == NULL)
        exit(99);
    fclose(file);
    return before;
}

/* Rank 0 makes its file when the others have made theirs. A fault at the file of rank 0 ends the
 * job, and the others then find in the next life that they have lived before. */
static void relapse(int rank)
{
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    if (lived_before(rank))
        exit(STATUS_RELAPSE);
    if (rank != 0)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void be_shy(int rank, const char *path)
{
    struct stat status;
    int seen = stat(path, &status) == 0 && status.st_size >= SHY_RUNS;
    MPI_Bcast(&seen, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (seen)
        return;
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *file = rank == 0 ? fopen(path, "a") : NULL;
    if (file != NULL) {
        fputc('x', file);
        fclose(file);
    }
}

int main(int argc, char **argv)
{
    int rank, word = 7;
    const char *mode = argc > 1 ? argv[1] : "right";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(mode, "relapse") == 0)
        relapse(rank);
    if (strcmp(mode, "shy") == 0 && argc > 2)
        be_shy(rank, argv[2]);
    if (rank == 0)
        MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
