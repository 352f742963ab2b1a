/* Two ranks: `pingpong latency BYTES [ROUNDS]` prints the half round trip of a message of that size
 * in nanoseconds (ROUNDS: no more in a batch), `pingpong bandwidth` the rate of 4 MiB messages in
 * MB/s. One number on stdout: the best of BATCHES, since all that disturbs a measurement makes it
 * slower. Between two of them is a potential checkpoint, so what a protocol logs is that of one
 * batch or of a few; without a protocol there is none. */
#include "checkpoint.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES 40
#define LATENCY_ROUNDS 5000
#define LATENCY_BATCH_BYTES (64 << 20) /* larger messages: fewer rounds, at least this many */
#define LATENCY_ROUNDS_LEAST 10
#define BANDWIDTH_MESSAGES 30
#define LARGE_BYTES (4 << 20)

static int rank;

static int latency_rounds(int bytes, int most)
{
    int rounds = LATENCY_BATCH_BYTES / bytes;
    return rounds > most ? most : rounds < LATENCY_ROUNDS_LEAST ? LATENCY_ROUNDS_LEAST : rounds;
}

static double latency_batch_ns(char *buffer, int bytes, int rounds)
{
    int peer = 1 - rank;
    double start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0)
            MPI_Send(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / rounds / 2 * 1e9;
}

static double bandwidth_batch_ns(char *buffer)
{
    double start = MPI_Wtime();
    for (int i = 0; i < BANDWIDTH_MESSAGES; i++) {
        if (rank == 0)
            MPI_Send(buffer, LARGE_BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, LARGE_BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / BANDWIDTH_MESSAGES * 1e9;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bool latency = (argc == 3 || argc == 4) && strcmp(argv[1], "latency") == 0;
    int bytes = latency ? atoi(argv[2]) : 0, most = argc == 4 ? atoi(argv[3]) : LATENCY_ROUNDS;
    int bandwidth = argc == 2 && strcmp(argv[1], "bandwidth") == 0;
    if (ranks != 2 || (!bandwidth && (bytes < 1 || bytes > LARGE_BYTES || most < 1))) {
        fprintf(stderr,
                "usage: mpiexec -n 2 pingpong latency BYTES (1 to %d) [ROUNDS] | bandwidth\n",
                LARGE_BYTES);
        MPI_Abort(MPI_COMM_WORLD, 64);
    }
    char *buffer = calloc(1, LARGE_BYTES);
    int rounds = bandwidth ? 0 : latency_rounds(bytes, most);
    double best_ns = 1e30;
    checkpoint_restore();
    for (int batch = 0; batch < BATCHES; batch++) {
        double ns =
            bandwidth ? bandwidth_batch_ns(buffer) : latency_batch_ns(buffer, bytes, rounds);
        if (batch > 0 && ns < best_ns) /* the first one sets up the connection */
            best_ns = ns;
        potential_checkpoint();
    }
    if (rank == 0)
        printf("%.2f\n", bandwidth ? LARGE_BYTES / best_ns * 1e3 : best_ns);
    free(buffer);
    MPI_Finalize();
    return 0;
}
