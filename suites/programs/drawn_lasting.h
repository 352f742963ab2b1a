/* Of the program `drawn`: persistent requests that are started over and over, as long as the
 * program runs or for some steps. Those that last are made ahead of checkpoint_restore in every
 * incarnation, the others in a step. What is started in a step is completed there or in the next
 * one, beyond a potential checkpoint, and rests then. Must not know: groups of messages. */
#ifndef DRAWN_LASTING_H
#define DRAWN_LASTING_H

#include "checkpoint.h"
#include "completing.h"
#include "drawn_messages.h"
#include "drawn_plan.h"
#include "program.h"

#define TAG_LASTING 30010 /* and the set; beyond those of messages */
#define TAG_LASTING_ASK 30020
#define TAG_LASTING_REPLACED 30030
#define RENEWED_EVERY 5 /* steps */

enum lasting { LASTING_ALL_THROUGH, LASTING_RENEWED, LASTINGS };
enum { IN, OUT, SUM, SPREADING, GATHERING, LASTING_REQUESTS };
enum { LASTING_MESSAGES = SUM, LASTING_CALLS = LASTING_REQUESTS - SUM };

#define SENDERS 8          /* ranks that send numbers to be gathered, at most */
#define PIECE_MOST 2       /* numbers */
#define FAR_AWAY (1 << 20) /* where a piece of no numbers is said to be */

static struct {
    MPI_Request request[LASTINGS][LASTING_REQUESTS];
    uint64_t in[LASTINGS], out[LASTINGS];   /* of the messages */
    uint64_t mine[LASTINGS], all[LASTINGS]; /* of the reduction */
    uint64_t spread[LASTINGS];              /* of the broadcast */
    uint64_t piece[LASTINGS][PIECE_MOST], row[LASTINGS][SENDERS * PIECE_MOST]; /* gathered */
    bool left[LASTINGS][LASTING_REQUESTS]; /* to be completed in the next step */
    MPI_Request replaced;                  /* never started; freed in the first step */
    uint64_t nothing;                      /* its buffer */
} lasting;

/* Arguments of MPI_Gatherv_init, which last as long as the request. */
static int *lasting_counts[LASTINGS], *lasting_places[LASTINGS];

static int ask_lasting(uint64_t step, enum lasting set, int question, int below)
{
    return draw(step, 91500 + 20 * (int)set + question, below);
}

/* The step in which the requests of the set were made. */
static uint64_t made_in(enum lasting set, uint64_t step)
{
    return set == LASTING_ALL_THROUGH ? 0 : step / RENEWED_EVERY * RENEWED_EVERY;
}

static bool takes_from_any(enum lasting set, uint64_t step)
{
    return feature[ANY_SOURCE] && ask_lasting(made_in(set, step), set, 0, 2) == 0;
}

static enum mode mode_of(enum lasting set, uint64_t step)
{
    static const enum feature needs[] = {
        [MODE_SYNCHRONOUS] = SYNCHRONOUS, [MODE_BUFFERED] = BUFFERED, [MODE_READY] = READY};
    int mode = ask_lasting(made_in(set, step), set, 1, MODES);
    return mode == MODE_STANDARD || feature[needs[mode]] ? (enum mode)mode : MODE_STANDARD;
}

static int root_of(enum lasting set, uint64_t step)
{
    return ask_lasting(made_in(set, step), set, 2, self.ranks);
}

/* The message of a step goes to the rank that is so many places further. */
static int distance_of(enum lasting set, uint64_t step)
{
    return takes_from_any(set, step) ? 1 + ask_lasting(step, set, 3, self.ranks - 1) : 1;
}

/* How many numbers of the rank are gathered. */
static int piece_of(enum lasting set, uint64_t step, int rank)
{
    return rank < SENDERS ? ask_lasting(made_in(set, step), set, 10 + rank, PIECE_MOST + 1) : 0;
}

static bool has_message(enum lasting set, uint64_t step)
{
    return feature[PERSISTENT_MESSAGES] && ask_lasting(step, set, 4, 3) > 0;
}

static bool has_calls(enum lasting set, uint64_t step)
{
    return feature[PERSISTENT_COLLECTIVES] && ask_lasting(step, set, 5, 3) == 0;
}

static bool is_in_place(enum lasting set, uint64_t step)
{
    return ask_lasting(made_in(set, step), set, 7, 2) == 0;
}

static void make_messages(enum lasting set, uint64_t step)
{
    static begin_function *const send[MODES] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
                                                MPI_Rsend_init};
    int next = (self.rank + 1) % self.ranks, last = (self.rank + self.ranks - 1) % self.ranks;
    int tag = TAG_LASTING + (int)set;
    MPI_Request *request = lasting.request[set];
    MPI_Recv_init(&lasting.in[set], 1, MPI_UINT64_T,
                  takes_from_any(set, step) ? MPI_ANY_SOURCE : last, tag, MPI_COMM_WORLD,
                  &request[IN]);
    send[mode_of(set, step)](&lasting.out[set], 1, MPI_UINT64_T, next, tag, MPI_COMM_WORLD,
                             &request[OUT]);
}

