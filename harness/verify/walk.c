/* See walk.h. */
#include "verify/walk.h"

/* The newest such note of the trace before record `to`. */
static struct at last_note(const struct trace *trace, enum note_kind kind, uint64_t line,
                           uint64_t to)
{
    struct at last = {0};
    for (struct at at = {.trace = trace}; at_next(&at) && at.index < to;)
        if (at_is_note(at, kind, line))
            last = at;
    return last;
}

bool anybody_rolls_back(const struct trace_set *traces)
{
    for (struct at at = {0}; at_next_of_all(traces, &at);)
        if (at_is_note(at, NOTE_CHECKPOINT, 0) || at_is_note(at, NOTE_RESTORED, 0))
            return true;
    return false;
}

/* The newest process of the walk's rank that was there before `trace` and took the line, and that
 * checkpoint; the trace is NULL where there is none. */
static struct at taken_before(const struct walk *walk, const struct trace *trace, uint64_t line)
{
    struct at taken = {0};
    while (taken.record == NULL && (trace = newest_of(walk->traces, walk->rank, trace)) != NULL)
        taken = last_note(trace, NOTE_CHECKPOINT, line, NEVER);
    return taken;
}

/* What the life did before its first note `restored`. Nothing of it counts where the life took over
 * from one that died and was cut off on its way to a line; otherwise all of it counts. *more: what
 * the life before did counts as well, to its end. */
static bool counts_from_start(const struct walk *walk, const struct trace *trace, bool *more)
{
    const struct trace *before = newest_of(walk->traces, walk->rank, trace);
    bool takes_over = before != NULL && before->incarnation == trace->incarnation;
    bool rolls_back = anybody_rolls_back(walk->traces);
    bool closed = atomic_load(&trace->header->closed) != 0;
    *more = takes_over && !was_replica(trace) && !(rolls_back && closed);
    return !takes_over || !rolls_back || closed;
}

static void add_part(struct walk *walk, struct part part)
{
    if (walk->parts < WALK_PARTS)
        walk->part[walk->parts++] = part;
}

/* Which parts of the trace at walk->at count in what led to walk->incarnation. Goes from the newest
 * life back: a `restored` note names a line, and what counts before it ends with the newest
 * checkpoint of that line, in the same life or in one before. */
static void bound(struct walk *walk)
{
    const struct trace *of = walk->at.trace;
    const struct trace *trace = newest_of(walk->traces, walk->rank, NULL);
    struct at taken = {0};
    walk->parts = 0;
    while (trace != NULL && trace->incarnation > walk->incarnation)
        trace = newest_of(walk->traces, walk->rank, trace);
    if (trace != NULL && trace->incarnation != walk->incarnation)
        return;
    while (trace != NULL) {
        bool more = false;
        struct at from =
            last_note(trace, NOTE_RESTORED, 0, taken.record != NULL ? taken.index : NEVER);
        if (trace == of && (from.record != NULL || counts_from_start(walk, trace, &more)))
            add_part(walk, (struct part){from, taken});
        if (from.record == NULL) {
            (void)counts_from_start(walk, trace, &more);
            trace = more ? newest_of(walk->traces, walk->rank, trace) : NULL;
            taken = (struct at){0};
            continue;
        }
        uint64_t line = from.record->bytes;
        if (line == 0)
            return;
        taken = last_note(trace, NOTE_CHECKPOINT, line, from.index);
        if (taken.record == NULL)
            taken = taken_before(walk, trace, line);
        trace = taken.trace;
    }
}

/* The record is after the cut. The cut can lie inside a call, which is then done again after the
 * restart: a send inside which it lies counts as made before it, once; a delivery counts when its
 * call returned, that is after the cut. */
static bool is_after(const struct walk *walk, struct at cut)
{
    return walk->at.index > cut.index || (walk->got && at_done(walk->at) > cut.record->enter);
}

/* A send that was cancelled in time sent nothing, nor one that failed because somebody was dead. */
static bool is_cancelled(const struct walk *walk, const struct part *part)
{
    if (raised_text(walk->at.record->error) != NULL)
        return true;
    struct at done = at_completion(walk->at);
    return done.record != NULL && (done.record->flags & FLAG_CANCELLED) != 0 &&
           (part->taken.record == NULL || done.index < part->taken.index);
}

/* The part of its trace in which the record counts, or NULL. */
static const struct part *part_of(const struct walk *walk)
{
    for (unsigned i = 0; i < walk->parts; i++) {
        const struct part *part = &walk->part[i];
        if ((part->from.record == NULL || is_after(walk, part->from)) &&
            (part->taken.record == NULL || !is_after(walk, part->taken)))
            return part;
    }
    return NULL;
}

static bool is_asked_for(const struct walk *walk)
{
    struct at at = walk->at;
    const struct part *part = part_of(walk);
    if (part == NULL || is_before_it_counts(walk->traces, at) ||
        (walk->older && at.trace->incarnation >= walk->incarnation) ||
        (at.trace == walk->until.trace &&
         (walk->begun ? at.record->enter : at_done(at)) > walk->until.record->enter))
        return false;
    return walk->message == NULL ||
           ((walk->got ? at_is_got(at) : at_is_sent(at)) && message_is_at(walk->message, at) &&
            (walk->got || !is_cancelled(walk, part)));
}

struct walk walk_of(const struct trace_set *traces, const struct message *message, int incarnation,
                    bool got)
{
    return (struct walk){.traces = traces,
                         .incarnation = incarnation,
                         .rank = got ? message->destination : message->source,
                         .message = message,
                         .got = got};
}

bool walk_next(struct walk *walk)
{
    const struct trace *before = walk->at.trace;
    while (at_next_of_all(walk->traces, &walk->at)) {
        if (walk->at.trace != before) {
            walk->parts = 0;
            if (at_rank((struct at){walk->at.trace, 0, NULL}) == walk->rank)
                bound(walk);
        }
        before = walk->at.trace;
        if (is_asked_for(walk))
            return true;
    }
    return false;
}

uint64_t walk_count(struct walk walk)
{
    uint64_t count = 0;
    while (walk_next(&walk))
        count += same_bytes(walk.at.record, walk.message->like);
    return count;
}

uint64_t walk_count_sure(struct walk walk)
{
    const struct record *like = walk.message->like;
    uint64_t count = 0;
    while (walk_next(&walk))
        count += ((walk.at.record->flags | like->flags) & FLAG_NO_HASH) == 0 &&
                 same_bytes(walk.at.record, like);
    return count;
}

uint64_t walk_count_all(struct walk walk)
{
    uint64_t count = 0;
    while (walk_next(&walk))
        count++;
    return count;
}
