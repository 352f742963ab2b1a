/* Two streams run round the ranks in opposite directions. What goes to the right is taken in
 * `depth` iterations after it was sent, so some of it is under way whenever a rank may take a
 * checkpoint, and its sends may be outstanding; what goes to the left is taken in at once, so that
 * a rank that is late with its checkpoint has received what was sent after its neighbour's. What a
 * rank sends depends on all it has received, and each message says which one it is. With --one-way
 * there is one stream, from the first rank to the last, and nobody tells the first one anything. */
#include "checkpoint.h"
#include "faultline.h"
#include "program.h"

#include <stdint.h>

#define TAG_RIGHT 11
#define TAG_LEFT 12
#define NUMBERS_MAX 65536
#define DEPTH_MAX 8

/* The first numbers of a message; the others follow from the last of these. */
enum head { HEAD_SENDER, HEAD_ITERATION, HEAD_SUM, HEAD_NUMBERS };

struct pipeline {
    int rank;
    int ranks;
    int left;
    int right;
    int depth;
    int size; /* numbers in a message, the head included */
    uint64_t iteration;
    uint64_t sum; /* of all received so far */
    uint64_t wrong;
    bool posts;                     /* receives what goes to the right before it may be there */
    bool synchronous;               /* sends to the right with MPI_Issend; one way with MPI_Ssend */
    bool one_way;                   /* from the first rank to the last alone */
    MPI_Request sending[DEPTH_MAX]; /* to the right, by iteration modulo depth */
    uint64_t *outgoing;             /* their messages: depth rows of size */
    MPI_Request receiving[DEPTH_MAX]; /* from the left, likewise */
    uint64_t *incoming;
    MPI_Request none; /* MPI_REQUEST_NULL */
    uint64_t *to_left;
    uint64_t *in;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 29);
}

static void fill(const struct pipeline *pipe, uint64_t *message, int tag)
{
    message[HEAD_SENDER] = (uint64_t)pipe->rank;
    message[HEAD_ITERATION] = pipe->iteration;
    message[HEAD_SUM] = mix(pipe->sum + (uint64_t)pipe->rank, (uint64_t)tag);
    for (int i = HEAD_NUMBERS; i < pipe->size; i++)
        message[i] = mix(message[HEAD_SUM], (uint64_t)i);
}

/* The message of that iteration and sender, whole; else it is counted as wrong. */
static void take(struct pipeline *pipe, const uint64_t *message, int sender, uint64_t iteration)
{
    bool right = message[HEAD_SENDER] == (uint64_t)sender && message[HEAD_ITERATION] == iteration;
    for (int i = HEAD_NUMBERS; i < pipe->size; i++)
        right = right && message[i] == mix(message[HEAD_SUM], (uint64_t)i);
    if (!right) {
        fprintf(stderr,
                "pipeline: rank %d wants message %llu of rank %d, and got %llu of %llu or a "
                "damaged one\n",
                pipe->rank, (unsigned long long)iteration, sender,
                (unsigned long long)message[HEAD_ITERATION],
                (unsigned long long)message[HEAD_SENDER]);
        pipe->wrong++;
    }
    pipe->sum = mix(pipe->sum, message[HEAD_SUM]);
}

static void send_right(struct pipeline *pipe)
{
    size_t place = pipe->iteration % (uint64_t)pipe->depth;
    uint64_t *message = pipe->outgoing + place * (size_t)pipe->size;
    MPI_Wait(&pipe->sending[place], MPI_STATUS_IGNORE); /* of depth iterations ago */
    fill(pipe, message, TAG_RIGHT);
    (pipe->synchronous ? MPI_Issend : MPI_Isend)(message, pipe->size, MPI_UINT64_T, pipe->right,
                                                 TAG_RIGHT, MPI_COMM_WORLD, &pipe->sending[place]);
}

static void post_right(struct pipeline *pipe)
{
    size_t place = pipe->iteration % (uint64_t)pipe->depth;
    MPI_Irecv(pipe->incoming + place * (size_t)pipe->size, pipe->size, MPI_UINT64_T, pipe->left,
              TAG_RIGHT, MPI_COMM_WORLD, &pipe->receiving[place]);
}

