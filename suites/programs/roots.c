/* Many collective calls at once, on several communicators and with many roots. A seed draws them.
 * In each step a rank begins some of them, most without blocking, and completes them in an order of
 * its own; so a root of a communicator seldom has two calls in a row, unless it has all of them:
 * then, where most are broadcasts, it goes far ahead. Each result is compared with what it must be.
 * In each step a rank also receives messages of other ranks in any order, and a hash of that order
 * is part of what it gives to broadcasts and gathers. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#define COMMS_MAX 4
#define CALLS_MAX 8
#define RANKS_MAX 64
#define TAG 5

enum kind { BCAST, REDUCE, GATHER, ALLREDUCE, BARRIER, KINDS };

/* A call of a step: the same for all members of the communicator. */
struct call {
    uint64_t drawn;
    int comm, root, rank, size; /* rank: of this process in it */
    enum kind kind;
    uint64_t sent[2], got[2 * RANKS_MAX];
};

static struct {
    uint64_t step, wrong, total;
    uint64_t order; /* a hash of the order of messages */
    uint64_t comms; /* that were made */
    MPI_Comm comm[COMMS_MAX];
} kept;

static int world_rank, world_size;
static long steps = 20, calls = 5, comms = 4, seed = 1, messages = 2, blocking, one_root,
            broadcasts, compute_us;

/* The first is MPI_COMM_WORLD, the second a duplicate of it; the third has its ranks in reverse
 * order, and in the fourth those of odd and of even number are apart. */
static void make_comms(void)
{
    kept.comm[0] = MPI_COMM_WORLD;
    if (comms > 1)
        MPI_Comm_dup(MPI_COMM_WORLD, &kept.comm[1]);
    if (comms > 2)
        MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &kept.comm[2]);
    if (comms > 3)
        MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &kept.comm[3]);
    kept.comms = (uint64_t)comms;
}

static uint64_t value_of(const struct call *call, int rank)
{
    return program_mix(call->drawn, (uint64_t)rank) >> 8;
}

static void begin(struct call *call, int number, MPI_Request *request)
{
    call->drawn = program_mix((uint64_t)seed, kept.step * CALLS_MAX + (uint64_t)number);
    call->comm = (int)(call->drawn % kept.comms);
    call->kind = (long)(program_mix(call->drawn, 1) % 100) < broadcasts
                     ? BCAST
                     : (enum kind)(call->drawn / COMMS_MAX % KINDS);
    MPI_Comm comm = kept.comm[call->comm];
    MPI_Comm_rank(comm, &call->rank);
    MPI_Comm_size(comm, &call->size);
    uint64_t of_root = one_root ? program_mix((uint64_t)seed, (uint64_t)call->comm) : call->drawn;
    call->root = (int)(of_root / 1024 % (uint64_t)call->size);
    call->sent[0] = value_of(call, call->rank);
    call->sent[1] = kept.order;
    bool waits = blocking && call->drawn / 4096 % 3 == 0;
    *request = MPI_REQUEST_NULL;
    switch (call->kind) {
    case BCAST:
        if (waits)
            MPI_Bcast(call->sent, 2, MPI_UINT64_T, call->root, comm);
        else
            MPI_Ibcast(call->sent, 2, MPI_UINT64_T, call->root, comm, request);
        break;
    case REDUCE:
        if (waits)
            MPI_Reduce(call->sent, call->got, 1, MPI_UINT64_T, MPI_SUM, call->root, comm);
        else
            MPI_Ireduce(call->sent, call->got, 1, MPI_UINT64_T, MPI_SUM, call->root, comm, request);
        break;
    case GATHER:
        if (waits)
            MPI_Gather(call->sent, 2, MPI_UINT64_T, call->got, 2, MPI_UINT64_T, call->root, comm);
        else
            MPI_Igather(call->sent, 2, MPI_UINT64_T, call->got, 2, MPI_UINT64_T, call->root, comm,
                        request);
        break;
    case ALLREDUCE:
        if (waits)
            MPI_Allreduce(call->sent, call->got, 1, MPI_UINT64_T, MPI_SUM, comm);
        else
            MPI_Iallreduce(call->sent, call->got, 1, MPI_UINT64_T, MPI_SUM, comm, request);
        break;
    default:
        if (waits)
            MPI_Barrier(comm);
        else
            MPI_Ibarrier(comm, request);
    }
}

