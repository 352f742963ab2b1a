/* For tests/replay_store.bats: who makes the folder of a step first leads it, but nobody leads two
 * in a row: so each rank receives in at least every second step, however slow the others are. */
#include "store_common.h"

/* Everybody tries; true: it was this rank. */
static int try_to_lead(int step)
{
    int made = mkdir(in_store("step-", step), 0777) == 0;
    must(made || errno == EEXIST, "mkdir");
    return made;
}

/* The leader tells what is to be added, and all leave a file of what they have then. */
static uint64_t lead(int step, uint64_t state)
{
    uint64_t told = mix((uint64_t)rank, (uint64_t)step);
    for (int to = 0; to < ranks; to++)
        if (to != rank)
            MPI_Send(&told, 1, MPI_UINT64_T, to, step, MPI_COMM_WORLD);
    return mix(state, told);
}

static uint64_t follow(int step, uint64_t state)
{
    uint64_t told;
    MPI_Status status;
    MPI_Recv(&told, 1, MPI_UINT64_T, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &status);
    return mix(state, told + (uint64_t)status.MPI_SOURCE);
}

int main(int argc, char **argv)
{
    char folder[32];
    uint64_t state = 0, saved;
    begin(&argc, &argv);
    int step = 0;
    while (step < STEPS) { /* what is there in full was done in a life before */
        snprintf(folder, sizeof folder, "step-%d/rank-", step);
        int all = 1;
        for (int r = 0; r < ranks; r++)
            all &= read_file(in_store(folder, r), &saved);
        if (all)
            must(read_file(in_store(folder, rank), &state), "state");
        MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!all)
            break;
        step++;
    }
    for (int leads = 0; step < STEPS; step++) {
        /* A folder of a life that died in the step is nobody's: the lowest rank leads. */
        int lives = access(in_store("step-", step), F_OK) == 0;
        MPI_Allreduce(MPI_IN_PLACE, &lives, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        leads = lives > 0 ? rank == 0 : !leads && try_to_lead(step);
        state = leads ? lead(step, state) : follow(step, state);
        snprintf(folder, sizeof folder, "step-%d/rank-", step);
        write_file(in_store(folder, rank), state);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end(state);
}
