/* See look.h. Each question is answered by going through the traces from their beginning, with no
 * index and nothing kept from the question before. That costs as many steps as there are records,
 * for at_is_known more; but the verifier asks only about the few events of a witness, and what it
 * finds must not depend on any structure that it could have in common with the oracles.
 *
 * Two questions are hard: whether one event can be known at another (at_is_known, see there), and
 * whether a record counts in what led to an incarnation (walk.c). */
#include "verify/look.h"

#include "base/memory.h"

#include <stdlib.h>

#define LOOKS_MOST 200000000u /* at records, for one chain of messages */

static void to_next_record(struct at *at)
{
    at->index = at->record != NULL ? at->index + 1 : 0;
    at->record = at->index < at->trace->count ? &at->trace->record[at->index] : NULL;
}

bool at_next(struct at *at)
{
    do
        to_next_record(at);
    while (at->record != NULL && !record_is_event(at->record));
    return at->record != NULL;
}

bool at_next_part(struct at *at)
{
    to_next_record(at);
    return at->record != NULL && !record_is_event(at->record);
}

bool at_next_of_all(const struct trace_set *traces, struct at *at)
{
    bool found = at->trace != NULL && at_next(at);
    size_t next = at->trace != NULL ? (size_t)(at->trace - traces->trace) + 1 : 0;
    for (; !found && next < traces->count; next++) {
        *at = (struct at){.trace = &traces->trace[next]};
        found = at_next(at);
    }
    return found;
}

/* --- records ------------------------------------------------------------------------------- */

static uint64_t leave_of(struct at at)
{
    uint64_t leave = atomic_load_explicit(&at.record->leave, memory_order_relaxed);
    return leave != 0 ? leave : NEVER;
}

bool at_is_sent(struct at at)
{
    return at.record->kind == RECORD_SEND && at.record->level == LEVEL_APP && at.record->peer >= 0;
}

/* A message has come, at whatever level. */
bool at_takes(struct at at)
{
    const struct record *record = at.record;
    bool whole = record->kind == RECORD_RECV &&
                 (record->request == 0 ||
                  ((record->flags & FLAG_MATCHED) != 0 && call_role(record->call) != ROLE_IMRECV));
    return (whole || (record->kind == RECORD_COMPLETE && record->comm != 0)) &&
           !(record->flags & (FLAG_NEGATIVE | FLAG_CANCELLED)) && record->peer >= 0 &&
           leave_of(at) != NEVER;
}

bool at_is_got(struct at at)
{
    return at.record->level == LEVEL_APP && at_takes(at);
}

bool at_is_helpers(const struct trace_set *traces, struct at at)
{
    return at.record->level == LEVEL_APP &&
           (at.trace->header->helper ||
            ((at_is_sent(at) || at_is_got(at)) && trace_set_is_helper(traces, at.record->peer)));
}

bool at_is_call(struct at at, enum level level)
{
    return at.record->kind == RECORD_COLLECTIVE && at.record->level == level;
}

bool at_is_note(struct at at, enum note_kind kind, uint64_t line)
{
    return at.record != NULL && at.record->kind == RECORD_NOTE && at.record->tag == (int32_t)kind &&
           (line == 0 || at.record->bytes == line);
}

uint64_t at_done(struct at at)
{
    enum call_role role = call_role(at.record->call);
    bool both = role == ROLE_SENDRECV || role == ROLE_SENDRECV_REPLACE;
    return at.record->kind == RECORD_SEND && both ? at.record->enter : leave_of(at);
}

bool at_before(struct at a, struct at b)
{
    return a.trace == b.trace && a.index < b.index;
}

bool at_is_over(struct at call, struct at then)
{
    uint64_t over = leave_of(call) != NEVER ? leave_of(call) : call.record->enter;
    return call.trace == then.trace && over <= then.record->enter;
}

bool at_inside(struct at inner, struct at outer)
{
    return inner.trace == outer.trace && inner.index != outer.index &&
           inner.record->enter >= outer.record->enter && inner.record->enter <= leave_of(outer);
}

bool is_on_wire(struct at call, enum call_operation operation, uint64_t before)
{
    for (struct at at = {.trace = call.trace}; at_next(&at) && at.index < before;)
        if (at_is_call(at, LEVEL_WIRE) && at_inside(at, call) &&
            (operation == OPERATION_NONE || call_operation(at.record->call) == operation))
            return true;
    return false;
}

