/* Every rank but 0 sends one number per iteration, without waiting for anything; rank 0 takes in as
 * many per iteration as there are senders, whoever they come from. Over the whole run each number
 * is counted once, so the sums do not depend on the order. Over a part of the run they do: a fast
 * sender's next number may be counted in the place of a slow one's. Only a point where all ranks
 * have met has none under way and none too many: a checkpoint that does not make them meet is wrong
 * here. The last rank is slow, if asked to be. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>

#define TAG_NUMBER 3
#define NUMBERS_MAX 4096

struct tally {
    int rank;
    int ranks;
    int size; /* numbers per message; the first counts, the others are ballast */
    uint64_t iteration;
    uint64_t sum;   /* rank 0: of all numbers so far */
    uint64_t count; /* rank 0: of all messages so far */
    uint64_t number[NUMBERS_MAX];
};

static void count_one(struct tally *tally)
{
    MPI_Recv(tally->number, tally->size, MPI_UINT64_T, MPI_ANY_SOURCE, TAG_NUMBER, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    tally->sum += tally->number[0];
    tally->count++;
}

static void send_one(struct tally *tally)
{
    uint64_t index = tally->iteration * (uint64_t)tally->ranks + (uint64_t)tally->rank;
    for (int i = 0; i < tally->size; i++)
        tally->number[i] = (index + 1) * 0x9e3779b97f4a7c15u + (uint64_t)i;
    MPI_Send(tally->number, tally->size, MPI_UINT64_T, 0, TAG_NUMBER, MPI_COMM_WORLD);
}

static void run(struct tally *tally, long iterations, long compute_us, long slow_us)
{
    checkpoint_register("iteration", &tally->iteration, sizeof tally->iteration);
    checkpoint_register("sum", &tally->sum, sizeof tally->sum);
    checkpoint_register("count", &tally->count, sizeof tally->count);
    checkpoint_restore();

    while (tally->iteration < (uint64_t)iterations) {
        program_compute(tally->rank == tally->ranks - 1 ? slow_us : compute_us);
        if (tally->rank != 0)
            send_one(tally);
        for (int sender = 1; tally->rank == 0 && sender < tally->ranks; sender++)
            count_one(tally);
        tally->iteration++;
        potential_checkpoint();
    }

    if (tally->rank == 0) {
        faultline_result("sum", &tally->sum, sizeof tally->sum);
        faultline_result("count", &tally->count, sizeof tally->count);
        printf("tally: %llu messages, sum %016llx\n", (unsigned long long)tally->count,
               (unsigned long long)tally->sum);
    }
}

int main(int argc, char **argv)
{
    long iterations = 40, size = 1, compute_us = 0, slow_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000000, "messages of each sender"},
        {"size", &size, 1, NUMBERS_MAX, "numbers per message"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per message"},
        {"slow-us", &slow_us, 0, 10000000, "the same, for the last rank"},
    };
    static struct tally tally;
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "tally", options, sizeof options / sizeof *options) &&
        program_ranks("tally", 2)) {
        tally.size = (int)size;
        MPI_Comm_rank(MPI_COMM_WORLD, &tally.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &tally.ranks);
        run(&tally, iterations, compute_us, slow_us);
        status = 0;
    }
    MPI_Finalize();
    return status;
}
