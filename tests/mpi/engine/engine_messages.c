/* Programs drawn from seeds: messages on several communicators, in all modes of sending, received
 * in all ways that MPI knows, with wildcards, probes, cancelled and persistent requests, and
 * derived types. All ranks draw the same numbers, so each knows what it is to receive: it looks
 * whether that came, for each source in the order in which it was sent. Which source is first is
 * left open; it is in no result. Every rank prints a line for each seed, a hash of what it has
 * received: the lines must be the same whatever library runs it. Exit status 1: something else
 * came. Usage: engine_messages FIRST_SEED SEEDS STEPS */
#include "base/mix.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 5 /* communicators: see open_slots */
#define TAGS 3
#define UNUSED_TAG 9
#define MOST_MESSAGES 14 /* of a step */
#define UNIT 6           /* ints: what fills a whole number of elements of each type */
#define MOST_UNITS 4000  /* of a long message, which is beyond what libraries send at once */
#define LONGEST (UNIT * MOST_UNITS)
#define ROOM (2 * LONGEST + 64) /* ints of a buffer: types have gaps */
#define NOBODY (-1)

enum mode { STANDARD, SYNCHRONOUS, BUFFERED, READY };

struct planned {
    int slot, from, to; /* ranks of the world; to NOBODY: MPI_PROC_NULL */
    int tag, units;
    enum mode mode;
    bool persistent, blocking;
};

static uint64_t seed, drawn;
static int world_rank, world_size;
static MPI_Comm slot[SLOTS];
static MPI_Datatype type[4];
static const int ints_of[4] = {1, 1, 2, 3};
static struct planned plan[MOST_MESSAGES];
static int planned;
static uint64_t received; /* hash of all */
static int out[MOST_MESSAGES][ROOM], in[MOST_MESSAGES][ROOM];

static int draw(int below)
{
    return (int)(mix_two(seed, drawn++) % (uint64_t)below);
}

_Noreturn static void fail(const char *what, int step)
{
    fprintf(stderr, "rank %d, seed %llu, step %d: %s\n", world_rank, (unsigned long long)seed, step,
            what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* --- communicators and types ------------------------------------------------------------------ */

/* The world; the same backwards; the even and the odd ranks; these two joined; each alone. */
static void open_slots(void)
{
    slot[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &slot[1]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &slot[2]);
    MPI_Intercomm_create(slot[2], 0, MPI_COMM_WORLD, 1 - world_rank % 2, 5, &slot[3]);
    slot[4] = MPI_COMM_SELF;
}

static int rank_in(int which, int rank)
{
    switch (which) {
    case 0:
        return rank;
    case 1:
        return world_size - 1 - rank;
    case 4:
        return 0;
    default:
        return rank / 2;
    }
}

static bool can_send(int which, int from, int to)
{
    return which < 2 || (which == 2 && from % 2 == to % 2) || (which == 3 && from % 2 != to % 2) ||
           (which == 4 && from == to);
}

/* One int; one with a gap after it; two with a gap between; three, of which the last is first. */
static void open_types(void)
{
    MPI_Datatype made;
    int lengths[2] = {1, 2}, places[2] = {3, 0};
    MPI_Type_contiguous(1, MPI_INT, &type[0]);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type[1]);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type[2]);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &made);
    MPI_Type_create_resized(made, 0, 4 * sizeof(int), &type[3]);
    MPI_Type_free(&made);
    for (int i = 0; i < 4; i++)
        MPI_Type_commit(&type[i]);
}

/* Where the i-th int of elements of a type lies. */
static int place_of(int which, int i)
{
    static const int third[3] = {3, 0, 1};
    switch (which) {
    case 0:
        return i;
    case 1:
        return 2 * i;
    case 2:
        return i / 2 * 3 + i % 2 * 2;
    default:
        return i / 3 * 4 + third[i % 3];
    }
}

/* --- what is sent ----------------------------------------------------------------------------- */

static int value_of(int message, int i)
{
    return (int)(mix_two(seed * 1000003 + drawn / 1000, (uint64_t)(message * LONGEST + i)) >> 33);
}

static uint64_t hash_of(const int *buffer, int which, int ints)
{
    uint64_t hash = (uint64_t)ints;
    for (int i = 0; i < ints; i++)
        hash = mix_two(hash, (uint64_t)buffer[place_of(which, i)]);
    return hash;
}

static uint64_t hash_planned(int message)
{
    uint64_t hash = (uint64_t)(plan[message].units * UNIT);
    for (int i = 0; i < plan[message].units * UNIT; i++)
        hash = mix_two(hash, (uint64_t)value_of(message, i));
    return hash;
}