struct at at_first_note(const struct trace *trace, enum note_kind kind, uint64_t line)
{
    struct at at = {.trace = trace};
    while (at_next(&at) && !at_is_note(at, kind, line))
        continue;
    return at;
}

struct at at_completion(struct at call)
{
    struct at at = call;
    if (call.record->request == 0)
        return (struct at){0};
    while (at_next(&at) &&
           (at.record->kind != RECORD_COMPLETE || at.record->level != call.record->level ||
            at.record->request != call.record->request || (at.record->flags & FLAG_NEGATIVE) ||
            at.record->error == RAISED_PROC_FAILED_PENDING))
        continue;
    return at;
}

struct at at_posting(struct at got)
{
    struct at posting = got;
    for (struct at at = {.trace = got.trace};
         got.record->kind == RECORD_COMPLETE && at_next(&at) && at.index < got.index;)
        if (at.record->kind == RECORD_RECV && at.record->level == got.record->level &&
            at.record->request == got.record->request)
            posting = at;
    return posting;
}

/* --- messages ------------------------------------------------------------------------------ */

/* The record is the sender's: its peer is the receiver. The peer of a delivery is the sender. */
static bool goes_out(struct at at)
{
    return at.record->kind == RECORD_SEND || at_is_note(at, NOTE_SUPPRESSED, 0);
}

static int tag_of(const struct record *record)
{
    return record->kind == RECORD_NOTE ? (int)record->request : record->tag;
}

struct message message_of(struct at at)
{
    int own = at_rank(at), other = at.record->peer;
    bool out = goes_out(at);
    return (struct message){at.record->comm,   tag_of(at.record), out ? own : other,
                            out ? other : own, at.record,         NULL};
}

struct message message_of_ranks(const struct trace_set *traces, struct at at)
{
    struct message message = message_of(at);
    message.traces = traces;
    message.source = peer_rank(traces, at.trace->incarnation, message.source);
    message.destination = peer_rank(traces, at.trace->incarnation, message.destination);
    return message;
}

bool message_is_at(const struct message *message, struct at at)
{
    int peer = message->traces != NULL
                   ? peer_rank(message->traces, at.trace->incarnation, at.record->peer)
                   : at.record->peer;
    return tag_of(at.record) == message->tag &&
           peer == (goes_out(at) ? message->destination : message->source) &&
           (at.record->comm == message->comm ||
            (message->traces != NULL && goes_on(message->traces, at.record->comm, message->comm)));
}

/* A message that was cut, by a receive too short for it, has no hash that could be compared. */
bool same_bytes(const struct record *a, const struct record *b)
{
    bool cut =
        (a->kind != RECORD_NOTE && a->error != 0) || (b->kind != RECORD_NOTE && b->error != 0);
    return cut || ((a->flags | b->flags) & FLAG_NO_HASH) != 0 || a->hash == b->hash;
}

unsigned message_notes(const struct message *message, struct at call, enum note_kind kind,
                       uint64_t line, uint64_t before)
{
    unsigned count = 0;
    for (struct at at = {.trace = call.trace}; at_next(&at) && at.index < before;)
        count += at_is_note(at, kind, line) && message_is_at(message, at) &&
                 (message->like == NULL || same_bytes(at.record, message->like)) &&
                 (call.record == NULL || at_inside(at, call));
    return count;
}

bool is_other(const struct record *a, const struct record *b)
{
    return !same_bytes(a, b) || a->bytes != b->bytes;
}

uint64_t data_of(const struct record *record)
{
    bool call = record->kind == RECORD_COLLECTIVE && record->result_hash != 0;
    return call ? record->result_hash : record->hash;
}

bool is_pair(const struct trace_set *traces, struct at sent, struct at got)
{
    if (sent.record == NULL || got.record == NULL || !at_is_sent(sent) || !at_is_got(got))
        return false;
    struct message message = traces != NULL ? message_of_ranks(traces, sent) : message_of(sent);
    return message_is_at(&message, got) && message.destination == at_rank(got);
}

unsigned notes_inside(struct at call, enum note_kind kind)
{
    struct message message = message_of(call);
    message.like = NULL;
    return message_notes(&message, call, kind, 0, NEVER);
}

