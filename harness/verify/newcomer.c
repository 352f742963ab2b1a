/* See look.h: processes that came later and took the place of dead ones. Each question is answered
 * from the traces alone, by counting from their beginning.
 *
 * Two communicators of the same members go on for each other if the one is the k-th that only the
 * newcomer uses, and the other the k-th that only the dead process used. */
#include "verify/walk.h"

/* The program of the process sent, received or took part through the communicator. */
static bool uses(const struct trace *trace, uint32_t comm)
{
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (at.record->level == LEVEL_APP && at.record->comm == comm &&
            (at_is_sent(at) || at.record->kind == RECORD_RECV || at_is_call(at, LEVEL_APP)))
            return true;
    return false;
}

static bool same_members(const struct trace_set *traces, uint32_t a, uint32_t b)
{
    for (int rank = 0; rank < traces->ranks; rank++)
        if (is_member(traces, a, rank) != is_member(traces, b, rank))
            return false;
    return true;
}

/* How many communicators of the same members, made before this one, the process uses that the other
 * process does not. */
static unsigned place_of(const struct trace_set *traces, const struct trace *trace,
                         const struct trace *other, uint32_t comm)
{
    unsigned place = 0;
    if (comm == COMM_WORLD_ID)
        return 0;
    place += uses(trace, COMM_WORLD_ID) && !uses(other, COMM_WORLD_ID) &&
             same_members(traces, COMM_WORLD_ID, comm);
    for (struct at at = {.trace = trace}; at_next(&at) && at.record->comm != comm;)
        place += at.record->kind == RECORD_COMM && at.record->level == LEVEL_APP &&
                 uses(trace, at.record->comm) && !uses(other, at.record->comm) &&
                 same_members(traces, at.record->comm, comm);
    return place;
}

/* A process in the place of dead ones, which went back to a line, uses the one and not the other,
 * and one of those the other and not the one. */
static bool replaces(const struct trace_set *traces, uint32_t new, uint32_t old)
{
    for (size_t t = 0; t < traces->count; t++) {
        const struct trace *trace = &traces->trace[t], *dead = trace;
        if (!came_later(trace) || at_first_note(trace, NOTE_RESTORED, 0).record == NULL ||
            !uses(trace, new) || uses(trace, old))
            continue;
        while ((dead = newest_of(traces, at_rank((struct at){trace, 0, NULL}), dead)) != NULL)
            if (has_died(dead) && uses(dead, old) && !uses(dead, new) &&
                place_of(traces, trace, dead, new) == place_of(traces, dead, trace, old))
                return true;
    }
    return false;
}

bool goes_on(const struct trace_set *traces, uint32_t a, uint32_t b)
{
    return (replaces(traces, a, b) || replaces(traces, b, a)) && same_members(traces, a, b);
}

/* --- before a newcomer counts ----------------------------------------------------------------- */

/* The note from which on the process counts as the rank whose place it took; no record: from its
 * start. *never: it died before it noted any. */
static struct at counts_from(const struct trace_set *traces, const struct trace *trace, bool *never)
{
    struct at restored = at_first_note(trace, NOTE_RESTORED, 0);
    struct at becomes = first_place(trace);
    const struct trace *before = newest_of(traces, at_rank((struct at){trace, 0, NULL}), trace);
    *never = false;
    if (becomes.record == NULL || before == NULL || before->incarnation != trace->incarnation ||
        !has_died(before))
        return (struct at){0};
    if (restored.record != NULL)
        return restored;
    *never = anybody_rolls_back(traces) &&
             (atomic_load(&trace->header->closed) == 0 || left_at(trace).record != NULL);
    bool reserve = trace->count > 0 && trace->record[0].enter < before->end->enter;
    return reserve ? becomes : (struct at){0};
}

static bool is_of_channel(struct at at, bool sent, uint32_t comm, int tag, int peer)
{
    return (sent ? at_is_sent(at) : at_is_got(at)) && at.record->comm == comm &&
           at.record->tag == tag && at.record->peer == peer;
}

static bool is_call_on(struct at at, uint32_t comm)
{
    return at_is_call(at, LEVEL_APP) && at.record->comm == comm;
}

/* Somebody else used it before the process was there: the numbers of its calls are not the same. */
static bool is_older(const struct trace_set *traces, const struct trace *trace, uint32_t comm)
{
    for (struct at at = {0}; at_next_of_all(traces, &at);)
        if (at.trace->incarnation == trace->incarnation && is_call_on(at, comm) &&
            at.record->enter < trace->record[0].enter)
            return true;
    return comm == COMM_WORLD_ID;
}

/* The record, of a message if `message`, is among as many of its process as the newcomer had before
 * it counts. */
static bool is_among_first(const struct trace_set *traces, struct at at, bool message,
                           const struct trace *newcomer, struct at from)
{
    const struct record *record = at.record;
    uint64_t own = 0, others = 0;
    bool sent = at_is_sent(at);
    for (struct at one = {.trace = at.trace}; at_next(&one) && one.index <= at.index;)
        own += message ? is_of_channel(one, sent, record->comm, record->tag, newcomer->rank)
                       : is_call_on(one, record->comm);
    for (struct at one = {.trace = newcomer}; at_next(&one) && one.index < from.index;)
        if (at_is_sent(one) || at_done(one) <= from.record->enter)
            others += message ? is_of_channel(one, !sent, record->comm, record->tag, at.trace->rank)
                              : is_call_on(one, record->comm);
    return own <= others && (message || !is_older(traces, newcomer, record->comm));
}

bool is_before_it_counts(const struct trace_set *traces, struct at at)
{
    bool message = at_is_sent(at) || at_is_got(at), never;
    if (!message && !at_is_call(at, LEVEL_APP))
        return false;
    for (size_t t = 0; t < traces->count; t++) {
        const struct trace *trace = &traces->trace[t];
        if (!came_later(trace) || trace->incarnation != at.trace->incarnation ||
            (message && at.record->peer != trace->rank && at.trace != trace))
            continue;
        struct at from = counts_from(traces, trace, &never);
        if (at.trace == trace) {
            if (from.record != NULL && from.record->tag == NOTE_BECOMES && at.index < from.index)
                return true;
        } else if ((never && message) ||
                   (from.record != NULL && is_among_first(traces, at, message, trace, from))) {
            return true;
        }
    }
    return false;
}
