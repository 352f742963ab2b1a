/* See causal.h. The question is what a rank can know, at each note that it makes, about how far the
 * others are with their recovery lines.
 *
 *     rank 0:  5: checkpoint 1    9: send --+
 *     rank 1:                               +--> 4: recv    7: commit 1
 *
 * At its record 7, rank 1 knows of rank 0's checkpoint 1, because the message was sent after it. A
 * message that rank 0 sent at its record 3 would have brought nothing.
 *
 * The work is done in two readings:
 *   1. During the pass over the wire each rank gets a list of *items*, the records at which its
 *      knowledge can change: its own notes about lines, deliveries (with the rank and the record of
 *      their send), and the returns of collectives.
 *   2. At the end the items of all ranks are gone through in causal order. An item is ready when
 *      what it depends on is done: for a delivery, the sender's items before the send; for a
 *      collective, the items of each member whose data can reach this rank (causal_flows) before
 *      that member's call. Members of one collective therefore do not wait for each other. If no
 *      rank can go on, the matching was wrong somewhere: the first rank is forced on (force_one),
 *      and the result is marked as uncertain.
 *
 * The two readings cannot be one: a delivery may be matched long after its record was read
 * (match.c).
 *
 * A vector clock for each record would cost ranks times records. Knowledge is a vector, too (struct
 * known, by rank), but it changes seldom: a rank gets a new vector only where it learns something,
 * `change` lists from which record on each vector holds, and all between share it. The vectors of a
 * rank never decrease. Each item is passed once; a look-up is a binary search in `change`. */
#include "oracles/matching/causal.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

enum item_kind { ITEM_NOTE, ITEM_MESSAGE, ITEM_MEETING };

/* Where knowledge of a rank can change. */
struct item {
    uint64_t index;
    enum item_kind kind;
    int source; /* of a message */
    union {
        uint64_t sent;                 /* of a message: index of its send */
        const struct meeting *meeting; /* that returns here */
    };
};

/* What the rank knows after record `index`. */
struct change {
    uint64_t index;
    const struct known *known;
};

struct rank_state {
    const struct trace *trace;
    size_t item_count, item_room, next;
    struct item *item;
    size_t change_count, change_room;
    struct change *change;
    uint64_t looked_at; /* for records of the application, below this one */
    uint64_t above;     /* the newest of them, plus one */
};

struct block {
    struct block *next;
    struct known known[];
};

struct causal_reading {
    struct causal *causal;
    struct rank_state *rank;
    struct table meetings; /* (communicator, number) to struct meeting */
};

/* --- first reading: where messages come from -------------------------------------------------- */

static void add_item(struct causal_reading *reading, int rank, struct item item)
{
    struct rank_state *state = &reading->rank[rank];
    state->item = memory_room(state->item, state->item_count, &state->item_room, sizeof item);
    state->item[state->item_count++] = item;
}

static void on_message(void *context, const struct sent *sent, const struct received *received,
                       bool anomaly)
{
    (void)anomaly;
    add_item(context, received->delivered.rank,
             (struct item){.index = received->delivered.index,
                           .kind = ITEM_MESSAGE,
                           .source = sent->event.rank,
                           .sent = sent->event.index});
}

static void on_doubt(void *context)
{
    ((struct causal_reading *)context)->causal->uncertain = true;
}

/* The newest record of the application before record `index`; asked for in their order. */
static uint64_t above(struct rank_state *state, uint64_t index)
{
    for (; state->looked_at < index; state->looked_at++)
        if (record_is_of_app(&state->trace->record[state->looked_at]))
            state->above = state->looked_at + 1;
    return state->above;
}

static struct meeting *meeting_of(struct causal_reading *reading, const struct record *record,
                                  uint32_t comm, uint64_t number)
{
    struct causal *causal = reading->causal;
    struct meeting *meeting = table_get(&reading->meetings, comm, number);
    if (meeting != NULL)
        return meeting;
    meeting = memory_new(1, sizeof *meeting + (size_t)causal->ranks * sizeof meeting->of[0]);
    *meeting =
        (struct meeting){.comm = comm,
                         .number = number,
                         .call = record->call,
                         .root = record->kind == RECORD_COLLECTIVE ? record->peer : PEER_NONE,
                         .inter = (record->flags & FLAG_INTER) != 0};
    table_put(&reading->meetings, comm, number, meeting);
    causal->meeting = memory_room(causal->meeting, causal->meeting_count, &causal->meeting_room,
                                  sizeof(struct meeting *));
    return causal->meeting[causal->meeting_count++] = meeting;
}

static void on_joined(void *context, const struct stream_event *event,
                      const struct gathering *gathering, uint64_t number)
{
    struct causal_reading *reading = context;
    struct meeting *meeting = meeting_of(reading, event->record, gathering->comm, number);
    meeting->of[event->rank] =
        (struct attendance){event->index + 1, above(&reading->rank[event->rank], event->index)};
    if ((event->record->request == 0 || event->record->kind != RECORD_COLLECTIVE) &&
        !event->in_progress)
        add_item(reading, event->rank,
                 (struct item){.index = event->index, .kind = ITEM_MEETING, .meeting = meeting});
}