bool is_of_nothing(struct at noted)
{
    if (noted.record == NULL)
        return false;
    struct message message = message_of(noted);
    for (struct at at = {.trace = noted.trace}; at_next(&at);)
        if (at_is_got(at) && at_inside(noted, at) && message_is_at(&message, at) &&
            same_bytes(at.record, noted.record))
            return false;
    return true;
}

bool is_noted(struct at got, enum note_kind kind, uint64_t line, enum note_kind end)
{
    struct message message = message_of(got);
    return message_notes(&message, got, kind, line, at_first_note(got.trace, end, line).index) > 0;
}

/* --- ranks and lines ----------------------------------------------------------------------- */

bool came_later(const struct trace *trace)
{
    return trace->rank >= trace->header->ranks;
}

struct at first_place(const struct trace *trace)
{
    struct at at = {.trace = trace};
    while (at_next(&at) && (!at_is_note(at, NOTE_BECOMES, 0) || at.record->bytes > TRACE_MAX_RANKS))
        continue;
    return at;
}

bool was_replica(const struct trace *trace)
{
    struct at first = first_place(trace);
    return first.record != NULL &&
           at_first_note(trace, NOTE_REPLICA, first.record->bytes).record != NULL;
}

int at_rank(struct at at)
{
    uint64_t rank = (uint64_t)at.trace->rank;
    struct at first = first_place(at.trace);
    if (was_replica(at.trace))
        return (int)first.record->bytes;
    if (came_later(at.trace) && at_first_note(at.trace, NOTE_BECOMES, 0).record != NULL)
        return first.record != NULL ? (int)first.record->bytes : -1;
    for (struct at note = {.trace = at.trace}; at_next(&note) && note.index < at.index;)
        if (at_is_note(note, NOTE_BECOMES, 0))
            rank = note.record->bytes;
    return rank <= TRACE_MAX_RANKS ? (int)rank : -1;
}

/* It is no rank of the program until it takes a place. */
static bool waits_for_a_place(const struct trace *trace)
{
    return came_later(trace) || at_first_note(trace, NOTE_REPLICA, 0).record != NULL;
}

bool ranks_move(const struct trace_set *traces)
{
    for (struct at at = {0}; at_next_of_all(traces, &at);)
        if (at_is_note(at, NOTE_BECOMES, 0) && at.record != left_at(at.trace).record &&
            (!waits_for_a_place(at.trace) || at.index > first_place(at.trace).index))
            return true;
    return false;
}

int peer_rank(const struct trace_set *traces, int incarnation, int peer)
{
    for (size_t t = 0; t < traces->count; t++)
        if (traces->trace[t].rank == peer && traces->trace[t].incarnation == incarnation &&
            came_later(&traces->trace[t]))
            return at_rank((struct at){&traces->trace[t], 0, NULL});
    return peer;
}

/* When it was first heard of: as this rank, of a process that came later. */
static uint64_t born(const struct trace *trace)
{
    struct at at = first_place(trace);
    bool later = came_later(trace) || was_replica(trace);
    return later && at.record != NULL ? at.record->enter : trace->header->start_ticks;
}

const struct trace *newest_of(const struct trace_set *traces, int rank, const struct trace *before)
{
    const struct trace *newest = NULL;
    for (size_t t = 0; t < traces->count; t++) {
        const struct trace *trace = &traces->trace[t];
        if (at_rank((struct at){trace, 0, NULL}) == rank && trace != before &&
            (before == NULL || trace->incarnation < before->incarnation ||
             (trace->incarnation == before->incarnation && born(trace) < born(before))) &&
            (newest == NULL || trace->incarnation > newest->incarnation ||
             (trace->incarnation == newest->incarnation && born(trace) > born(newest))))
            newest = trace;
    }
    return newest;
}

bool has_died(const struct trace *trace)
{
    return trace->end != NULL &&
           (trace->end->tag != 0 || trace->end->bytes != 0 || left_at(trace).record != NULL);
}

bool is_finalized(const struct trace *trace)
{
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (at.record->level == LEVEL_APP && at.record->call == CALL_MPI_Finalize &&
            at.record->leave != 0)
            return true;
    return false;
}

