/* In every iteration a communicator, a datatype and an operation are made, used, and freed while
 * calls that use them may still be under way at other ranks, or here: directly after a reduction,
 * and between a receive and its completion. The root goes round the ranks. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#define TAG_TURN 3
#define PAIR 2   /* numbers in an element of the datatype */
#define SPREAD 3 /* the same with the hole between them */

struct freed {
    int rank;
    int ranks;
    int elements;
    uint64_t *value; /* elements * PAIR */
    uint64_t iteration;
};

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const uint64_t *from = in;
    uint64_t *to = inout;
    (void)type;
    for (int i = 0; i < *count * PAIR; i++)
        to[i] += from[i];
}

static size_t numbers(const struct freed *freed)
{
    return (size_t)freed->elements * PAIR;
}

/* The sum of what all have goes into what the root has. */
static void reduce(struct freed *freed, int root)
{
    uint64_t *sum = program_memory(numbers(freed), sizeof *sum);
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(PAIR, MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    MPI_Reduce(freed->value, sum, freed->elements, type, op, root, comm);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    for (size_t i = 0; freed->rank == root && i < numbers(freed); i++)
        freed->value[i] = program_mix(freed->value[i], sum[i]);
    free(sum);
}

/* Until the message has been received; MPI_Wait completes the request later. */
static void wait_until_there(MPI_Request request)
{
    for (int there = 0; !there;)
        MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE);
}

/* What each has goes to the rank after it, which leaves a hole between two numbers of an element.
 * Every other time it is there when its datatype is freed. The library may give the place of that
 * to the next datatype. */
static void turn(struct freed *freed)
{
    int before = (freed->rank + freed->ranks - 1) % freed->ranks;
    int after = (freed->rank + 1) % freed->ranks;
    uint64_t *came = program_memory((size_t)freed->elements * SPREAD, sizeof *came);
    MPI_Datatype type, next;
    MPI_Request receive;
    MPI_Type_vector(PAIR, 1, SPREAD - 1, MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(came, freed->elements, type, before, TAG_TURN, MPI_COMM_WORLD, &receive);
    MPI_Send(freed->value, freed->elements * PAIR, MPI_UINT64_T, after, TAG_TURN, MPI_COMM_WORLD);
    if (freed->iteration % 2 == 1)
        wait_until_there(receive);
    MPI_Type_free(&type);
    MPI_Type_contiguous(1, MPI_CHAR, &next);
    MPI_Type_commit(&next);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Type_free(&next);
    for (size_t i = 0; i < numbers(freed); i++)
        freed->value[i] =
            program_mix(freed->value[i], came[i / PAIR * SPREAD + (i % PAIR) * (SPREAD - 1)]);
    free(came);
}

static void run(struct freed *freed, long iterations, long compute_us)
{
    checkpoint_register("iteration", &freed->iteration, sizeof freed->iteration);
    checkpoint_register("value", freed->value, numbers(freed) * sizeof *freed->value);
    checkpoint_restore();
    while (freed->iteration < (uint64_t)iterations) {
        reduce(freed, (int)(freed->iteration % (uint64_t)freed->ranks));
        program_compute(compute_us);
        turn(freed);
        freed->iteration++;
        potential_checkpoint();
    }
    faultline_result("value", freed->value, numbers(freed) * sizeof *freed->value);
    if (freed->rank == 0)
        printf("freed: %ld iterations, first %016llx\n", iterations,
               (unsigned long long)freed->value[0]);
}

int main(int argc, char **argv)
{
    long iterations = 40, size = 8, compute_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000, "steps"},
        {"size", &size, 1, 1 << 20, "elements of each rank, two numbers each"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per step"},
    };
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "freed", options, sizeof options / sizeof *options)) {
        struct freed freed = {.elements = (int)size};
        MPI_Comm_rank(MPI_COMM_WORLD, &freed.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &freed.ranks);
        freed.value = program_memory(numbers(&freed), sizeof *freed.value);
        for (size_t i = 0; i < numbers(&freed); i++)
            freed.value[i] = program_mix((uint64_t)freed.rank, i);
        run(&freed, iterations, compute_us);
        free(freed.value);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