static void on_left(void *context, const struct stream_event *event,
                    const struct collective_request *request)
{
    struct causal_reading *reading = context;
    const struct meeting *meeting =
        table_get(&reading->meetings, request->gathering->comm, request->number);
    add_item(reading, event->rank,
             (struct item){.index = event->index, .kind = ITEM_MEETING, .meeting = meeting});
}

static bool moves_a_line(const struct record *record)
{
    switch (record->tag) {
    case NOTE_CHECKPOINT:
    case NOTE_SAVED:
    case NOTE_COMMIT:
    case NOTE_STOP_LOG:
    case NOTE_INITIATED:
        return record->kind == RECORD_NOTE;
    default:
        return false;
    }
}

static void on_event(void *context, const struct stream_event *event)
{
    if (moves_a_line(event->record))
        add_item(context, event->rank, (struct item){.index = event->index, .kind = ITEM_NOTE});
}

static int by_index(const void *left, const void *right)
{
    const struct item *a = left;
    const struct item *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

/* --- second reading: who knows what ----------------------------------------------------------- */

static struct known *new_known(struct causal *causal, const struct known *from)
{
    size_t bytes = (size_t)causal->ranks * sizeof(struct known);
    struct block *block = memory_new(1, sizeof *block + bytes);
    block->next = causal->blocks;
    causal->blocks = block;
    if (from != NULL)
        memcpy(block->known, from, bytes);
    return block->known;
}

static const struct known *newest(const struct rank_state *state)
{
    return state->change[state->change_count - 1].known;
}

/* What the rank knew before record `index`; it has been gone through up to there. */
static const struct known *known_before(const struct rank_state *state, uint64_t index)
{
    size_t low = 1, high = state->change_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->change[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return state->change[low - 1].known;
}

static bool gone_through(const struct rank_state *state, uint64_t index)
{
    return state->next == state->item_count || state->item[state->next].index >= index;
}

static void add_change(struct rank_state *state, uint64_t index, const struct known *known)
{
    state->change =
        memory_room(state->change, state->change_count, &state->change_room, sizeof *state->change);
    state->change[state->change_count++] = (struct change){index, known};
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool tells_more(const struct known *have, const struct known *given, int ranks)
{
    for (int i = 0; i < ranks; i++)
        if (given[i].checkpoint > have[i].checkpoint || given[i].saved > have[i].saved ||
            given[i].commit > have[i].commit)
            return true;
    return false;
}

static void take_in(struct causal *causal, struct rank_state *state, uint64_t index,
                    const struct known *given)
{
    const struct known *have = newest(state);
    if (given == have || !tells_more(have, given, causal->ranks))
        return;
    struct known *more = new_known(causal, have);
    for (int i = 0; i < causal->ranks; i++) {
        more[i].checkpoint = greater(have[i].checkpoint, given[i].checkpoint);
        more[i].saved = greater(have[i].saved, given[i].saved);
        more[i].commit = greater(have[i].commit, given[i].commit);
    }
    add_change(state, index, more);
}

static void keep_note(struct causal *causal, const struct rank_state *state, uint64_t index)
{
    causal->note =
        memory_room(causal->note, causal->note_count, &causal->note_room, sizeof *causal->note);
    const struct record *note = &state->trace->record[index];
    causal->note[causal->note_count++] =
        (struct causal_note){event_of(state->trace, index), (unsigned)note->tag, note->bytes,
                             note->enter, newest(state)};
}

static void pass_note(struct causal *causal, struct rank_state *state, uint64_t index)
{
    const struct record *note = &state->trace->record[index];
    if (note->tag == NOTE_CHECKPOINT || note->tag == NOTE_SAVED || note->tag == NOTE_COMMIT) {
        struct known *more = new_known(causal, newest(state));
        struct known *own = &more[state->trace->rank];
        uint64_t *field = note->tag == NOTE_CHECKPOINT ? &own->checkpoint
                          : note->tag == NOTE_SAVED    ? &own->saved
                                                       : &own->commit;
        *field = greater(*field, note->bytes);
        add_change(state, index, more);
    }
    keep_note(causal, state, index);
}

bool causal_flows(unsigned call, int32_t root, uint32_t comm, bool inter, int from, int to)
{
    if (inter)
        return true;
    switch (call_operation(call)) {
    case OPERATION_BCAST:
    case OPERATION_SCATTER:
    case OPERATION_SCATTERV:
        return from == root;
    case OPERATION_GATHER:
    case OPERATION_GATHERV:
    case OPERATION_REDUCE:
        return to == root;
    case OPERATION_SCAN:
    case OPERATION_EXSCAN:
        /* Of other communicators the order is not looked up: knowing too much raises no alarm. */
        return comm != COMM_WORLD_ID || from < to;
    default:
        return true;
    }
}

static bool flows(const struct meeting *meeting, int from, int to)
{
    return causal_flows(meeting->call, meeting->root, meeting->comm, meeting->inter, from, to);
}

static bool is_ready(const struct causal_reading *reading, const struct item *item, int rank)
{
    if (item->kind == ITEM_NOTE)
        return true;
    if (item->kind == ITEM_MESSAGE)
        return gone_through(&reading->rank[item->source], item->sent);
    const struct meeting *meeting = item->meeting;
    for (int from = 0; from < reading->causal->ranks; from++)
        if (from != rank && meeting->of[from].index != 0 && flows(meeting, from, rank) &&
            !gone_through(&reading->rank[from], meeting->of[from].index - 1))
            return false;
    return true;
}

static void pass_item(struct causal_reading *reading, int rank)
{
    struct rank_state *state = &reading->rank[rank];
    const struct item item = state->item[state->next++];
    if (item.kind == ITEM_NOTE) {
        pass_note(reading->causal, state, item.index);
    } else if (item.kind == ITEM_MESSAGE) {
        take_in(reading->causal, state, item.index,
                known_before(&reading->rank[item.source], item.sent));
    } else {
        const struct meeting *meeting = item.meeting;
        for (int from = 0; from < reading->causal->ranks; from++)
            if (from != rank && meeting->of[from].index != 0 && flows(meeting, from, rank))
                take_in(reading->causal, state, item.index,
                        known_before(&reading->rank[from], meeting->of[from].index - 1));
    }
}

/* Goes on with every rank as far as it can; false if none could. */
static bool pass_ranks(struct causal_reading *reading)
{
    bool moved = false;
    for (int rank = 0; rank < reading->causal->ranks; rank++) {
        struct rank_state *state = &reading->rank[rank];
        while (state->next < state->item_count &&
               is_ready(reading, &state->item[state->next], rank)) {
            pass_item(reading, rank);
            moved = true;
        }
    }
    return moved;
}

/* Every rank that has items left waits for another one. That is a cycle in time, which only a wrong
 * match can make: the first rank passes its item without what it waits for. */
static bool force_one(struct causal_reading *reading)
{
    for (int rank = 0; rank < reading->causal->ranks; rank++) {
        if (reading->rank[rank].next == reading->rank[rank].item_count)
            continue;
        reading->causal->uncertain = true;
        pass_item(reading, rank);
        return true;
    }
    return false;
}

static int by_rank(const void *left, const void *right)
{
    const struct causal_note *a = left;
    const struct causal_note *b = right;
    if (a->event.rank != b->event.rank)
        return a->event.rank < b->event.rank ? -1 : 1;
    return (a->event.index > b->event.index) - (a->event.index < b->event.index);
}

static void go_through(struct causal_reading *reading)
{
    struct causal *causal = reading->causal;
    const struct known *nothing = new_known(causal, NULL);
    for (int rank = 0; rank < causal->ranks; rank++) {
        struct rank_state *state = &reading->rank[rank];
        if (state->item_count > 1)
            qsort(state->item, state->item_count, sizeof *state->item, by_index);
        add_change(state, 0, nothing);
    }
    while (pass_ranks(reading) || force_one(reading))
        ;
    for (int rank = 0; rank < causal->ranks; rank++)
        if (reading->rank[rank].trace != NULL)
            causal->final[rank] = newest(&reading->rank[rank]);
    if (causal->note_count > 1)
        qsort(causal->note, causal->note_count, sizeof *causal->note, by_rank);
}

/* --- the whole ----------------------------------------------------------------------------- */

static void on_end(void *context)
{
    struct causal_reading *reading = context;
    go_through(reading);
    for (int rank = 0; rank < reading->causal->ranks; rank++) {
        free(reading->rank[rank].item);
        free(reading->rank[rank].change);
    }
    table_release(&reading->meetings);
    free(reading->rank);
    free(reading);
}

void causal_listen(struct pass *pass, struct causal *causal)
{
    const struct trace_set *traces = pass->reading->traces;
    size_t ranks = (size_t)traces->ranks;
    struct causal_reading *reading = memory_new(1, sizeof *reading);
    *causal = (struct causal){.ranks = traces->ranks};
    causal->final = memory_new(ranks, sizeof *causal->final);
    reading->causal = causal;
    reading->rank = memory_new(ranks, sizeof *reading->rank);
    for (int rank = 0; rank < traces->ranks; rank++)
        reading->rank[rank].trace = trace_set_find(traces, rank, pass->incarnation);
    pass_listen(pass, &(struct listener){.context = reading,
                                         .event = on_event,
                                         .message = on_message,
                                         .doubt = on_doubt,
                                         .joined = on_joined,
                                         .left = on_left,
                                         .end = on_end});
}

void causal_release(struct causal *causal)
{
    for (struct block *block = causal->blocks; block != NULL;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    for (size_t i = 0; i < causal->meeting_count; i++)
        free(causal->meeting[i]);
    free(causal->meeting);
    free(causal->note);
    free(causal->final);
    *causal = (struct causal){0};
}