struct at left_at(const struct trace *trace)
{
    struct at last = {0};
    if (trace->end == NULL || trace->end->tag != 0 || trace->end->bytes != 0 || is_finalized(trace))
        return last;
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (at_is_note(at, NOTE_BECOMES, 0))
            last = at;
    return last.record != NULL && last.record->bytes > TRACE_MAX_RANKS ? last : (struct at){0};
}

bool rank_is_dead(const struct trace_set *traces, int rank)
{
    const struct trace *newest = newest_of(traces, rank, NULL);
    return newest != NULL && has_died(newest);
}

bool rank_died_at_work(const struct trace_set *traces, int rank)
{
    const struct trace *newest = newest_of(traces, rank, NULL);
    bool came = false;
    for (struct at at = {.trace = newest}; newest != NULL && at_next(&at);)
        came |= at.record->level == LEVEL_APP && at.record->call == CALL_MPI_Finalize;
    return rank_is_dead(traces, rank) && !came;
}

/* The process has come out of MPI_Init, before which it may say that it is somebody else. Where
 * MPI_Init is not seen, a call or a note of a protocol shows that; a phase of the program, a draw,
 * a fault or a call on the store may come before. */
static bool is_born(const struct trace *trace, uint64_t ticks)
{
    bool shows = false;
    for (struct at at = {.trace = trace}; at_next(&at);) {
        const struct record *record = at.record;
        if (record->level == LEVEL_APP &&
            (record->call == CALL_MPI_Init || record->call == CALL_MPI_Init_thread))
            return at_done(at) < ticks;
        shows |= (record->call != CALL_NONE ||
                  (record->kind == RECORD_NOTE && record->tag != NOTE_PHASE &&
                   record->tag != NOTE_DRAWN)) &&
                 record->enter < ticks;
    }
    return shows;
}

/* A process that became this rank; or the process of that number, if the program ran in it before
 * it became another rank. If no note says what that process was, it counts, unless it is a helper.
 */
bool ranks_have(const struct trace_set *traces, int rank)
{
    bool has_note = false;
    for (struct at at = {0}; at_next_of_all(traces, &at);)
        if (at_is_note(at, NOTE_BECOMES, 0) && at.record->bytes == (uint64_t)rank)
            return true;
    for (size_t t = 0; t < traces->count; t++) {
        struct at said = at_first_note(&traces->trace[t], NOTE_BECOMES, 0);
        if (said.trace->rank != rank)
            continue;
        if (said.trace->header->helper)
            return false;
        if (is_born(said.trace, said.record != NULL ? said.record->enter : NEVER))
            return true;
        has_note |= said.record != NULL;
    }
    return !has_note;
}

static bool lists(const struct trace_set *traces, struct at made, int rank)
{
    bool listed = false;
    while (at_next_part(&made) && made.record->kind == RECORD_GROUP)
        for (unsigned i = 0; i < RECORD_GROUP_MEMBERS; i++)
            listed |= peer_rank(traces, made.trace->incarnation, made.record->members[i]) == rank;
    return listed;
}

bool is_member(const struct trace_set *traces, uint32_t comm, int rank)
{
    if (comm == COMM_WORLD_ID)
        return rank < traces->world && ranks_have(traces, rank);
    struct at at = {0};
    while (at_next_of_all(traces, &at))
        if (at.record->kind == RECORD_COMM && at.record->level == LEVEL_APP &&
            at.record->comm == comm)
            return lists(traces, at, rank);
    return false;
}

uint64_t at_newest(struct at at, enum note_kind kind)
{
    uint64_t line = 0;
    for (struct at note = {.trace = at.trace}; at_next(&note);)
        if ((at_is_note(note, kind, 0) || at_is_note(note, NOTE_RESTORED, 0)) &&
            note.record->enter <= at_done(at) && note.record->bytes > line)
            line = note.record->bytes;
    return line;
}

enum stand at_stand(struct at at, uint64_t line)
{
    uint64_t taken = at_newest(at, NOTE_CHECKPOINT);
    if (taken > line || at_newest(at, NOTE_STOP_LOG) >= line)
        return STAND_BEYOND;
    return taken == line ? STAND_LOGGING : STAND_BEFORE;
}

unsigned lines_between(struct at of, uint64_t a, uint64_t b)
{
    unsigned count = 0;
    for (struct at at = {.trace = of.trace}; at_next(&at);)
        count +=
            at_is_note(at, NOTE_CHECKPOINT, 0) && (at.record->bytes > a) != (at.record->bytes > b);
    return count;
}

