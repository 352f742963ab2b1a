/* Family P, looked at again. */
#include "verify/shown.h"

static bool ended_well(const struct trace *trace)
{
    return trace->end != NULL && trace->end->tag == 0 && trace->end->bytes == 0;
}

/* The rank that the process does all of, or -1. */
static int follows(const struct trace *trace)
{
    struct at note = at_first_note(trace, NOTE_REPLICA, 0);
    return note.record != NULL ? (int)note.record->bytes : -1;
}

/* The process that was the rank when this one began to do the same. */
static const struct trace *first_of(const struct shown *shown, const struct trace *other)
{
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        if (trace->incarnation == other->incarnation && trace->rank == follows(other) &&
            follows(trace) < 0)
            return trace;
    }
    return NULL;
}

/* --- P.same ----------------------------------------------------------------------------------- */

static bool is_like(struct at at, struct at like)
{
    return at_is_sent(like) ? at_is_sent(at) : at_is_got(at);
}

/* How many like it there are, all of the trace, or those before it. */
static uint64_t place(const struct trace *trace, struct at like, uint64_t end)
{
    uint64_t count = 0;
    for (struct at at = {.trace = trace}; at_next(&at) && at.index < end;)
        count += is_like(at, like);
    return count;
}

/* A send to another rank, which was over, comes later: others have seen it. */
static bool was_seen(struct at event, int rank)
{
    if (ended_well(event.trace) || event.record == NULL)
        return event.record != NULL;
    for (struct at at = {.trace = event.trace}; at_next(&at);)
        if (at.index >= event.index && at_is_sent(at) && at.record->leave != 0 &&
            at.record->peer != rank)
            return true;
    return false;
}

static bool is_message(struct at at)
{
    return at.record != NULL && (at_is_sent(at) || at_is_got(at));
}

static bool have_other_bytes(struct at a, struct at b)
{
    return a.record->comm != b.record->comm || a.record->peer != b.record->peer ||
           a.record->tag != b.record->tag || is_other(a.record, b.record);
}

/* The k-th of the one is not the k-th of the other. */
static bool are_apart(const struct shown *shown, struct at a, struct at b)
{
    return is_message(a) && is_message(b) && is_like(b, a) && first_of(shown, b.trace) == a.trace &&
           was_seen(a, follows(b.trace)) &&
           place(a.trace, a, a.index) == place(b.trace, a, b.index) && have_other_bytes(a, b);
}

/* The one has more of them than the other, which came to its end. */
static bool is_more(const struct shown *shown, struct at event, struct at note)
{
    if (!is_message(event) || !at_is_note(note, NOTE_REPLICA, 0))
        return false;
    const struct trace *first = first_of(shown, note.trace);
    const struct trace *twin = event.trace == first ? note.trace : first;
    return twin != NULL && (event.trace == first || event.trace == note.trace) &&
           ended_well(event.trace) && ended_well(twin) &&
           place(event.trace, event, event.index) >= place(twin, event, NEVER);
}

bool shows_replicas_apart(const struct shown *shown)
{
    return any_two(shown, are_apart) || any_two(shown, is_more);
}

/* --- P.mask ----------------------------------------------------------------------------------- */

static uint64_t count_of(const struct trace *trace, struct at got, bool sent, int peer, bool alike)
{
    uint64_t count = 0;
    for (struct at at = {.trace = trace}; at_next(&at);)
        count += (sent ? at_is_sent(at) : at_is_got(at)) && at.record->comm == got.record->comm &&
                 at.record->tag == got.record->tag && at.record->peer == peer &&
                 !(alike && is_other(at.record, got.record));
    return count;
}

static int rank_of(const struct trace *trace)
{
    return follows(trace) >= 0 ? follows(trace) : trace->rank;
}

/* No process of the sender that came to its end sent it so often. */
static bool is_too_often(const struct shown *shown, struct at got)
{
    const struct trace *to = got.trace;
    bool any = false, enough = false;
    if (!shown->witness->finished || !at_is_got(got) || !ended_well(to))
        return false;
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        if (trace->incarnation != to->incarnation || rank_of(trace) != got.record->peer ||
            !ended_well(trace))
            continue;
        any = true;
        enough |= count_of(trace, got, true, rank_of(to), true) >=
                      count_of(to, got, false, got.record->peer, true) &&
                  count_of(trace, got, true, rank_of(to), false) >=
                      count_of(to, got, false, got.record->peer, false);
    }
    return any && !enough;
}

bool shows_sent_less(const struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++)
        if (shown->event[i].record != NULL && is_too_often(shown, shown->event[i]))
            return true;
    return false;
}

/* --- P.last ----------------------------------------------------------------------------------- */

static bool names(struct at at, int process)
{
    bool kill = at.record->kind == RECORD_FAULT &&
                (at.record->comm == FAULT_KILL || at.record->comm == FAULT_KILL_INSIDE);
    return (kill || at_is_note(at, NOTE_LEARNED, 0)) && at.record->peer == process;
}

/* And was not killed because the job was ended. */
static bool died(const struct shown *shown, const struct trace *trace)
{
    bool seen = shown->witness->finished;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        seen |= at.trace->incarnation == trace->incarnation && names(at, trace->rank);
    return seen && has_died(trace);
}

static bool came_to_end(const struct trace *trace)
{
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (at.record->kind == RECORD_CALL && at.record->call == CALL_MPI_Finalize)
            return true;
    return false;
}

static bool was_aborted(const struct shown *shown, int incarnation)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at.trace->incarnation == incarnation && at.record->kind == RECORD_CALL &&
            at.record->call == CALL_MPI_Abort)
            return true;
    return false;
}

bool shows_lost_in_silence(const struct shown *shown)
{
    struct at note = shown_note(shown, NOTE_REPLICA, 0);
    const struct trace *first = note.record != NULL ? first_of(shown, note.trace) : NULL;
    return first != NULL && died(shown, first) && died(shown, note.trace) &&
           !came_to_end(note.trace) && !came_to_end(first) &&
           note.trace->incarnation == shown->lives - 1 &&
           !was_aborted(shown, note.trace->incarnation);
}