static void receive_right(struct pipeline *pipe, uint64_t iteration)
{
    size_t place = iteration % (uint64_t)pipe->depth;
    if (pipe->posts) {
        MPI_Wait(&pipe->receiving[place], MPI_STATUS_IGNORE);
        take(pipe, pipe->incoming + place * (size_t)pipe->size, pipe->left, iteration);
        return;
    }
    MPI_Recv(pipe->in, pipe->size, MPI_UINT64_T, pipe->left, TAG_RIGHT, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    take(pipe, pipe->in, pipe->left, iteration);
}

static void exchange_left(struct pipeline *pipe)
{
    MPI_Request receive;
    fill(pipe, pipe->to_left, TAG_LEFT);
    MPI_Irecv(pipe->in, pipe->size, MPI_UINT64_T, pipe->right, TAG_LEFT, MPI_COMM_WORLD, &receive);
    MPI_Send(pipe->to_left, pipe->size, MPI_UINT64_T, pipe->left, TAG_LEFT, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    take(pipe, pipe->in, pipe->right, pipe->iteration);
}

/* An iteration of the one-way stream: a message from the left, and then one to the right. */
static void pass_on(struct pipeline *pipe)
{
    if (pipe->rank > 0) {
        MPI_Recv(pipe->in, pipe->size, MPI_UINT64_T, pipe->left, TAG_RIGHT, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        take(pipe, pipe->in, pipe->left, pipe->iteration);
    } else {
        pipe->sum = mix(pipe->sum, pipe->iteration);
    }
    if (pipe->right == 0)
        return;
    fill(pipe, pipe->outgoing, TAG_RIGHT);
    (pipe->synchronous ? MPI_Ssend : MPI_Send)(pipe->outgoing, pipe->size, MPI_UINT64_T,
                                               pipe->right, TAG_RIGHT, MPI_COMM_WORLD);
}

/* Of depth iterations ago first: its sender may be waiting for that. */
static void turn(struct pipeline *pipe)
{
    if (pipe->iteration >= (uint64_t)pipe->depth)
        receive_right(pipe, pipe->iteration - (uint64_t)pipe->depth);
    if (pipe->posts)
        post_right(pipe);
    if (pipe->synchronous) /* then its answer may come as late as in the checkpoint */
        exchange_left(pipe);
    send_right(pipe);
    if (!pipe->synchronous)
        exchange_left(pipe);
}

static void drain(struct pipeline *pipe, uint64_t iterations)
{
    uint64_t depth = (uint64_t)pipe->depth;
    for (uint64_t i = iterations < depth ? 0 : iterations - depth; i < iterations; i++)
        receive_right(pipe, i);
    MPI_Status status[DEPTH_MAX];
    MPI_Waitall(pipe->depth, pipe->sending, status);
}

static void register_state(struct pipeline *pipe)
{
    checkpoint_register("iteration", &pipe->iteration, sizeof pipe->iteration);
    checkpoint_register("sum", &pipe->sum, sizeof pipe->sum);
    checkpoint_register("wrong", &pipe->wrong, sizeof pipe->wrong);
    checkpoint_register("sending", pipe->sending, sizeof pipe->sending);
    size_t rows = (size_t)(pipe->depth * pipe->size) * sizeof *pipe->outgoing;
    checkpoint_register("outgoing", pipe->outgoing, rows);
    checkpoint_register("receiving", pipe->receiving, sizeof pipe->receiving);
    checkpoint_register("incoming", pipe->incoming, rows);
    checkpoint_register("none", &pipe->none, sizeof pipe->none);
}

static void restore(struct pipeline *pipe)
{
    pipe->none = MPI_REQUEST_NULL;
    checkpoint_restore();
    program_renew_requests(pipe->none, pipe->sending, DEPTH_MAX);
    program_renew_requests(pipe->none, pipe->receiving, DEPTH_MAX);
    pipe->none = MPI_REQUEST_NULL;
}

static int run(struct pipeline *pipe, long iterations, long compute_us, long slow_us)
{
    register_state(pipe);
    restore(pipe);

    while (pipe->iteration < (uint64_t)iterations) {
        program_compute(pipe->rank == pipe->ranks - 1 ? slow_us : compute_us);
        (pipe->one_way ? pass_on : turn)(pipe);
        pipe->iteration++;
        potential_checkpoint();
    }
    if (!pipe->one_way)
        drain(pipe, (uint64_t)iterations);

    faultline_result("sum", &pipe->sum, sizeof pipe->sum);
    faultline_result("wrong", &pipe->wrong, sizeof pipe->wrong);
    if (pipe->rank == 0)
        printf("pipeline: %ld iterations, sum %016llx\n", iterations,
               (unsigned long long)pipe->sum);
    return pipe->wrong == 0 ? 0 : 1;
}

static void open_pipeline(struct pipeline *pipe, long size, long depth)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &pipe->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &pipe->ranks);
    pipe->left = (pipe->rank + pipe->ranks - 1) % pipe->ranks;
    pipe->right = (pipe->rank + 1) % pipe->ranks;
    pipe->depth = (int)depth;
    pipe->size = (int)size;
    for (int i = 0; i < DEPTH_MAX; i++)
        pipe->sending[i] = pipe->receiving[i] = MPI_REQUEST_NULL;
    pipe->outgoing = program_memory((size_t)(depth * size), sizeof *pipe->outgoing);
    pipe->incoming = program_memory((size_t)(depth * size), sizeof *pipe->incoming);
    pipe->to_left = program_memory((size_t)size, sizeof *pipe->to_left);
    pipe->in = program_memory((size_t)size, sizeof *pipe->in);
}

int main(int argc, char **argv)
{
    long iterations = 60, size = 32, depth = 3, compute_us = 1000, slow_us = 2000, posts = 0,
         synchronous = 0, one_way = 0;
    const struct program_option options[] = {
        {"iterations", &iterations, 1, 1000000000, "messages of each rank in each direction"},
        {"size", &size, HEAD_NUMBERS, NUMBERS_MAX, "numbers in a message"},
        {"depth", &depth, 1, DEPTH_MAX, "messages under way to the right"},
        {"posts", &posts, 0, 1, "1: their receives are there before them, as many at once"},
        {"synchronous", &synchronous, 0, 1, "1: they are sent with MPI_Issend"},
        {"one-way", &one_way, 0, 1, "1: from the first rank to the last, by blocking calls"},
        {"compute-us", &compute_us, 0, 10000000, "microseconds of work per iteration"},
        {"slow-us", &slow_us, 0, 10000000, "the same, for the last rank"},
    };
    static struct pipeline pipe;
    MPI_Init(&argc, &argv);
    int status = PROGRAM_EXIT_USAGE;
    if (program_options(argc, argv, "pipeline", options, sizeof options / sizeof *options) &&
        program_ranks("pipeline", 2)) {
        open_pipeline(&pipe, size, depth);
        pipe.posts = posts != 0;
        pipe.synchronous = synchronous != 0;
        pipe.one_way = one_way != 0;
        status = run(&pipe, iterations, compute_us, slow_us);
        free(pipe.outgoing);
        free(pipe.incoming);
        free(pipe.to_left);
        free(pipe.in);
    }
    MPI_Finalize();
    return status;
}