uint64_t polls(struct at until, uint64_t line)
{
    uint64_t count = 0;
    for (struct at at = {.trace = until.trace}; at_next(&at) && at.index < until.index;)
        if (at_is_note(at, NOTE_CHECKPOINT, line) || at_is_note(at, NOTE_RESTORED, line))
            count = 0;
        else if (at.record->level == LEVEL_APP && (at.record->flags & FLAG_NEGATIVE))
            count += at.record->bytes;
    return count;
}

struct at checkpoint_of(const struct trace_set *traces, int rank, struct at like)
{
    struct at at = {0};
    while (at_next_of_all(traces, &at) &&
           (!at_is_note(at, NOTE_CHECKPOINT, like.record->bytes) ||
            at.trace->incarnation != like.trace->incarnation || at_rank(at) != rank))
        continue;
    return at;
}

/* --- what can be known --------------------------------------------------------------------- */

/* The first send of the wire that the receive may have taken is after record `index` of its sender.
 * Only the first is looked at, so that a message is never taken to bring knowledge which an earlier
 * send of the same bytes would not have. `left`: records that may still be looked at. */
static bool brings(const struct trace_set *traces, struct at got, uint64_t index, uint64_t *left)
{
    struct at at = {trace_set_find(traces, got.record->peer, got.trace->incarnation), 0, NULL};
    struct message message = {
        .comm = got.record->comm, .tag = got.record->tag, .destination = got.trace->rank};
    for (; at.trace != NULL && at_next(&at) && *left > 0; (*left)--)
        if (at.record->kind == RECORD_SEND && at.record->level == LEVEL_WIRE &&
            message_is_at(&message, at) && same_bytes(at.record, got.record))
            return at.index > index;
    return false;
}

/* after[rank] is the earliest record found at or after which the rank knows of `from`; NEVER:
 * none. At first only the rank of `from` has one. All receives of the wire are gone through again
 * and again; one that takes a message which a rank sent after it knew makes the receiver know:
 *
 *     rank 0:  e5 `from`   e8 send --> rank 1:  e3 recv   e6 send --> rank 2:  e9 recv   e11 `to`
 *
 *     after:  0: 5       then  1: 3      then  2: 9, which is less than 11
 *
 * Values only decrease, so it ends; LOOKS_MOST bounds the cost, and what is not found by then
 * counts as not known. */
bool at_is_known(const struct trace_set *traces, struct at from, struct at to)
{
    int life = from.trace->incarnation;
    if (life != to.trace->incarnation || from.record->enter > at_done(to))
        return life < to.trace->incarnation;
    uint64_t *after = memory_new((size_t)traces->ranks, sizeof *after), left = LOOKS_MOST;
    for (int rank = 0; rank < traces->ranks; rank++)
        after[rank] = rank == from.trace->rank ? from.index : NEVER;
    for (bool more = true; more && left > 0;) {
        more = false;
        for (struct at at = {0}; at_next_of_all(traces, &at);) {
            int rank = at.trace->rank, peer = at.record->peer;
            if (at.trace->incarnation == life && at.index < after[rank] && at_takes(at) &&
                at.record->level == LEVEL_WIRE && peer < traces->ranks && after[peer] != NEVER &&
                at_done(at) >= from.record->enter && brings(traces, at, after[peer], &left)) {
                after[rank] = at.index;
                more = true;
            }
        }
    }
    bool known = after[to.trace->rank] < to.index;
    free(after);
    return known;
}

bool somebody_lacks(const struct trace_set *traces, enum note_kind kind, struct at then)
{
    for (int rank = 0; then.record != NULL && rank < traces->ranks; rank++) {
        bool known = kind == NOTE_CLEAR && rank == at_rank(then);
        for (struct at at = {0}; !known && at_next_of_all(traces, &at);)
            known = at_is_note(at, kind, then.record->bytes) &&
                    at.trace->incarnation == then.trace->incarnation &&
                    (kind == NOTE_CLEAR ? at.record->peer : at_rank(at)) == rank &&
                    (at_before(at, then) || (kind != NOTE_CLEAR && at.trace != then.trace &&
                                             at_is_known(traces, at, then)));
        if (!known && ranks_have(traces, rank))
            return true;
    }
    return false;
}
