/* What is sent depends on random numbers and on the clock: on draws that would come out differently
 * a second time, and are given to the protocol with checkpoint_decision. How long each message is,
 * what is in it and in which order the others are served is drawn; what a rank has received goes
 * into what it sends next. Every rank keeps a hash of all it has sent to each other rank, and of
 * all it has received from each; in the end the two must agree. Only that is declared as the
 * result, for the values differ from run to run. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>
#include <sys/random.h>

#define RANKS_MAX 64
#define NUMBERS_MAX 65536
#define TAGS 10000 /* no rank is so many iterations ahead of another */

struct random {
    int rank;
    int ranks;
    int size; /* numbers in a message at most */
    uint64_t iteration;
    uint64_t state; /* of all drawn and received so far */
    uint64_t sent[RANKS_MAX];
    uint64_t received[RANKS_MAX];
    uint64_t *out;
    uint64_t *in; /* one of each other rank */
};

static uint64_t hash_of(uint64_t hash, const uint64_t *number, int count)
{
    hash = program_mix(hash, (uint64_t)count);
    for (int i = 0; i < count; i++)
        hash = program_mix(hash, number[i]);
    return hash;
}

static uint64_t draw_number(void)
{
    uint64_t number = 0;
    while (getrandom(&number, sizeof number, 0) != sizeof number)
        ;
    checkpoint_decision("number", &number, sizeof number);
    return number;
}

/* Nanoseconds; their low digits are anybody's guess. */
static uint64_t draw_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    checkpoint_decision("time", &time, sizeof time);
    return time;
}

static int fill(struct random *random)
{
    uint64_t number = draw_number();
    int count = (int)(number % (uint64_t)(random->size + 1));
    for (int i = 0; i < count; i++)
        random->out[i] = program_mix(random->state ^ number, (uint64_t)i);
    return count;
}

static void take(struct random *random, const uint64_t *message, const MPI_Status *status)
{
    int count;
    MPI_Get_count(status, MPI_UINT64_T, &count);
    uint64_t *hash = &random->received[status->MPI_SOURCE];
    *hash = hash_of(*hash, message, count);
    random->state = program_mix(random->state, *hash);
}

/* One message to each other rank, beginning with one that the clock says. */
static void send_all(struct random *random, int tag)
{
    int others = random->ranks - 1, first = (int)(draw_time() % (uint64_t)others);
    for (int i = 0; i < others; i++) {
        int to = (random->rank + 1 + (first + i) % others) % random->ranks;
        int count = fill(random);
        MPI_Send(random->out, count, MPI_UINT64_T, to, tag, MPI_COMM_WORLD);
        random->sent[to] = hash_of(random->sent[to], random->out, count);
    }
}

/* ... and one from each, in the order in which they come. */
static void exchange(struct random *random)
{
    int others = random->ranks - 1, tag = (int)(random->iteration % TAGS), which;
    MPI_Request receive[RANKS_MAX];
    MPI_Status status;
    for (int i = 0; i < others; i++)
        MPI_Irecv(random->in + i * random->size, random->size, MPI_UINT64_T, MPI_ANY_SOURCE, tag,
                  MPI_COMM_WORLD, &receive[i]);
    send_all(random, tag);
    for (int i = 0; i < others; i++) {
        MPI_Waitany(others, receive, &which, &status);
        take(random, random->in + which * random->size, &status);
    }
}

/* How many of the other ranks have received what this one has sent them. */
static int agreeing(const struct random *random)
{
    uint64_t theirs[RANKS_MAX];
    int agree = 0;
    MPI_Alltoall(random->received, 1, MPI_UINT64_T, theirs, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int rank = 0; rank < random->ranks; rank++)
        if (rank != random->rank && theirs[rank] == random->sent[rank])
            agree++;
        else if (rank != random->rank)
            fprintf(stderr, "random: rank %d has sent %016llx to rank %d, which received %016llx\n",
                    random->rank, (unsigned long long)random->sent[rank], rank,
                    (unsigned long long)theirs[rank]);
    return agree;
}

static int run(struct random *random, long iterations, long compute_us)
{
    checkpoint_register("iteration", &random->iteration, sizeof random->iteration);
    checkpoint_register("state", &random->state, sizeof random->state);
    checkpoint_register("sent", random->sent, sizeof random->sent);
    checkpoint_register("received", random->received, sizeof random->received);
    checkpoint_restore();

    while (random->iteration < (uint64_t)iterations) {
        program_compute(compute_us);
        exchange(random);
        random->iteration++;
        potential_checkpoint();
    }

    int agree = agreeing(random);
    faultline_result("agreeing", &agree, sizeof agree);
    if (random->rank == 0)
        printf("random: %ld iterations, %d of %d others have what was sent to them\n", iterations,
               agree, random->ranks - 1);
    return agree == random->ranks - 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    long iterations = 60, size = 64, compute_us = 2000;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000000, "messages between each two ranks"},
        {"size", &size, 0, NUMBERS_MAX, "numbers in a message at most"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per iteration"},
    };
    static struct random random;
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "random", options, sizeof options / sizeof *options) &&
        program_ranks("random", 2)) {
        MPI_Comm_rank(MPI_COMM_WORLD, &random.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &random.ranks);
        random.size = (int)size;
        random.out = program_memory((size_t)size, sizeof *random.out);
        random.in = program_memory((size_t)(size * random.ranks), sizeof *random.in);
        if (random.ranks <= RANKS_MAX)
            status = run(&random, iterations, compute_us);
        else if (random.rank == 0)
            fprintf(stderr, "random: at most %d ranks\n", RANKS_MAX);
        free(random.out);
        free(random.in);
    }
    MPI_Finalize();
    return status;
}