/* Compares the result of a call that is complete with what it must be. */
static void check(const struct call *call)
{
    bool right = true, is_root = call->rank == call->root;
    uint64_t sum = 0;
    for (int rank = 0; rank < call->size; rank++)
        sum += value_of(call, rank);
    if (call->kind == BCAST)
        right = call->sent[0] == value_of(call, call->root);
    else if (call->kind == ALLREDUCE || (call->kind == REDUCE && is_root))
        right = call->got[0] == sum;
    for (int rank = 0; call->kind == GATHER && is_root && rank < call->size; rank++)
        right &= call->got[2 * rank] == value_of(call, rank);
    if (!right) {
        kept.wrong++;
        fprintf(stderr,
                "roots: rank %d, step %llu: a call of kind %d, root %d has a wrong result\n",
                world_rank, (unsigned long long)kept.step, (int)call->kind, call->root);
    }
    kept.total += sum;
}

/* Sends to the ranks after this one, and receives from any rank as many messages as come to it. */
static void exchange(void)
{
    MPI_Request request[RANKS_MAX];
    uint64_t sent = kept.step, got;
    MPI_Status status;
    for (int i = 0; i < messages; i++)
        MPI_Isend(&sent, 1, MPI_UINT64_T, (world_rank + i + 1) % world_size, TAG, MPI_COMM_WORLD,
                  &request[i]);
    for (int i = 0; i < messages; i++) {
        MPI_Recv(&got, 1, MPI_UINT64_T, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        kept.order = program_mix(kept.order, (uint64_t)status.MPI_SOURCE + got);
    }
    for (int i = 0; i < messages; i++)
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
}

static void do_step(void)
{
    struct call call[CALLS_MAX];
    MPI_Request request[CALLS_MAX];
    int first = (int)calls / 2;
    for (int i = 0; i < first; i++)
        begin(&call[i], i, &request[i]);
    exchange();
    for (int i = first; i < calls; i++)
        begin(&call[i], i, &request[i]);
    for (int i = 0; i < calls; i++) { /* the order is this rank's own */
        int at = (int)((kept.order + (uint64_t)i) % (uint64_t)calls);
        MPI_Wait(&request[at], MPI_STATUS_IGNORE);
        check(&call[at]);
    }
    program_compute(compute_us);
}

int main(int argc, char **argv)
{
    const struct program_option options[] = {
        {"iterations", &steps, 1, 1000000, "steps"},
        {"calls", &calls, 1, CALLS_MAX, "collective calls in a step"},
        {"communicators", &comms, 1, COMMS_MAX, "the first is MPI_COMM_WORLD"},
        {"messages", &messages, 0, RANKS_MAX, "that a rank sends in a step, each to another"},
        {"blocking", &blocking, 0, 1, "1: a third of the calls block"},
        {"one-root", &one_root, 0, 1, "1: all calls on a communicator have the same root"},
        {"broadcasts", &broadcasts, 0, 100, "percent of the calls; the others are of any kind"},
        {"seed", &seed, 0, 1000000000, "what the calls are drawn from"},
        {"compute-us", &compute_us, 0, 1000000, "time that passes per step, us"},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    bool fits = world_size <= RANKS_MAX;
    if (!fits && world_rank == 0)
        fprintf(stderr, "roots: at most %d ranks, has %d\n", RANKS_MAX, world_size);
    if (!fits || !program_options(argc, argv, "roots", options, sizeof options / sizeof *options)) {
        MPI_Finalize();
        return PROGRAM_EXIT_USAGE;
    }
    if (messages >= world_size)
        messages = world_size - 1;
    checkpoint_register("roots", &kept, sizeof kept);
    checkpoint_restore();
    if (kept.comms == 0)
        make_comms();
    while (kept.step < (uint64_t)steps) {
        do_step();
        kept.step++;
        potential_checkpoint();
    }
    faultline_result("total", &kept.total, sizeof kept.total);
    faultline_result("wrong", &kept.wrong, sizeof kept.wrong);
    for (uint64_t i = 1; i < kept.comms; i++)
        MPI_Comm_free(&kept.comm[i]);
    MPI_Finalize();
    return kept.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
