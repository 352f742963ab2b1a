/* Asks for threads of the level that its argument names, and prints the level that it is granted:
 * both as 0 MPI_THREAD_SINGLE, 1 FUNNELED, 2 SERIALIZED, 3 MULTIPLE. With a second argument it
 * never calls checkpoint_restore. */
#include "checkpoint.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                 MPI_THREAD_MULTIPLE};
    int provided, level = 0;
    MPI_Init_thread(&argc, &argv, levels[atoi(argv[1])], &provided);
    while (levels[level] != provided)
        level++;
    printf("%d\n", level);
    if (argc == 2)
        checkpoint_restore();
    MPI_Finalize();
    return 0;
}
