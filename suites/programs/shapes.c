/* Small programs of the communication shapes for which other model checkers have published how many
 * schedules they went through (suites/explore/README.md). The first argument says which:
 *
 *   gather     rank 0 takes a message of each other rank, from anybody
 *   last       the same, and it expects that of the last rank to be the last
 *   answered   as gather, and it answers each
 *   pairs      each other rank sends two, rank 0 takes all: one of the first two is to be rank 1's
 *   whole      rank 0 takes rank 1's and rank 2's with MPI_Waitany, and expects the second greater
 *   early      the same, but it looks when one of them has come
 *   looks      rank 0 asks at most ten times whether a message is there, and then receives it
 *   thrice     rank 0 asks three times, receives what is there, and expects to have got something
 *   crossed    two ranks send to each other, then receive
 *   posted     a receive from anybody is posted: a deadlock if it takes the message of rank 1
 *   single     two ranks exchange a message with MPI_ANY_SOURCE, though only one can send it
 *   sum        all ranks meet in MPI_Comm_dup and MPI_Allreduce
 *   server     the last rank answers whoever asks, until rank 0 says that it is over
 *   plate      rank 0 gathers two rows of each other rank, then all exchange borders on a torus
 *   routes     each rank sends to both neighbours on a ring, takes one, sends again, takes three
 *
 * A rank that does not find what it expects ends the job. The second argument `synchronous`: all
 * sends wait until they are received, as without buffers. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG 5
#define LOOKS 10
#define EXIT_USAGE 64

static struct {
    int rank, ranks;
    bool synchronous;
} me;

static void send_to(int to, int number, int tag)
{
    if (me.synchronous)
        MPI_Ssend(&number, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
    else
        MPI_Send(&number, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

/* What came, and in *source, if it is asked for, from whom. */
static int receive(int from, int *source)
{
    MPI_Status status;
    int number;
    MPI_Recv(&number, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (source != NULL)
        *source = status.MPI_SOURCE;
    return number;
}

static void expect(bool found)
{
    if (found)
        return;
    fprintf(stderr, "shapes: what was expected has not come about\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The last number that rank 0 has taken. */
static int take_one_of_each(void)
{
    int number = 0;
    if (me.rank != 0)
        send_to(0, me.rank, TAG);
    for (int i = 1; me.rank == 0 && i < me.ranks; i++)
        number = receive(MPI_ANY_SOURCE, NULL);
    return number;
}

static void gather(void)
{
    take_one_of_each();
}

static void last(void)
{
    int number = take_one_of_each();
    expect(me.rank != 0 || number == me.ranks - 1);
}

static void answered(void)
{
    int source;
    if (me.rank != 0) {
        send_to(0, me.rank, TAG);
        receive(0, NULL);
        return;
    }
    for (int i = 1; i < me.ranks; i++) {
        int number = receive(MPI_ANY_SOURCE, &source);
        send_to(source, number, TAG);
    }
}

static void pairs(void)
{
    int number[2];
    if (me.rank != 0) {
        send_to(0, me.rank, TAG);
        send_to(0, me.rank, TAG);
        return;
    }
    for (int i = 0; i < 2; i++)
        number[i] = receive(MPI_ANY_SOURCE, NULL);
    expect(number[0] == 1 || number[1] == 1);
    for (int i = 2; i < 2 * (me.ranks - 1); i++)
        receive(MPI_ANY_SOURCE, NULL);
}

/* A number is 0 until it has come. */
static void wait_any(bool early)
{
    int number[2] = {0, 0}, index;
    MPI_Request request[2];
    if (me.rank > 0 && me.rank <= 2)
        send_to(0, me.rank, TAG);
    if (me.rank != 0)
        return;
    MPI_Irecv(&number[0], 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(&number[1], 1, MPI_INT, 2, TAG, MPI_COMM_WORLD, &request[1]);
    MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    bool first = number[0] <= number[1];
    MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    expect(early ? first : number[0] <= number[1]);
}

static void whole(void)
{
    wait_any(false);
}

static void early(void)
{
    wait_any(true);
}

static void looks(void)
{
    int there = 0;
    if (me.rank == 1)
        send_to(0, me.rank, TAG);
    if (me.rank != 0)
        return;
    for (int i = 0; i < LOOKS && !there; i++)
        MPI_Iprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    receive(MPI_ANY_SOURCE, NULL);
}

static void thrice(void)
{
    int there, number = 0;
    for (int i = 0; i < 3; i++) {
        if (me.rank == 1)
            send_to(0, me.rank, TAG);
        if (me.rank != 0)
            continue;
        MPI_Iprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (there)
            number = receive(MPI_ANY_SOURCE, NULL);
    }
    if (me.rank == 0)
        expect(number != 0);
}

static void crossed(void)
{
    int other = 1 - me.rank;
    if (me.rank > 1)
        return;
    send_to(other, me.rank, TAG);
    receive(other, NULL);
}

static void posted(void)
{
    MPI_Request request;
    int number;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me.rank == 0) {
        MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        receive(1, NULL);
        send_to(1, me.rank, TAG);
        receive(MPI_ANY_SOURCE, NULL);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (me.rank == 1) {
        send_to(0, me.rank, TAG);
        receive(0, NULL);
        send_to(0, me.rank, TAG);
    } else if (me.rank == 2) {
        send_to(0, me.rank, TAG);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void single(void)
{
    int number = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me.rank == 0)
        MPI_Sendrecv(&me.rank, 1, MPI_INT, 1, TAG, &number, 1, MPI_INT, MPI_ANY_SOURCE, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (me.rank == 1) {
        receive(MPI_ANY_SOURCE, NULL);
        send_to(0, me.rank, TAG);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void sum(void)
{
    MPI_Comm twin;
    int total;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Allreduce(&me.rank, &total, 1, MPI_INT, MPI_SUM, twin);
    MPI_Comm_free(&twin);
}

/* One round of a server of random numbers: a request of 0 ends it. */
static void server(void)
{
    int serves = me.ranks - 1, number = 0, total, source;
    MPI_Comm workers;
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, me.rank == serves ? MPI_UNDEFINED : 0, me.rank, &workers);
    if (me.rank == serves) {
        while (receive(MPI_ANY_SOURCE, &source) != 0)
            send_to(source, source, TAG);
        return;
    }
    send_to(serves, 1, TAG);
    number = receive(serves, NULL);
    MPI_Allreduce(&number, &total, 1, MPI_INT, MPI_SUM, workers);
    MPI_Allreduce(&number, &total, 1, MPI_INT, MPI_MAX, workers);
    if (me.rank == 0)
        send_to(serves, 0, TAG);
    MPI_Comm_free(&workers);
}

/* The torus is two columns wide. */
static void plate(void)
{
    int lines = me.ranks / 2, x = me.rank % 2, y = me.rank / 2;
    int side[4] = {x + 2 * ((y + lines - 1) % lines), x + 2 * ((y + 1) % lines), (1 - x) + 2 * y,
                   (1 - x) + 2 * y};
    for (int row = 0; row < 2 && me.rank != 0; row++)
        send_to(0, me.rank, row);
    for (int i = 0; i < 2 * (me.ranks - 1) && me.rank == 0; i++)
        receive(MPI_ANY_SOURCE, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) {
        send_to(side[i], me.rank, TAG);
        receive(side[i ^ 1], NULL);
    }
}

static void routes(void)
{
    int before = (me.rank + me.ranks - 1) % me.ranks, after = (me.rank + 1) % me.ranks;
    for (int round = 0; round < 2; round++) {
        send_to(before, me.rank, TAG);
        send_to(after, me.rank, TAG);
        for (int i = 0; i < (round == 0 ? 1 : 3); i++)
            receive(MPI_ANY_SOURCE, NULL);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
    int ranks; /* at least */
} shapes[] = {
    {"gather", gather, 2}, {"last", last, 2},     {"answered", answered, 2},
    {"pairs", pairs, 2},   {"whole", whole, 3},   {"early", early, 3},
    {"looks", looks, 2},   {"thrice", thrice, 2}, {"crossed", crossed, 2},
    {"posted", posted, 3}, {"single", single, 2}, {"sum", sum, 1},
    {"server", server, 2}, {"plate", plate, 4},   {"routes", routes, 2},
};

static void refuse(void)
{
    if (me.rank == 0) {
        fprintf(stderr, "shapes: give one of these, and `synchronous` or nothing:");
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            fprintf(stderr, " %s (%d ranks)", shapes[i].name, shapes[i].ranks);
        fprintf(stderr, "\n");
    }
    MPI_Finalize();
    exit(EXIT_USAGE);
}

int main(int argc, char **argv)
{
    size_t i = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &me.ranks);
    me.synchronous = argc == 3 && strcmp(argv[2], "synchronous") == 0;
    while (i < sizeof shapes / sizeof *shapes && (argc < 2 || strcmp(argv[1], shapes[i].name) != 0))
        i++;
    if (i == sizeof shapes / sizeof *shapes || me.ranks < shapes[i].ranks ||
        (argc > 2 && !me.synchronous))
        refuse();
    shapes[i].run();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