static void make_gathering(enum lasting set, uint64_t step)
{
    int *counts = program_memory((size_t)self.ranks, sizeof *counts),
        *places = program_memory((size_t)self.ranks, sizeof *places);
    for (int i = 0, place = 0; i < self.ranks; place += counts[i++]) {
        counts[i] = piece_of(set, step, i);
        places[i] = counts[i] > 0 ? place : FAR_AWAY;
    }
    MPI_Gatherv_init(lasting.piece[set], counts[self.rank], MPI_UINT64_T, lasting.row[set], counts,
                     places, MPI_UINT64_T, root_of(set, step), MPI_COMM_WORLD, MPI_INFO_NULL,
                     &lasting.request[set][GATHERING]);
    lasting_counts[set] = counts;
    lasting_places[set] = places;
}

static void make_requests(enum lasting set, uint64_t step)
{
    MPI_Request *request = lasting.request[set];
    if (feature[PERSISTENT_MESSAGES])
        make_messages(set, step);
    if (!feature[PERSISTENT_COLLECTIVES])
        return;
    MPI_Allreduce_init(is_in_place(set, step) ? MPI_IN_PLACE : &lasting.mine[set],
                       &lasting.all[set], 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request[SUM]);
    MPI_Bcast_init(&lasting.spread[set], 1, MPI_UINT64_T, root_of(set, step), MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request[SPREADING]);
    make_gathering(set, step);
}

static void free_requests(enum lasting set)
{
    for (int i = 0; i < LASTING_REQUESTS; i++)
        if (lasting.request[set][i] != MPI_REQUEST_NULL)
            MPI_Request_free(&lasting.request[set][i]);
    free(lasting_counts[set]);
    free(lasting_places[set]);
    lasting_counts[set] = lasting_places[set] = NULL;
}

/* The sender of a step waits until the receive of that step is started: a message of the step
 * before, or after, may come from another rank. */
static void start_message(enum lasting set, uint64_t step)
{
    int distance = distance_of(set, step);
    int to = (self.rank + distance) % self.ranks,
        from = (self.rank + self.ranks - distance) % self.ranks;
    uint64_t asked;
    MPI_Request ask, *request = lasting.request[set];
    MPI_Start(&request[IN]);
    MPI_Isend(&step, 1, MPI_UINT64_T, from, TAG_LASTING_ASK + (int)set, MPI_COMM_WORLD, &ask);
    MPI_Recv(&asked, 1, MPI_UINT64_T, to, TAG_LASTING_ASK + (int)set, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Wait(&ask, MPI_STATUS_IGNORE);
    if (asked != step)
        wrong_in(step, "a persistent receive was started in another step");
    lasting.out[set] = program_mix(self.kept.sum, step);
    lasting.left[set][IN] = true;
    lasting.left[set][OUT] = distance == 1;
    if (distance == 1)
        MPI_Start(&request[OUT]);
    else
        MPI_Send(&lasting.out[set], 1, MPI_UINT64_T, to, TAG_LASTING + (int)set, MPI_COMM_WORLD);
}

static uint64_t number_of(uint64_t step, int rank, int index)
{
    return program_mix(step, (uint64_t)(rank * PIECE_MOST + index));
}

static void start_calls(enum lasting set, uint64_t step)
{
    *(is_in_place(set, step) ? &lasting.all[set] : &lasting.mine[set]) =
        program_mix(step, self.kept.sum);
    lasting.spread[set] = root_of(set, step) == self.rank ? step + 1 : 0;
    for (int i = 0; i < PIECE_MOST; i++)
        lasting.piece[set][i] = number_of(step, self.rank, i);
    MPI_Startall(LASTING_CALLS, &lasting.request[set][SUM]);
    for (int i = 0; i < LASTING_CALLS; i++)
        lasting.left[set][SUM + i] = true;
}

static void look_at_row(enum lasting set, uint64_t step)
{
    const uint64_t *at = lasting.row[set];
    bool right = true;
    for (int rank = 0; root_of(set, step) == self.rank && rank < self.ranks; rank++)
        for (int i = 0; i < piece_of(set, step, rank); i++)
            right &= *at++ == number_of(step, rank, i);
    if (!right)
        wrong_in(step, "a persistent gathering gives what nobody has sent");
}

static void look_at_lasting(enum lasting set, int which, uint64_t step, const MPI_Status *status)
{
    int from = (self.rank + self.ranks - distance_of(set, step)) % self.ranks;
    switch (which) {
    case IN:
        if (status->MPI_SOURCE != from || status->MPI_TAG != TAG_LASTING + (int)set)
            wrong_in(step, "a persistent receive takes another message than that of its step");
        gathered += program_mix(lasting.in[set], step);
        break;
    case SUM:
        kept.reduced += program_mix(lasting.all[set], step);
        break;
    case SPREADING:
        if (lasting.spread[set] != step + 1)
            wrong_in(step, "a persistent broadcast gives what its root has not sent");
        break;
    case GATHERING:
        look_at_row(set, step);
        break;
    default:
        break;
    }
}

static bool is_any_left(const bool *left, int count)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        any |= left[i];
    return any;
}

