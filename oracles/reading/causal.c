/* See causal.h. What can flow from a rank is what it knew before the send or collective of that
 * index; what it knows changes seldom, so that the few changes are kept and shared. */
#include "oracles/reading/causal.h"

#include "oracles/matching/match.h"
#include "oracles/reading/collective.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

/* A receive whose request was freed delivers its message at no time that anybody saw. */
#define FREED_UNSEEN (UINT64_MAX / 2)

/* A collective of the wire, as far as its members came to it. */
struct meeting {
    unsigned call;
    int32_t root;
    uint32_t comm;
    bool inter;
    uint64_t entry[]; /* by world rank: index + 1 of the record; 0: did not come */
};

enum item_kind { ITEM_NOTE, ITEM_MESSAGE, ITEM_MEETING };

/* Where knowledge of a rank can change. */
struct item {
    uint64_t index;
    enum item_kind kind;
    int source; /* of a message */
    union {
        uint64_t sent;           /* of a message: index of its send */
        struct meeting *meeting; /* that returns here */
    };
};

/* What the rank knows behind record `index`. */
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
};

struct block {
    struct block *next;
    struct known known[];
};

struct reading {
    struct causal *causal;
    struct match match;
    struct rank_state *rank;
    struct table counts;   /* (rank, communicator) to struct count */
    struct table meetings; /* (communicator, number) to struct meeting, owned */
    struct table requests; /* (rank, request) to struct meeting */
    struct pool count_pool;
    bool exhausted;
    size_t note_room;
};

struct count {
    uint64_t value;
};

/* --- first reading: where messages come from -------------------------------------------------- */

static void add_item(struct reading *reading, int rank, struct item item)
{
    struct rank_state *state = &reading->rank[rank];
    if (state->item_count == state->item_room) {
        size_t room = state->item_room ? 2 * state->item_room : 256;
        struct item *grown = realloc(state->item, room * sizeof *grown);
        if (grown == NULL) {
            reading->exhausted = true;
            return;
        }
        state->item = grown;
        state->item_room = room;
    }
    state->item[state->item_count++] = item;
}

static void add_message(struct reading *reading, const struct sent *sent,
                        const struct received *received)
{
    add_item(reading, received->delivered.rank,
             (struct item){.index = received->delivered.index,
                           .kind = ITEM_MESSAGE,
                           .source = sent->event.rank,
                           .sent = sent->event.index});
}

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    (void)channel;
    if (received->leave < FREED_UNSEEN)
        add_message(context, sent, received);
}

static void on_strange(void *context, enum strange strange, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct reading *reading = context;
    (void)channel;
    (void)other;
    if (strange == STRANGE_UNDELIVERED || strange == STRANGE_EARLY_RETURN)
        return;
    if (sent != NULL && received != NULL && strange != STRANGE_ORPHAN)
        add_message(reading, sent, received);
    else
        reading->causal->uncertain = true;
}

static struct count *count_of(struct reading *reading, int rank, uint32_t comm)
{
    struct count *count = table_get(&reading->counts, (uint64_t)rank, comm);
    if (count != NULL)
        return count;
    count = pool_take(&reading->count_pool);
    if (count == NULL || !table_put(&reading->counts, (uint64_t)rank, comm, count))
        reading->exhausted = true;
    return count;
}

/* The k-th collective of each member on a communicator is the same one. */
static struct meeting *meeting_of(struct reading *reading, int rank, const struct record *record,
                                  uint32_t comm)
{
    struct count *count = count_of(reading, rank, comm);
    if (count == NULL)
        return NULL;
    uint64_t number = ++count->value;
    struct meeting *meeting = table_get(&reading->meetings, comm, number);
    if (meeting != NULL)
        return meeting;
    size_t entries = (size_t)reading->causal->ranks * sizeof meeting->entry[0];
    meeting = calloc(1, sizeof *meeting + entries);
    if (meeting == NULL || !table_put(&reading->meetings, comm, number, meeting)) {
        free(meeting);
        reading->exhausted = true;
        return NULL;
    }
    meeting->call = record->call;
    meeting->root = record->kind == RECORD_COLLECTIVE ? record->peer : PEER_NONE;
    meeting->comm = comm;
    meeting->inter = (record->flags & FLAG_INTER) != 0;
    return meeting;
}

static void join(struct reading *reading, const struct stream_event *event, uint32_t comm)
{
    const struct record *record = event->record;
    struct meeting *meeting = meeting_of(reading, event->rank, record, comm);
    if (meeting == NULL)
        return;
    meeting->entry[event->rank] = event->index + 1;
    if (record->request != 0 && record->kind == RECORD_COLLECTIVE) {
        if (!table_put(&reading->requests, (uint64_t)event->rank, record->request, meeting))
            reading->exhausted = true;
    } else if (!event->in_progress) {
        add_item(reading, event->rank,
                 (struct item){.index = event->index, .kind = ITEM_MEETING, .meeting = meeting});
    }
}

