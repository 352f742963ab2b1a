/* The mix of messages of OpenAtom: in every step as many bytes go by multicast (Bcast), by
 * reduction (Reduce) and point to point (each rank to another). What goes is a vector whose last
 * element is the sum of the others, which stays so when vectors are added: every vector that comes
 * is checked.
 */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#define TAG_TRANSPOSE 1

struct state {
    int rank;
    int ranks;
    int size;          /* elements, with the sum */
    uint64_t *own;     /* registered */
    uint64_t *arrived; /* what came last */
    uint64_t iteration;
    uint64_t wrong; /* vectors that came with another sum */
};

static uint64_t sum_of(const struct state *state, const uint64_t *vector)
{
    uint64_t sum = 0;
    for (int i = 0; i < state->size - 1; i++)
        sum += vector[i];
    return sum;
}

static void state_init(struct state *state, int size)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &state->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &state->ranks);
    state->size = size;
    state->own = program_memory((size_t)size, sizeof *state->own);
    state->arrived = program_memory((size_t)size, sizeof *state->arrived);
    for (int i = 0; i < size - 1; i++)
        state->own[i] = program_mix((uint64_t)state->rank, (uint64_t)i);
    state->own[size - 1] = sum_of(state, state->own);
}

/* What has come is checked, and added `times` times. */
static void take(struct state *state, uint64_t times)
{
    state->wrong += sum_of(state, state->arrived) != state->arrived[state->size - 1];
    for (int i = 0; i < state->size; i++)
        state->own[i] += times * state->arrived[i];
}

static void multicast(struct state *state, int root)
{
    if (state->rank == root)
        memcpy(state->arrived, state->own, (size_t)state->size * sizeof *state->own);
    MPI_Bcast(state->arrived, state->size, MPI_UINT64_T, root, MPI_COMM_WORLD);
    take(state, 3);
}

static void reduce(struct state *state, int root)
{
    MPI_Reduce(state->own, state->arrived, state->size, MPI_UINT64_T, MPI_SUM, root,
               MPI_COMM_WORLD);
    if (state->rank == root)
        take(state, 5);
}

static void transpose(struct state *state)
{
    int away = state->ranks == 1 ? 0 : 1 + (int)(state->iteration % (uint64_t)(state->ranks - 1));
    int to = (state->rank + away) % state->ranks;
    int from = (state->rank + state->ranks - away) % state->ranks;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(state->arrived, state->size, MPI_UINT64_T, from, TAG_TRANSPOSE, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(state->own, state->size, MPI_UINT64_T, to, TAG_TRANSPOSE, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Waitall(2, requests, statuses);
    take(state, 7);
}

static int run(struct state *state, long iterations, long compute_us)
{
    checkpoint_register("iteration", &state->iteration, sizeof state->iteration);
    checkpoint_register("wrong", &state->wrong, sizeof state->wrong);
    checkpoint_register("own", state->own, (size_t)state->size * sizeof *state->own);
    checkpoint_restore();
    while (state->iteration < (uint64_t)iterations) {
        int root = (int)(state->iteration % (uint64_t)state->ranks);
        program_compute(compute_us);
        multicast(state, root);
        reduce(state, state->ranks - 1 - root);
        transpose(state);
        state->iteration++;
        potential_checkpoint();
    }
    uint64_t hash = 0, wrong = 0;
    for (int i = 0; i < state->size; i++)
        hash = program_mix(hash, state->own[i]);
    MPI_Allreduce(&state->wrong, &wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    faultline_result("vector", &hash, sizeof hash);
    faultline_result("wrong", &wrong, sizeof wrong);
    if (state->rank == 0)
        printf("openatom: %ld iterations, %llu vectors wrong\n", iterations,
               (unsigned long long)wrong);
    return wrong == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    long iterations = 10, size = 64, compute_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000, "steps"},
        {"size", &size, 2, 10000000, "elements of a vector"},
        {"compute-us", &compute_us, 0, 1000000, "microseconds that each step takes more, asleep"},
    };
    struct state state = {0};
    int status = PROGRAM_EXIT_USAGE;
    MPI_Init(&argc, &argv);
    if (program_options(argc, argv, "openatom", options, sizeof options / sizeof options[0])) {
        state_init(&state, (int)size);
        status = run(&state, iterations, compute_us);
        free(state.own);
        free(state.arrived);
    }
    MPI_Finalize();
    return status;
}
