/* Long doubles: 6 of their 16 bytes hold nothing, and here something else on every rank. By
 * themselves, and as a part of a derived type. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static long double filled(int rank, long double value)
{
    union {
        unsigned char byte[sizeof(long double)];
        long double value;
    } made;
    memset(made.byte, 0x11 * (rank + 1), sizeof made.byte);
    memcpy(made.byte, &value, 10);
    return made.value;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long double pair[2] = {filled(rank, 1), filled(rank, 2)};
    long double sum;
    memset(&sum, 0x11 * (rank + 1), sizeof sum);
    MPI_Allreduce(pair, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Datatype vector;
    MPI_Type_vector(2, 1, 1, MPI_LONG_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    MPI_Bcast(pair, 1, vector, 0, MPI_COMM_WORLD);
    if (rank != 0)
        pair[0] = filled(rank, 3);
    MPI_Type_free(&vector);
    MPI_Finalize();
    return sum == 2 && pair[1] == 2 ? 0 : 1;
}
