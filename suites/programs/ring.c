/* A token goes round the ranks, one lap per iteration. Every rank adds a number that depends on all
 * the token holds, so the token grows with each hop and no hop can be left out or done twice
 * unseen. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>

#define TAG_TOKEN 7
#define TOKEN_MAX_NUMBERS (1 << 26)

struct ring {
    int rank;
    int ranks;
    int length;      /* numbers in the token when it was last here */
    int room;        /* numbers that fit */
    uint64_t *token; /* room */
    uint64_t lap;
};

static void ring_init(struct ring *ring, int size, int room)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &ring->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ring->ranks);
    ring->length = size;
    ring->room = room;
    ring->lap = 0;
    ring->token = program_memory((size_t)room, sizeof(uint64_t));
    for (int i = 0; i < size; i++)
        ring->token[i] = (uint64_t)i * 0x9e3779b97f4a7c15u;
}

static void receive(struct ring *ring, int from)
{
    MPI_Status status;
    MPI_Recv(ring->token, ring->room, MPI_UINT64_T, from, TAG_TOKEN, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_UINT64_T, &ring->length);
}

/* Appends a number made of this rank's and of all that are there. */
static void append(struct ring *ring)
{
    uint64_t sum = (uint64_t)ring->rank + 1;
    for (int i = 0; i < ring->length; i++)
        sum = sum * 6364136223846793005u + ring->token[i];
    ring->token[ring->length++] = sum;
}

static void send(struct ring *ring, int to)
{
    MPI_Send(ring->token, ring->length, MPI_UINT64_T, to, TAG_TOKEN, MPI_COMM_WORLD);
}

/* One lap: rank 0 starts it and takes the token in again at its end. */
static void turn(struct ring *ring, long compute_us)
{
    int before = (ring->rank + ring->ranks - 1) % ring->ranks;
    int after = (ring->rank + 1) % ring->ranks;
    if (ring->rank != 0)
        receive(ring, before);
    program_compute(compute_us);
    append(ring);
    send(ring, after);
    if (ring->rank == 0)
        receive(ring, before);
}

static void run(struct ring *ring, long laps, long compute_us)
{
    checkpoint_register("lap", &ring->lap, sizeof ring->lap);
    checkpoint_register("length", &ring->length, sizeof ring->length);
    checkpoint_register("token", ring->token, (size_t)ring->room * sizeof(uint64_t));
    checkpoint_restore();

    while (ring->lap < (uint64_t)laps) {
        turn(ring, compute_us);
        ring->lap++;
        potential_checkpoint();
    }

    faultline_result("token", ring->token, (size_t)ring->length * sizeof(uint64_t));
    if (ring->rank == 0)
        printf("ring: %ld laps, %d numbers, last %016llx\n", laps, ring->length,
               (unsigned long long)ring->token[ring->length - 1]);
}

/* 0 if the token of a whole run would not fit. */
static int room_needed(long laps, long size)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return laps <= (TOKEN_MAX_NUMBERS - size) / ranks ? (int)(size + laps * ranks) : 0;
}

int main(int argc, char **argv)
{
    long iterations = 40, size = 16, compute_us = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000, "laps"},
        {"size", &size, 1, 1 << 20, "numbers in the token at the start"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per hop"},
    };
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "ring", options, sizeof options / sizeof *options) &&
        program_ranks("ring", 2)) {
        int room = room_needed(iterations, size);
        struct ring ring;
        if (room > 0) {
            ring_init(&ring, (int)size, room);
            run(&ring, iterations, compute_us);
            free(ring.token);
            status = 0;
        } else {
            fprintf(stderr, "ring: a token of so many laps has more than %d numbers\n",
                    TOKEN_MAX_NUMBERS);
        }
    }
    MPI_Finalize();
    return status;
}