/* Of the messages or of the calls what was started in the step, together with what rests. */
static void complete_started(enum lasting set, int first, int count, enum completing how,
                             uint64_t step)
{
    MPI_Request *request = &lasting.request[set][first];
    bool *left = &lasting.left[set][first];
    MPI_Status status[LASTING_REQUESTS];
    int index[LASTING_REQUESTS], done;
    while (is_any_left(left, count)) {
        if (how == WAIT || how == TEST) {
            for (index[0] = 0; !left[index[0]];)
                index[0]++;
            complete_one(how == TEST, &request[index[0]], status);
            done = 1;
        } else {
            complete_some(how, count, request, &done, index, status);
        }
        for (int i = 0; i < done; i++) {
            if (left[index[i]])
                look_at_lasting(set, first + index[i], step, &status[i]);
            left[index[i]] = false;
        }
    }
}

static void complete_messages(enum lasting set, uint64_t step)
{
    int how = draw(step, 91600 + (int)set * 100 + self.rank, COMPLETING_WAYS);
    complete_started(set, IN, LASTING_MESSAGES, (enum completing)how, step);
}

/* In MPICH 4.0.2 a persistent collective call that MPI_Testany or MPI_Waitany completes does not
 * come to rest, and MPI_Testall of several fails. */
static void complete_calls(enum lasting set, uint64_t step)
{
    static const enum completing ways[] = {WAIT, TEST, WAITALL};
    int way = draw(step, 91600 + (int)set * 100 + self.rank, 3);
    complete_started(set, SUM, LASTING_CALLS, ways[way], step);
}

static bool goes_on(enum lasting set, uint64_t step, enum feature needed)
{
    return feature[needed] && step + 1 < (uint64_t)self.steps && ask_lasting(step, set, 6, 2) == 0;
}

/* Those that are renewed outlive a step. */
static bool has_set(enum lasting set)
{
    return feature[LASTING] && (set == LASTING_ALL_THROUGH || feature[CROSSING]);
}

/* Ahead of what is restored. */
static void lasting_prepare(void)
{
    for (int set = 0; set < LASTINGS; set++)
        for (int i = 0; i < LASTING_REQUESTS; i++)
            lasting.request[set][i] = MPI_REQUEST_NULL;
    lasting.replaced = MPI_REQUEST_NULL;
    if (!feature[LASTING])
        return;
    if (feature[REPLACED])
        MPI_Recv_init(&lasting.nothing, 1, MPI_UINT64_T, MPI_ANY_SOURCE, TAG_LASTING_REPLACED,
                      MPI_COMM_WORLD, &lasting.replaced);
    make_requests(LASTING_ALL_THROUGH, 0);
    checkpoint_register("lasting", &lasting, sizeof lasting);
}

/* Requests that are made in every incarnation are those of this one, and so is what the library
 * takes for no request: none was that of before. */
static void lasting_restored(const MPI_Request made[LASTING_REQUESTS], MPI_Request none)
{
    memcpy(lasting.request[LASTING_ALL_THROUGH], made, sizeof lasting.request[0]);
    program_renew_requests(none, lasting.request[LASTING_RENEWED], LASTING_REQUESTS);
    program_renew_requests(none, &lasting.replaced, 1);
}

/* What the step before has left. Calls are over before a barrier that blocks, which C3 asks for. */
static void lasting_calls(uint64_t step)
{
    for (int set = 0; set < LASTINGS && step > 0; set++)
        complete_calls((enum lasting)set, step - 1);
}

static void lasting_begin(uint64_t step)
{
    for (int set = 0; set < LASTINGS && step > 0; set++)
        complete_messages((enum lasting)set, step - 1);
    if (lasting.replaced != MPI_REQUEST_NULL)
        MPI_Request_free(&lasting.replaced); /* what is made next may get its number */
    if (has_set(LASTING_RENEWED) && made_in(LASTING_RENEWED, step) == step) {
        free_requests(LASTING_RENEWED);
        make_requests(LASTING_RENEWED, step);
    }
}

static void lasting_step(uint64_t step)
{
    for (int i = 0; i < LASTINGS; i++) {
        enum lasting set = (enum lasting)i;
        if (!has_set(set))
            continue;
        if (has_message(set, step))
            start_message(set, step);
        if (has_calls(set, step))
            start_calls(set, step);
        if (!goes_on(set, step, CROSSING))
            complete_messages(set, step);
        if (!goes_on(set, step, OUTSTANDING_COLLECTIVES))
            complete_calls(set, step);
    }
}

static void lasting_end(void)
{
    for (int set = 0; set < LASTINGS; set++)
        free_requests((enum lasting)set);
}

#endif
