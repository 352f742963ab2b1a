/* Of the program `collectives`: what is done in each step, drawn from the seed, and the numbers
 * that are sent in it, which whoever receives them can compute. Must not know: MPI's collective
 * calls. */
#ifndef COLLECTIVES_PLAN_H
#define COLLECTIVES_PLAN_H

#include "constructing.h"
#include "program.h"

#include <stdint.h>

#define LARGE 40 /* how many times the usual size one call in LARGE_EVERY may have */
#define LARGE_EVERY 6
#define CHANGE_EVERY 7
#define WINDOW 3 /* steps in which a message may be received: its own and those before */
#define MESSAGE_NUMBERS 40
#define HOLE 0x6f6e6f6e6f6e6f6eu /* in what no datatype covers */

/* How a call is made: --nonblocking, or drawn. */
enum way { BLOCKING, NONBLOCKING, PERSISTENT, WAYS, EACH_WAY = -1 };

enum which { WORLD, HALF, REVERSED, CHANGING, COMMS };
enum { TAG_MESSAGE = 1 };

/* What a checkpoint must keep. */
struct kept {
    uint64_t step;
    uint64_t sum;
    uint64_t wrong;
    bool has_changing; /* the first communicator that changes is made */
    MPI_Comm comm[COMMS];
    MPI_Request sending[WINDOW];
    MPI_Request none; /* MPI_REQUEST_NULL */
    uint64_t out[WINDOW][MESSAGE_NUMBERS];
};

/* How numbers lie in memory: close together, or every second one. */
struct layout {
    MPI_Datatype type;
    int stride; /* numbers */
};

static struct {
    int rank;
    int ranks;
    uint64_t seed;
    long steps;
    long size;
    long messages;
    long only; /* this call alone; 0: all */
    long way;
    long constructors; /* below which the communicator that changes is made; 0: by MPI_Comm_split */
    long
        late; /* the communicators are made after checkpoint_restore, for protocols that ask that */
    struct layout close, spread;
    MPI_Datatype pair;  /* of numbers: a map x -> a * x + b */
    MPI_Op compose;     /* of maps: not commutative */
    MPI_Op exclusive;   /* the user's own "exclusive or": commutative */
    uint64_t collected; /* what this step adds to the sum */
    struct kept kept;
} self;

/* The call of a step on one communicator. */
struct call {
    MPI_Comm comm;
    int size;
    int rank;
    int root;
    int *world;   /* ranks of the members in MPI_COMM_WORLD; owned */
    int *counts;  /* of varying pieces, in numbers; owned */
    int *offsets; /* owned */
    int count;    /* of pieces of one size, in numbers */
    int total;    /* of the varying ones */
    bool in_place;
    enum way way;
    struct layout sent, received;
};

/* --- the plan --------------------------------------------------------------------------------- */

/* The same on every rank: a number below `below`. */
static int draw(uint64_t step, int question, int below)
{
    return (int)(program_mix(program_mix(self.seed, step), (uint64_t)question) % (uint64_t)below);
}

enum {
    ASK_CALL,
    ASK_COMM,
    ASK_ROOT,
    ASK_COUNT,
    ASK_LARGE,
    ASK_IN_PLACE,
    ASK_OPERATION,
    ASK_FROM,
    ASK_TO,
    ASK_LATER,
    ASK_NUMBERS,
    ASK_CHANGE,
    ASK_FREE,
    ASK_WAY = 90,
    ASK_LAYOUT = 100, /* and the rank */
    ASK_VARYING = 10000
};

/* A count that every member of the communicator knows. */
static int draw_count(uint64_t step, int question)
{
    int most = (int)self.size;
    if (draw(step, ASK_LARGE, LARGE_EVERY) == 0)
        most *= LARGE;
    return draw(step, question, most + 1);
}

static void call_begin(struct call *call)
{
    uint64_t step = self.kept.step;
    MPI_Group group, everybody;
    call->comm = self.kept.comm[draw(step, ASK_COMM, COMMS)];
    if (call->comm == MPI_COMM_NULL) /* a program that makes none */
        call->comm = MPI_COMM_WORLD;
    MPI_Comm_size(call->comm, &call->size);
    MPI_Comm_rank(call->comm, &call->rank);
    call->world = program_memory((size_t)call->size, 4 * sizeof(int));
    call->counts = call->world + call->size;
    call->offsets = call->counts + call->size;
    int *ranks = call->offsets + call->size;
    for (int i = 0; i < call->size; i++)
        ranks[i] = i;
    MPI_Comm_group(call->comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &everybody);
    MPI_Group_translate_ranks(group, call->size, ranks, everybody, call->world);
    MPI_Group_free(&group);
    MPI_Group_free(&everybody);
    call->root = draw(step, ASK_ROOT, call->size);
    call->count = draw_count(step, ASK_COUNT);
    call->total = 0;
    for (int i = 0; i < call->size; i++) {
        call->counts[i] = draw_count(step, ASK_VARYING + call->world[i]);
        call->offsets[i] = call->total;
        call->total += call->counts[i];
    }
    call->in_place = draw(step, ASK_IN_PLACE, 3) == 0;
    call->way = (enum way)(self.way == EACH_WAY ? draw(step, ASK_WAY, WAYS) : self.way);
    call->sent = draw(step, ASK_LAYOUT + 2 * self.rank, 2) ? self.close : self.spread;
    call->received = draw(step, ASK_LAYOUT + 2 * self.rank + 1, 2) ? self.close : self.spread;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Number `index` of what `from` sends to `to` (world ranks; 0 where it is the same for all) in this
 * step. Number 0 is the sender's sum, which nobody else can know. */
static uint64_t number(int from, int to, int index)
{
    uint64_t what = (uint64_t)from << 48 | (uint64_t)to << 32 | (uint64_t)index;
    return program_mix(program_mix(self.seed, ~self.kept.step), what);
}

/* Room for so many numbers, and nothing in it. Owned by the caller: free. */
static uint64_t *room(int numbers, struct layout layout)
{
    int all = numbers * layout.stride;
    uint64_t *made = program_memory((size_t)all + 1, sizeof *made);
    for (int i = 0; i < all; i++)
        made[i] = HOLE;
    return made;
}

static void fill(uint64_t *buffer, struct layout layout, int numbers, int to)
{
    for (int i = 0; i < numbers; i++)
        buffer[i * layout.stride] = i == 0 ? self.kept.sum : number(self.rank, to, i);
}

static void collect(uint64_t value)
{
    self.collected = program_mix(self.collected, value);
}

static void expect(uint64_t value, uint64_t expected)
{
    collect(value);
    self.kept.wrong += value != expected;
}

/* What `from` has sent to this rank, or to all (`to` 0). */
static void check(const uint64_t *buffer, struct layout layout, int numbers, int from, int to)
{
    for (int i = 0; i < numbers; i++) {
        const uint64_t *at = buffer + i * layout.stride;
        if (i == 0)
            collect(at[0]);
        else
            expect(at[0], number(from, to, i));
        for (int k = 1; k < layout.stride; k++)
            self.kept.wrong += at[k] != HOLE;
    }
}

#endif