/* The completion of a non-blocking collective. */
static void leave(struct reading *reading, const struct stream_event *event)
{
    const struct record *record = event->record;
    if (record->request == 0 || (record->flags & FLAG_NEGATIVE) || event->in_progress)
        return;
    struct meeting *meeting = table_get(&reading->requests, (uint64_t)event->rank, record->request);
    if (meeting == NULL)
        return;
    table_remove(&reading->requests, (uint64_t)event->rank, record->request);
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
    struct reading *reading = context;
    const struct record *record = event->record;
    if (record->level != LEVEL_WIRE) {
        if (moves_a_line(record))
            add_item(reading, event->rank, (struct item){.index = event->index, .kind = ITEM_NOTE});
        return;
    }
    match_record(&reading->match, event);
    if (record->kind == RECORD_COMPLETE)
        leave(reading, event);
    else if (collective_comm(record) != 0)
        join(reading, event, collective_comm(record));
}

static int by_index(const void *left, const void *right)
{
    const struct item *a = left;
    const struct item *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

static enum error_code read_wire(struct reading *reading, const struct trace_set *traces,
                                 int incarnation, struct error *error)
{
    struct match_listener listener = {reading, on_pair, on_strange};
    struct histories histories = {0};
    enum error_code code = match_init(&reading->match, traces->ranks,
                                      traces->trace[0].header->ticks_per_second, &listener, error);
    if (code == OK)
        code = histories_incarnation(traces, incarnation, &histories, error);
    if (code == OK)
        code = stream_run(&histories, LEVEL_WIRE, on_event, reading, NULL, error);
    if (code == OK)
        match_finish(&reading->match);
    reading->exhausted |= reading->match.exhausted;
    for (int rank = 0; rank < traces->ranks; rank++) {
        struct rank_state *state = &reading->rank[rank];
        state->trace = trace_set_find(traces, rank, incarnation);
        if (state->item_count > 1)
            qsort(state->item, state->item_count, sizeof *state->item, by_index);
    }
    match_release(&reading->match);
    histories_release(&histories);
    return code;
}

/* --- second reading: who knows what ----------------------------------------------------------- */

static struct known *new_known(struct reading *reading, const struct known *from)
{
    size_t bytes = (size_t)reading->causal->ranks * sizeof(struct known);
    struct block *block = calloc(1, sizeof *block + bytes);
    if (block == NULL) {
        reading->exhausted = true;
        return NULL;
    }
    block->next = reading->causal->blocks;
    reading->causal->blocks = block;
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

static void add_change(struct reading *reading, struct rank_state *state, uint64_t index,
                       const struct known *known)
{
    if (known == NULL)
        return;
    if (state->change_count == state->change_room) {
        size_t room = state->change_room ? 2 * state->change_room : 16;
        struct change *grown = realloc(state->change, room * sizeof *grown);
        if (grown == NULL) {
            reading->exhausted = true;
            return;
        }
        state->change = grown;
        state->change_room = room;
    }
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

static void take_in(struct reading *reading, struct rank_state *state, uint64_t index,
                    const struct known *given)
{
    const struct known *have = newest(state);
    int ranks = reading->causal->ranks;
    if (given == have || !tells_more(have, given, ranks))
        return;
    struct known *more = new_known(reading, have);
    for (int i = 0; i < ranks && more != NULL; i++) {
        more[i].checkpoint = greater(have[i].checkpoint, given[i].checkpoint);
        more[i].saved = greater(have[i].saved, given[i].saved);
        more[i].commit = greater(have[i].commit, given[i].commit);
    }
    add_change(reading, state, index, more);
}

static void keep_note(struct reading *reading, struct rank_state *state, uint64_t index)
{
    struct causal *causal = reading->causal;
    if (causal->note_count == reading->note_room) {
        size_t room = reading->note_room ? 2 * reading->note_room : 64;
        struct causal_note *grown = realloc(causal->note, room * sizeof *grown);
        if (grown == NULL) {
            reading->exhausted = true;
            return;
        }
        causal->note = grown;
        reading->note_room = room;
    }
    const struct record *note = &state->trace->record[index];
    causal->note[causal->note_count++] =
        (struct causal_note){event_of(state->trace, index), (unsigned)note->tag, note->bytes,
                             note->enter, newest(state)};
}

static void pass_note(struct reading *reading, struct rank_state *state, uint64_t index)
{
    const struct record *note = &state->trace->record[index];
    bool changes =
        note->tag == NOTE_CHECKPOINT || note->tag == NOTE_SAVED || note->tag == NOTE_COMMIT;
    struct known *more = changes ? new_known(reading, newest(state)) : NULL;
    if (more != NULL) {
        struct known *own = &more[state->trace->rank];
        uint64_t *field = note->tag == NOTE_CHECKPOINT ? &own->checkpoint
                          : note->tag == NOTE_SAVED    ? &own->saved
                                                       : &own->commit;
        *field = greater(*field, note->bytes);
        add_change(reading, state, index, more);
    }
    keep_note(reading, state, index);
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

static bool is_ready(const struct reading *reading, const struct item *item, int rank)
{
    if (item->kind == ITEM_NOTE)
        return true;
    if (item->kind == ITEM_MESSAGE)
        return gone_through(&reading->rank[item->source], item->sent);
    const struct meeting *meeting = item->meeting;
    for (int from = 0; from < reading->causal->ranks; from++)
        if (from != rank && meeting->entry[from] != 0 && flows(meeting, from, rank) &&
            !gone_through(&reading->rank[from], meeting->entry[from] - 1))
            return false;
    return true;
}

static void pass_item(struct reading *reading, int rank)
{
    struct rank_state *state = &reading->rank[rank];
    const struct item item = state->item[state->next++];
    if (item.kind == ITEM_NOTE) {
        pass_note(reading, state, item.index);
    } else if (item.kind == ITEM_MESSAGE) {
        take_in(reading, state, item.index, known_before(&reading->rank[item.source], item.sent));
    } else {
        const struct meeting *meeting = item.meeting;
        for (int from = 0; from < reading->causal->ranks; from++)
            if (from != rank && meeting->entry[from] != 0 && flows(meeting, from, rank))
                take_in(reading, state, item.index,
                        known_before(&reading->rank[from], meeting->entry[from] - 1));
    }
}

/* Goes on with every rank as far as it can; false if none could. */
static bool pass_ranks(struct reading *reading)
{
    bool moved = false;
    for (int rank = 0; rank < reading->causal->ranks; rank++) {
        struct rank_state *state = &reading->rank[rank];
        while (!reading->exhausted && state->next < state->item_count &&
               is_ready(reading, &state->item[state->next], rank)) {
            pass_item(reading, rank);
            moved = true;
        }
    }
    return moved;
}

/* Each waits for another: the matching was wrong somewhere. The first goes on all the same. */
static bool force_one(struct reading *reading)
{
    for (int rank = 0; rank < reading->causal->ranks && !reading->exhausted; rank++) {
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

static void go_through(struct reading *reading)
{
    struct causal *causal = reading->causal;
    const struct known *nothing = new_known(reading, NULL);
    for (int rank = 0; rank < causal->ranks; rank++)
        add_change(reading, &reading->rank[rank], 0, nothing);
    while (!reading->exhausted && (pass_ranks(reading) || force_one(reading)))
        ;
    for (int rank = 0; rank < causal->ranks && !reading->exhausted; rank++)
        if (reading->rank[rank].trace != NULL)
            causal->final[rank] = newest(&reading->rank[rank]);
    if (causal->note_count > 1)
        qsort(causal->note, causal->note_count, sizeof *causal->note, by_rank);
}

/* --- the whole ----------------------------------------------------------------------------- */

static void release_reading(struct reading *reading)
{
    for (int rank = 0; reading->rank != NULL && rank < reading->causal->ranks; rank++) {
        free(reading->rank[rank].item);
        free(reading->rank[rank].change);
    }
    for (size_t i = 0; i < reading->meetings.capacity; i++)
        free(reading->meetings.slot[i].value);
    table_release(&reading->counts);
    table_release(&reading->meetings);
    table_release(&reading->requests);
    pool_release(&reading->count_pool);
    free(reading->rank);
}

enum error_code causal_read(const struct trace_set *traces, int incarnation, struct causal *causal,
                            struct error *error)
{
    struct reading reading = {.causal = causal, .count_pool.bytes = sizeof(struct count)};
    enum error_code code = OK;
    *causal = (struct causal){.ranks = traces->ranks};
    reading.rank = calloc((size_t)traces->ranks + 1, sizeof *reading.rank);
    causal->final = calloc((size_t)traces->ranks + 1, sizeof *causal->final);
    reading.exhausted = reading.rank == NULL || causal->final == NULL;
    if (!reading.exhausted)
        code = read_wire(&reading, traces, incarnation, error);
    if (code == OK && !reading.exhausted)
        go_through(&reading);
    if (code == OK && reading.exhausted)
        code = error_set(error, ERROR_MEMORY, "no memory for what happens before what");
    release_reading(&reading);
    return code;
}

void causal_release(struct causal *causal)
{
    for (struct block *block = causal->blocks; block != NULL;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    free(causal->note);
    free(causal->final);
    *causal = (struct causal){0};
}
