/* The edges of a program's life: taps_life HOW
 *     early     MPI_Send before MPI_Init
 *     late      MPI_Comm_size after MPI_Finalize
 *     asked     MPI_Initialized, MPI_Get_version before Init and after Finalize
 *     fork      a child of a rank that runs on and exits, and one that calls another program
 *     abort     MPI_Abort with 7
 *     exit      exit(3) without MPI_Finalize
 * For 2 ranks, or 1 alone. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/expect.h"

static int rank, other;

static void exchange(void)
{
    int in = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, other, 1, &in, 1, MPI_INT, other, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    expect(in == other);
}

static void forks(void)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(5);
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    exchange();
    child = fork();
    if (child == 0)
        exit(6); /* runs the handlers of the process, ours included */
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 6);
    expect(system("exit 3") == 3 << 8);
    exchange();
}

static void asks(int before)
{
    int flag, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    expect(flag == !before);
    MPI_Finalized(&flag);
    expect(flag == !before);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    expect(version >= 3 && length > 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int size;
    if (strcmp(how, "early") == 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (strcmp(how, "asked") == 0)
        asks(1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = (rank + 1) % size;
    exchange();
    if (strcmp(how, "fork") == 0)
        forks();
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "exit") == 0)
        exit(3);
    MPI_Finalize();
    if (strcmp(how, "late") == 0)
        MPI_Comm_size(MPI_COMM_WORLD, &other);
    if (strcmp(how, "asked") == 0)
        asks(0);
    return expect_end("life", rank);
}
