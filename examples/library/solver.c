/* A program that calls keep: every rank adds what its left neighbour has to what it has itself, and
 * has its state kept every fifth step. */
#include "keep.h"

#include <faultline.h>

#include <stdio.h>
#include <stdlib.h>

#define STEPS 30
#define EVERY 5

int main(int argc, char **argv)
{
    char conf[4096];
    const char *files = getenv("FAULTLINE_FILES");
    struct {
        uint64_t step, mine;
    } state;
    uint64_t theirs;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    snprintf(conf, sizeof conf, "%s/keep.conf", files != NULL ? files : ".");
    MPI_Comm comm = keep_init(conf);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);

    state.step = 0;
    state.mine = (uint64_t)rank + 1;
    keep_protect(&state, sizeof state);
    keep_restart();
    while (state.step < STEPS) {
        MPI_Sendrecv(&state.mine, 1, MPI_UINT64_T, (rank + 1) % ranks, 0, &theirs, 1, MPI_UINT64_T,
                     (rank + ranks - 1) % ranks, 0, comm, MPI_STATUS_IGNORE);
        state.mine = state.mine * 3 + theirs;
        state.step++;
        if (state.step % EVERY == 0)
            keep_checkpoint();
    }

    faultline_result("mine", &state.mine, sizeof state.mine);
    printf("rank %d: %llu\n", rank, (unsigned long long)state.mine);
    keep_finish();
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