static void draw_plan(bool posted_first)
{
    planned = 1 + draw(MOST_MESSAGES);
    for (int i = 0; i < planned; i++) {
        struct planned *m = &plan[i];
        do {
            m->slot = draw(SLOTS);
            m->from = draw(world_size);
            m->to = draw(world_size);
        } while (!can_send(m->slot, m->from, m->to));
        if (draw(12) == 0)
            m->to = NOBODY;
        m->tag = draw(TAGS);
        m->units = draw(24) == 0 ? MOST_UNITS : draw(4);
        m->mode = (enum mode)draw(posted_first ? 4 : 3);
        if (m->mode == BUFFERED && m->units == MOST_UNITS)
            m->mode = STANDARD;
        m->persistent = draw(4) == 0;
        m->blocking = posted_first && draw(2) == 0;
    }
}

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int begin_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void send_one(int message, MPI_Request *request)
{
    static send_function *const at_once[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    static begin_function *const later[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    static begin_function *const again[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
                                            MPI_Rsend_init};
    const struct planned *m = &plan[message];
    int which = (message + m->tag) % 4, count = m->units * UNIT / ints_of[which];
    int to = m->to == NOBODY ? MPI_PROC_NULL : rank_in(m->slot, m->to);
    for (int i = 0; i < m->units * UNIT; i++)
        out[message][place_of(which, i)] = value_of(message, i);
    *request = MPI_REQUEST_NULL;
    if (m->blocking) {
        at_once[m->mode](out[message], count, type[which], to, m->tag, slot[m->slot]);
    } else if (m->persistent) {
        again[m->mode](out[message], count, type[which], to, m->tag, slot[m->slot], request);
        MPI_Start(request);
    } else {
        later[m->mode](out[message], count, type[which], to, m->tag, slot[m->slot], request);
    }
}

static void send_all(MPI_Request *requests)
{
    for (int i = 0; i < planned; i++) {
        requests[i] = MPI_REQUEST_NULL;
        if (plan[i].from == world_rank)
            send_one(i, &requests[i]);
    }
}

/* --- what is received ------------------------------------------------------------------------- */

enum way { BLOCKING, PROBED, TAKEN, POLLED, POLLED_AND_TAKEN, CANCELLED, LATER, AGAIN, WAYS };

/* The receives of a step on one communicator. */
struct inbox {
    int slot, count, message[MOST_MESSAGES]; /* those that are to come, as they were planned */
    enum way way;
    bool any_source, any_tag;
    int type, finish; /* drawn */
    MPI_Status status[MOST_MESSAGES];
    MPI_Request request[MOST_MESSAGES];
};

static void draw_inbox(struct inbox *box, int which, bool posted_first)
{
    *box = (struct inbox){.slot = which};
    for (int i = 0; i < planned; i++)
        if (plan[i].slot == which && plan[i].to == world_rank)
            box->message[box->count++] = i;
    int way = draw(WAYS), any = draw(3);
    box->way = posted_first ? (way % 2 ? LATER : AGAIN) : (enum way)way;
    box->any_source = any > 0;
    box->any_tag = any == 2;
    box->type = draw(4);
    box->finish = draw(9);
}

static int source_asked(const struct inbox *box, int i)
{
    return box->any_source ? MPI_ANY_SOURCE : rank_in(box->slot, plan[box->message[i]].from);
}

static int tag_asked(const struct inbox *box, int i)
{
    return box->any_tag ? MPI_ANY_TAG : plan[box->message[i]].tag;
}

static void receive_cancelled(int *to, int count, MPI_Datatype t, int source, int tag,
                              MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    int cancelled;
    MPI_Irecv(to, count, t, source, tag, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, status);
    MPI_Test_cancelled(status, &cancelled);
    if (cancelled)
        MPI_Recv(to, count, t, source, tag, comm, status);
}

/* The i-th message of the box, in a way that has it when it returns. */
static void receive_now(struct inbox *box, int i)
{
    int *to = in[box->message[i]], count = LONGEST / ints_of[box->type], flag = 0;
    int source = source_asked(box, i), tag = tag_asked(box, i);
    MPI_Datatype t = type[box->type];
    MPI_Comm comm = slot[box->slot];
    MPI_Status *status = &box->status[i];
    MPI_Message message;
    switch (box->way) {
    case PROBED:
        MPI_Probe(source, tag, comm, status);
        MPI_Recv(to, count, t, status->MPI_SOURCE, status->MPI_TAG, comm, status);
        break;
    case POLLED:
        while (!flag)
            MPI_Iprobe(source, tag, comm, &flag, status);
        MPI_Recv(to, count, t, status->MPI_SOURCE, status->MPI_TAG, comm, status);
        break;
    case TAKEN:
        MPI_Mprobe(source, tag, comm, &message, status);
        MPI_Mrecv(to, count, t, &message, status);
        break;
    case POLLED_AND_TAKEN: {
        MPI_Request request;
        while (!flag)
            MPI_Improbe(source, tag, comm, &flag, &message, status);
        MPI_Imrecv(to, count, t, &message, &request);
        MPI_Wait(&request, status);
        break;
    }
    case CANCELLED:
        receive_cancelled(to, count, t, source, tag, comm, status);
        break;
    default:
        MPI_Recv(to, count, t, source, tag, comm, status);
    }
}

static bool is_begun(const struct inbox *box)
{
    return box->way == LATER || box->way == AGAIN;
}

static void begin(struct inbox *box)
{
    int count = LONGEST / ints_of[box->type];
    for (int i = 0; i < box->count; i++)
        (box->way == AGAIN ? MPI_Recv_init : MPI_Irecv)(in[box->message[i]], count, type[box->type],
                                                        source_asked(box, i), tag_asked(box, i),
                                                        slot[box->slot], &box->request[i]);
    if (box->way == AGAIN)
        MPI_Startall(box->count, box->request);
}

/* Those of Waitany, Testany, Waitsome and Testsome: `some` of them until none is left. */
static void finish_some(struct inbox *box)
{
    int left = box->count, flag, done, index[MOST_MESSAGES];
    MPI_Status status[MOST_MESSAGES];
    while (left > 0) {
        done = 1;
        switch (box->finish) {
        case 0:
            MPI_Waitany(box->count, box->request, index, status);
            break;
        case 1:
            MPI_Testany(box->count, box->request, index, &flag, status);
            done = flag;
            break;
        case 2:
            MPI_Waitsome(box->count, box->request, &done, index, status);
            break;
        default:
            MPI_Testsome(box->count, box->request, &done, index, status);
        }
        for (int i = 0; i < done; i++)
            box->status[index[i]] = status[i];
        left -= done;
    }
}

static void finish_each(struct inbox *box)
{
    int flag;
    MPI_Status unseen;
    for (int i = box->count - 1; i >= 0; i--) {
        flag = box->finish == 4;
        while (!flag && box->finish == 5)
            MPI_Test(&box->request[i], &flag, &box->status[i]);
        while (!flag)
            MPI_Request_get_status(box->request[i], &flag, &unseen);
        if (box->finish != 5)
            MPI_Wait(&box->request[i], &box->status[i]);
    }
}

static void finish(struct inbox *box)
{
    int flag = 0;
    if (box->finish < 4)
        finish_some(box);
    else if (box->finish < 7)
        finish_each(box);
    else if (box->finish == 7)
        MPI_Waitall(box->count, box->request, box->status);
    while (box->finish == 8 && !flag)
        MPI_Testall(box->count, box->request, &flag, box->status);
    for (int i = 0; i < box->count && box->way == AGAIN; i++)
        MPI_Request_free(&box->request[i]);
}

/* --- is that what was sent? ------------------------------------------------------------------- */

/* Messages of one source that any of these receives could have got come in the order in which they
 * were sent: those of the same tag, or all where any tag was asked for. */
static uint64_t chain(const struct inbox *box, const uint64_t *hash, const int *from,
                      const int *tag)
{
    uint64_t sum = 0;
    for (int source = 0; source < world_size; source++)
        for (int t = 0; t < (box->any_tag ? 1 : TAGS); t++) {
            uint64_t of_source = 0;
            for (int i = 0; i < box->count; i++)
                if (from[i] == source && (box->any_tag || tag[i] == t))
                    of_source = mix_two(of_source, mix_two(hash[i], (uint64_t)tag[i]));
            sum = mix_two(sum, of_source);
        }
    return sum;
}

static void compare(const struct inbox *box, int step)
{
    uint64_t came[MOST_MESSAGES], sent[MOST_MESSAGES];
    int from[2][MOST_MESSAGES], tag[2][MOST_MESSAGES], elements;
    for (int i = 0; i < box->count; i++) {
        const struct planned *m = &plan[box->message[i]];
        MPI_Get_elements(&box->status[i], type[box->type], &elements);
        if (elements < 0 || elements > LONGEST)
            fail("a count that no message has", step);
        came[i] = hash_of(in[box->message[i]], box->type, elements);
        sent[i] = hash_planned(box->message[i]);
        from[0][i] = box->status[i].MPI_SOURCE;
        from[1][i] = rank_in(box->slot, m->from);
        tag[0][i] = box->status[i].MPI_TAG;
        tag[1][i] = m->tag;
        if ((!box->any_tag && tag[0][i] != m->tag) ||
            (!box->any_source && from[0][i] != from[1][i]))
            fail("a message came that was not asked for", step);
    }
    uint64_t hash = chain(box, came, from[0], tag[0]);
    if (hash != chain(box, sent, from[1], tag[1]))
        fail("what came is not what was sent", step);
    received = mix_two(received, hash);
}

/* --- a step ----------------------------------------------------------------------------------- */

/* A receive that nothing can match, and one of nobody. */
static void receive_nothing(int which, int step)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled, count, nothing;
    MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, UNUSED_TAG, slot[which], &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled)
        fail("a receive that nothing matches is not cancelled", step);
    MPI_Recv(&nothing, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, slot[which], &status);
    MPI_Get_count(&status, MPI_INT, &count);
    if (count != 0 || status.MPI_SOURCE != MPI_PROC_NULL || status.MPI_TAG != MPI_ANY_TAG)
        fail("a receive from MPI_PROC_NULL says something else", step);
}

static void shift(int which, int distance, bool replace, int step)
{
    int rank, size, given[2], got[3] = {0, 0, 0}; /* type[2] has a gap */
    MPI_Status status;
    MPI_Comm_rank(slot[which], &rank);
    MPI_Comm_size(slot[which], &size);
    int to = (rank + distance) % size, from = (rank + size * 8 - distance) % size;
    given[0] = rank;
    given[1] = (int)(seed % 1000);
    if (replace) {
        memcpy(got, given, sizeof given);
        MPI_Sendrecv_replace(got, 2, MPI_INT, to, 1, from, 1, slot[which], &status);
    } else {
        MPI_Sendrecv(given, 2, MPI_INT, to, 1, got, 1, type[2], from, MPI_ANY_TAG, slot[which],
                     &status);
        got[1] = got[2];
    }
    if (got[0] != from || got[1] != given[1] || status.MPI_SOURCE != from || status.MPI_TAG != 1)
        fail("an exchange gives something else", step);
    received = mix_two(received, (uint64_t)got[0]);
}

static void exchange(int step)
{
    static struct inbox box[SLOTS];
    MPI_Request requests[MOST_MESSAGES];
    bool posted_first = draw(2) == 0;
    draw_plan(posted_first);
    drawn = (uint64_t)step * 1000 + 500 + (uint64_t)world_rank * 20;
    for (int i = 0; i < SLOTS; i++)
        draw_inbox(&box[i], i, posted_first);
    for (int i = 0; i < SLOTS && posted_first; i++)
        begin(&box[i]);
    if (posted_first) /* for those that are sent in ready mode */
        MPI_Barrier(MPI_COMM_WORLD);
    send_all(requests);
    for (int i = 0; i < SLOTS; i++) {
        if (is_begun(&box[i]) && !posted_first)
            begin(&box[i]);
        for (int k = 0; k < box[i].count && !is_begun(&box[i]); k++)
            receive_now(&box[i], k);
    }
    for (int i = 0; i < SLOTS; i++)
        if (is_begun(&box[i]))
            finish(&box[i]);
    MPI_Waitall(planned, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < planned; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
    for (int i = 0; i < SLOTS; i++)
        compare(&box[i], step);
    MPI_Barrier(MPI_COMM_WORLD); /* nothing of the next step is taken for something of this one */
}

static void run(int steps)
{
    received = 0;
    for (int step = 0; step < steps; step++) {
        drawn = (uint64_t)step * 1000;
        int what = draw(6), which = draw(SLOTS), distance = draw(4);
        if (what == 0)
            receive_nothing(which, step);
        else if (what == 1 && which != 3)
            shift(which, distance, distance % 2, step);
        else
            exchange(step);
    }
    printf("%d %llu %016llx\n", world_rank, (unsigned long long)seed, (unsigned long long)received);
}

int main(int argc, char **argv)
{
    static char buffer[1 << 20];
    int bytes;
    void *address;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (argc != 4 || world_size < 2)
        fail("usage: engine_messages FIRST_SEED SEEDS STEPS, two ranks or more", 0);
    uint64_t first = strtoull(argv[1], NULL, 10), seeds = strtoull(argv[2], NULL, 10);
    open_slots();
    open_types();
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (seed = first; seed < first + seeds; seed++)
        run(atoi(argv[3]));
    MPI_Buffer_detach(&address, &bytes);
    for (int i = 0; i < 4; i++)
        MPI_Type_free(&type[i]);
    for (int i = 1; i < 4; i++)
        MPI_Comm_free(&slot[i]);
    MPI_Finalize();
    return 0;
}
