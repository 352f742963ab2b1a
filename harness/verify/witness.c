/* Of each claim, by its id: what shows, in the events of a witness and the traces, that it is
 * broken. Where a trace leaves it open the violation is believed; so are counts of messages where
 * ranks moved, for what counts of one lies in several traces. */
#include "verify/witness.h"

#include "verify/look.h"

#include <string.h>

/* The events of a witness; record NULL: there is none. */
struct shown {
    const struct witness *witness;
    const struct trace_set *traces;
    int lives; /* incarnations */
    size_t count;
    struct at event[WITNESS_EVENTS_MOST];
    struct at sent, got;                             /* the first of each */
    struct at sent_last, got_last;                   /* a second one, or the same */
    bool pair;                                       /* the two are one message, by channel */
    struct at restored, commit, checkpoint, written; /* the first of each; a call on the store */
};

static bool is(const struct shown *shown, const char *claim)
{
    return strcmp(shown->witness->claim, claim) == 0;
}

/* The first or a later one; record NULL: there is none. */
static struct at note(const struct shown *shown, enum note_kind kind, size_t nth)
{
    for (size_t i = 0; i < shown->count; i++)
        if (at_is_note(shown->event[i], kind, 0) && nth-- == 0)
            return shown->event[i];
    return (struct at){0};
}

/* Two of the events stand so to one another. */
static bool any_two(const struct shown *shown,
                    bool (*stand)(const struct shown *shown, struct at a, struct at b))
{
    for (size_t i = 0; i < shown->count; i++)
        for (size_t k = 0; k < shown->count; k++)
            if (i != k && stand(shown, shown->event[i], shown->event[k]))
                return true;
    return false;
}

/* An event on the wire that lies inside the call. */
static bool shows_inside(const struct shown *shown, struct at call, enum record_kind kind)
{
    for (size_t i = 0; i < shown->count; i++)
        if (shown->event[i].record->kind == kind && shown->event[i].record->level == LEVEL_WIRE &&
            at_inside(shown->event[i], call))
            return true;
    return false;
}

/* --- H, B: histories and files ------------------------------------------------------------- */

/* Of these bytes more were delivered than sent, or the other way round, or the k-th delivered is
 * not the k-th sent. Requests may complete in another order than they were posted in: not there. */
static bool differs(const struct shown *shown, struct at at, int incarnation)
{
    if (at.record == NULL || ranks_move(shown->traces))
        return at.record != NULL;
    struct message message = message_of(at);
    struct walk sent = walk_of(shown->traces, &message, incarnation, false);
    struct walk got = walk_of(shown->traces, &message, incarnation, true);
    uint64_t all_sent = walk_count(sent), all_got = walk_count(got);
    if (at.record->kind == RECORD_SEND ? all_sent > all_got : all_got > all_sent)
        return true;
    while (walk_next(&sent) && walk_next(&got) && got.at.record->kind == RECORD_RECV)
        if (!same_bytes(sent.at.record, got.at.record))
            return true;
    return false;
}

static bool is_orphan(const struct shown *shown)
{
    for (int life = 0; life < shown->lives; life++)
        if (differs(shown, shown->got, life))
            return true;
    return false;
}

/* Collectives on the communicator; if the call makes another one from it, such calls. */
static uint64_t count_calls(struct walk walk, const struct record *like)
{
    uint64_t count = 0;
    while (walk_next(&walk)) {
        const struct record *record = walk.at.record;
        count += record->level == LEVEL_APP && record->comm == like->comm &&
                 record->kind == like->kind &&
                 (record->kind == RECORD_COLLECTIVE || record->call == like->call);
    }
    return count;
}

/* Of the rank, in what led to the newest incarnation that is shown. */
static uint64_t calls_of(const struct shown *shown, struct at of)
{
    struct walk walk = {.traces = shown->traces, .rank = of.trace->rank};
    for (size_t i = 0; i < shown->count; i++)
        if (shown->event[i].trace->incarnation > walk.incarnation)
            walk.incarnation = shown->event[i].trace->incarnation;
    return count_calls(walk, of.record);
}

/* The run has ended well, and a member has made fewer of these calls than lead to this one. */
static bool lacks_member(const struct shown *shown, struct at call)
{
    bool lacks = false, calls = at_is_call(call, LEVEL_APP) || call.record->kind == RECORD_CALL;
    struct walk walk = {.traces = shown->traces,
                        .incarnation = shown->lives - 1,
                        .rank = call.trace->rank,
                        .until = call,
                        .begun = true};
    if (!shown->witness->finished || !calls || ranks_move(shown->traces))
        return shown->witness->finished && calls;
    uint64_t number = count_calls(walk, call.record);
    walk.until = (struct at){0};
    for (walk.rank = 0; walk.rank < shown->traces->ranks && !lacks; walk.rank++)
        lacks = is_member(shown->traces, call.record->comm, walk.rank) &&
                count_calls(walk, call.record) < number;
    return lacks;
}

static bool is_other_call(const struct shown *shown, struct at a, struct at b)
{
    if (at_is_helpers(shown->traces, a) || at_is_helpers(shown->traces, b))
        return false;
    return a.record->call != b.record->call || a.record->peer != b.record->peer ||
           a.record->bytes != b.record->bytes || data_of(a.record) != data_of(b.record) ||
           calls_of(shown, a) != calls_of(shown, b);
}

/* The last word on a result in the last incarnation; or the event itself, which is a declaration
 * where its rank has moved since. */
static bool is_other_result(const struct shown *shown, const struct witness_reference *wanted)
{
    bool same = false;
    struct at at = shown->event[0];
    struct walk walk = {
        .traces = shown->traces, .incarnation = shown->lives - 1, .rank = wanted->rank};
    if (at.record != NULL && at_rank(at) != wanted->rank)
        return false;
    while (walk_next(&walk)) {
        char name[64];
        trace_text(walk.at.trace, walk.at.index, name, sizeof name);
        if (at_is_note(walk.at, NOTE_RESULT, 0) && strcmp(name, wanted->name) == 0)
            same = walk.at.record->bytes == wanted->bytes && walk.at.record->hash == wanted->hash;
    }
    return !same || (at_is_note(at, NOTE_RESULT, 0) && at_rank(at) != at.trace->rank &&
                     (at.record->bytes != wanted->bytes || at.record->hash != wanted->hash));
}

/* One end of the message lies before the checkpoint of its process, the other does not. Of a send
 * in which a checkpoint lies that was restored, its beginning counts. */
static bool crosses(const struct shown *shown, bool (*before)(struct at, struct at))
{
    bool crosses = false;
    for (size_t i = 0; i < shown->count; i++)
        if (at_is_note(shown->event[i], NOTE_CHECKPOINT, 0))
            crosses ^= before(shown->sent, shown->event[i]) != before(shown->got, shown->event[i]);
    return crosses;
}

/* The file's content or the folder's names, between the call on the store and the commit. */
static bool is_synced(const struct shown *shown, uint32_t number)
{
    bool found = false;
    for (struct at at = {0}; !found && at_next_of_all(shown->traces, &at);)
        found = at.record->kind == RECORD_STORAGE && at.record->error == 0 &&
                at.record->enter > shown->written.record->enter &&
                at.record->enter < shown->commit.record->enter &&
                (at.record->tag == STORAGE_SYNC_ALL ||
                 (at.record->tag == STORAGE_SYNC && at.record->request == number));
    return found;
}

static bool shows_h_or_b(const struct shown *shown)
{
    const struct record *sent = shown->sent.record, *got = shown->got.record;
    const struct record *written = shown->written.record;
    bool any_tag = got != NULL && sent != NULL && sent->tag != shown->sent_last.record->tag &&
                   at_posting(shown->got).record->want_tag == TAG_ANY;
    if (is(shown, "H.orphan"))
        return is_orphan(shown);
    if (is(shown, "H.loss"))
        return differs(shown, shown->sent, shown->lives - 1);
    if (is(shown, "H.duplicate"))
        return shown->pair && shown->got_last.record != got &&
               same_bytes(got, shown->got_last.record) && is_orphan(shown);
    if (is(shown, "H.payload"))
        return shown->pair && is_other(sent, got);
    /* Requests may complete in another order than they were posted in. */
    if (is(shown, "H.order") && shown->pair)
        return any_tag || got->kind == RECORD_COMPLETE ||
               differs(shown, shown->got, shown->got.trace->incarnation);
    if (is(shown, "H.order"))
        return any_tag;
    if (is(shown, "H.collective"))
        return any_two(shown, is_other_call) ||
               (shown->count > 0 && lacks_member(shown, shown->event[0]));
    for (size_t i = 0; is(shown, "H.result") && i < shown->witness->reference_count; i++)
        if (is_other_result(shown, &shown->witness->reference[i]))
            return true;
    if (is(shown, "H.progress"))
        return !shown->witness->finished;
    if (is(shown, "B.empty"))
        return shown->pair && (crosses(shown, at_is_over) || crosses(shown, at_before));
    return (is(shown, "B.commit") || is(shown, "C.commit")) && shown->commit.record != NULL &&
           written != NULL &&
           !(is_synced(shown, written->request) && is_synced(shown, written->comm));
}

/* --- C: lines ------------------------------------------------------------------------------ */

static bool shows_c_lines(const struct shown *shown)
{
    struct at sent = shown->sent, got = shown->got, stop = note(shown, NOTE_STOP_LOG, 0);
    struct at ready = note(shown, NOTE_READY, 0);
    struct at logged = note(shown, NOTE_LOGGED, 0), early = note(shown, NOTE_EARLY, 0);
    uint64_t sent_in = shown->pair ? at_newest(sent, NOTE_CHECKPOINT) : 0,
             got_in = shown->pair ? at_newest(got, NOTE_CHECKPOINT) : 0;
    if (is(shown, "C.1.1") || is(shown, "D.2.1"))
        return somebody_lacks(shown->traces, NOTE_CHECKPOINT, stop);
    if (is(shown, "C.1.2"))
        return shown->pair && stop.record != NULL &&
               at_stand(sent, stop.record->bytes) == STAND_BEYOND &&
               at_stand(got, stop.record->bytes) != STAND_BEYOND;
    if (is(shown, "C.1.3"))
        return shown->pair && stop.record != NULL &&
               at_stand(sent, stop.record->bytes) == STAND_BEHIND &&
               at_stand(got, stop.record->bytes) == STAND_BEYOND;
    if (is(shown, "C.late.log"))
        return sent_in < got_in && !is_noted(got, NOTE_LOGGED, got_in, NOTE_STOP_LOG);
    if (is(shown, "C.early.list"))
        return sent_in > got_in && !is_noted(got, NOTE_EARLY, sent_in, NOTE_CHECKPOINT);
    if (is(shown, "C.late.ready") && got.record == NULL)
        return ready.record != NULL && sent.record != NULL &&
               at_stand(sent, ready.record->bytes) == STAND_BEHIND &&
               differs(shown, sent, ready.trace->incarnation);
    if (is(shown, "C.late.ready"))
        return ready.record != NULL && sent_in < got_in && ready.record->enter < at_done(got);
    if (is(shown, "C.class") && !shown->pair)
        return is_of_nothing(logged.record != NULL ? logged : early);
    if (is(shown, "C.class"))
        return notes_inside(got, NOTE_LOGGED) != (sent_in < got_in) ||
               notes_inside(got, NOTE_EARLY) != (sent_in > got_in) ||
               (logged.record != NULL && logged.record->bytes != got_in) ||
               (early.record != NULL && early.record->bytes != sent_in);
    if (is(shown, "C.epoch"))
        return shown->pair && (lines_between(sent, sent_in, got_in) > 1 ||
                               lines_between(got, sent_in, got_in) > 1);
    return is(shown, "C.commit") && shown->written.record == NULL &&
           somebody_lacks(shown->traces, NOTE_SAVED, shown->commit);
}

/* --- C: recovery --------------------------------------------------------------------------- */

/* More notes on the message in this incarnation than messages were open at the line: of late ones
 * sent, and not delivered, before it; of early ones delivered and not sent. */
static bool is_noted_too_often(const struct shown *shown, struct at noted)
{
    if (noted.record == NULL || ranks_move(shown->traces))
        return noted.record != NULL;
    struct message message = message_of(noted);
    struct walk sent = walk_of(shown->traces, &message, noted.trace->incarnation, false);
    struct walk got = walk_of(shown->traces, &message, noted.trace->incarnation, true);
    sent.older = got.older = true;
    enum note_kind kind = (enum note_kind)noted.record->tag;
    struct at trace = {.trace = noted.trace};
    uint64_t notes = message_notes(&message, trace, kind, 0, noted.index + 1);
    return kind == NOTE_REPLAYED ? notes + walk_count(got) > walk_count(sent)
                                 : notes + walk_count(sent) > walk_count(got);
}

/* The line, what was decided, and what was decided again; or one of the two that has no like.
 * Requests are numbered anew, so which of them a call chose is believed. */
static bool is_decided_otherwise(const struct shown *shown)
{
    if (shown->count < 2 || shown->restored.record == NULL)
        return false;
    struct at at = shown->event[1], again = shown->event[shown->count - 1];
    const struct record *a = at.record, *b = again.record;
    uint64_t line = shown->restored.record->bytes;
    enum call_role role = call_role(a->call);
    bool chose = a->kind == RECORD_COMPLETE && (role == ROLE_WAITANY || role == ROLE_WAITSOME ||
                                                role == ROLE_TESTANY || role == ROLE_TESTSOME);
    if (shown->count < 3)
        return at.trace->rank == shown->restored.trace->rank;
    return chose || is_other(a, b) || a->kind != b->kind || a->peer != b->peer ||
           a->tag != b->tag || polls(at, line) != polls(again, line);
}

/* It makes a line that is not above that one. */
static bool makes_again(const struct trace *trace, uint64_t line)
{
    for (struct at at = {.trace = trace}; at_next(&at);)
        if ((at_is_note(at, NOTE_CHECKPOINT, 0) || at_is_note(at, NOTE_INITIATED, 0)) &&
            at.record->bytes <= line)
            return true;
    return false;
}

/* In that incarnation a rank restored something else than the line, or nothing: and it came to its
 * end, or makes the line again, or the incarnation is the last one. */
static bool is_restored_otherwise(const struct shown *shown, int life, uint64_t line)
{
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        bool ended = life == shown->lives - 1 || atomic_load(&trace->header->closed) != 0;
        if (trace->incarnation == life &&
            at_first_note(trace, NOTE_RESTORED, line).record == NULL &&
            (ended || at_first_note(trace, NOTE_RESTORED, 0).record != NULL ||
             makes_again(trace, line)))
            return true;
    }
    return false;
}

/* Not the newest line committed before. Or, in some incarnation behind a commit, none: those in
 * between may have died before they restored. */
static bool is_other_line(const struct shown *shown)
{
    bool began = shown->restored.record != NULL;
    struct at line = began ? shown->restored : shown->commit;
    uint64_t newest = 0;
    for (int life = 0; line.record != NULL && life < shown->lives; life++)
        if ((began ? life == line.trace->incarnation : life > line.trace->incarnation) &&
            is_restored_otherwise(shown, life, line.record->bytes))
            return true;
    for (struct at at = {0}; began && at_next_of_all(shown->traces, &at);)
        if (at.trace->incarnation < line.trace->incarnation && at_is_note(at, NOTE_COMMIT, 0) &&
            at.record->bytes > newest)
            newest = at.record->bytes;
    return began && newest != line.record->bytes;
}

static bool shows_c_recovery(const struct shown *shown)
{
    struct at sent = shown->sent, got = shown->got, again = shown->sent_last;
    struct at first = note(shown, NOTE_INITIATED, 0), second = note(shown, NOTE_INITIATED, 1);
    if (is(shown, "C.late.replay") && (sent.record == NULL || got.record == NULL))
        return is_noted_too_often(shown, note(shown, NOTE_REPLAYED, 0));
    if (is(shown, "C.late.replay"))
        return notes_inside(got, NOTE_REPLAYED) != 1 || shows_inside(shown, got, RECORD_RECV) ||
               !same_bytes(sent.record, got.record);
    if (is(shown, "C.early.suppress") && sent.record == NULL)
        return is_noted_too_often(shown, note(shown, NOTE_SUPPRESSED, 0));
    if (is(shown, "C.early.suppress"))
        return again.trace->incarnation > sent.trace->incarnation &&
               (notes_inside(again, NOTE_SUPPRESSED) != 1 ||
                shows_inside(shown, again, RECORD_SEND));
    if (is(shown, "C.early.same"))
        return sent.record != NULL && is_other(sent.record, again.record);
    if (is(shown, "C.nondet"))
        return is_decided_otherwise(shown);
    if (is(shown, "C.restore"))
        return is_other_line(shown);
    if (is(shown, "C.initiate") && second.record == NULL)
        return first.record != NULL && shown->restored.record != NULL &&
               first.record->bytes <= shown->restored.record->bytes;
    return is(shown, "C.initiate") &&
           (second.record->bytes <= first.record->bytes || shown->commit.record == NULL ||
            !at_is_known(shown->traces, shown->commit, second));
}

/* --- D: collectives ------------------------------------------------------------------------ */

/* Where a member has given its part, and where another, by the call or the one that completes it,
 * has what it gets: against the line of the first note that is shown. */
static bool members_stand(const struct shown *shown, struct at a, struct at b)
{
    if (!at_is_call(a, LEVEL_APP) || !at_is_call(b, LEVEL_APP) || a.trace->rank == b.trace->rank)
        return false;
    for (size_t i = 0; i < shown->count; i++) {
        uint64_t line = shown->event[i].record->bytes;
        if (shown->event[i].record->kind != RECORD_NOTE)
            continue;
        struct at had = at_completion(b);
        enum stand gave = at_stand(a, line), got = at_stand(had.record != NULL ? had : b, line);
        if ((is(shown, "D.2.2") && gave == STAND_BEYOND && got != STAND_BEYOND) ||
            (is(shown, "D.2.3") && gave == STAND_BEHIND && got == STAND_BEYOND) ||
            (is(shown, "D.barrier") && gave == STAND_BEHIND && got != STAND_BEHIND))
            return true;
    }
    return false;
}

static bool is_taken_in_barrier(const struct shown *shown, struct at taken, struct at call)
{
    (void)shown;
    return at_is_note(taken, NOTE_CHECKPOINT, 0) && at_is_call(call, LEVEL_APP) &&
           at_inside(taken, call) && is_on_wire(call, OPERATION_BARRIER, taken.index);
}

/* What one rank gave and got in the call before and after, or what met on the wire. */
static bool is_other_data(const struct shown *shown, struct at a, struct at b)
{
    (void)shown;
    if (at_is_call(a, LEVEL_WIRE) && at_is_call(b, LEVEL_WIRE))
        return a.trace->incarnation == b.trace->incarnation &&
               (a.record->call != b.record->call || data_of(a.record) != data_of(b.record));
    return at_is_call(a, LEVEL_APP) && at_is_call(b, LEVEL_APP) && a.trace->rank == b.trace->rank &&
           a.trace != b.trace &&
           (is_other(a.record, b.record) || a.record->result_hash != b.record->result_hash);
}

/* A call that straddles the line is on the wire again; one that is not. */
static bool is_executed_wrongly(const struct shown *shown)
{
    struct at again = {0}, before = {0};
    for (size_t i = 0; shown->restored.record != NULL && i < shown->count; i++) {
        struct at at = shown->event[i];
        if (at_is_call(at, LEVEL_APP) && at.trace == shown->restored.trace)
            again = at;
        else if (at_is_call(at, LEVEL_APP) &&
                 at.trace->incarnation < shown->restored.trace->incarnation)
            before = at;
    }
    return again.record != NULL &&
           (!is_on_wire(again, OPERATION_NONE, NEVER) ||
            (before.record != NULL && shows_inside(shown, again, RECORD_COLLECTIVE) &&
             at_stand(before, shown->restored.record->bytes) == STAND_BEHIND));
}

static bool shows_d(const struct shown *shown)
{
    if (is(shown, "D.2.2") || is(shown, "D.2.3"))
        return any_two(shown, members_stand);
    if (is(shown, "D.barrier"))
        return any_two(shown, members_stand) || any_two(shown, is_taken_in_barrier);
    return (is(shown, "D.all") || is(shown, "D.gather") || is(shown, "D.bcast")) &&
           (any_two(shown, is_other_data) || is_executed_wrongly(shown));
}

/* --- S, R: cuts, channels and places ------------------------------------------------------- */

/* In a call of both the one gives and the other gets; below whom in a scan's communicator is
 * believed. */
static bool gives_to(struct at from, struct at to)
{
    enum call_operation operation = call_operation(from.record->call);
    bool one_gives = operation == OPERATION_BCAST || operation == OPERATION_SCATTER ||
                     operation == OPERATION_SCATTERV;
    bool one_gets = operation == OPERATION_GATHER || operation == OPERATION_GATHERV ||
                    operation == OPERATION_REDUCE;
    return at_is_call(from, LEVEL_APP) && at_is_call(to, LEVEL_APP) && from.trace != to.trace &&
           from.record->call == to.record->call && from.record->comm == to.record->comm &&
           (!one_gives || from.record->peer == at_rank(from)) &&
           (!one_gets || to.record->peer == at_rank(to));
}

/* Given behind the one's checkpoint of a line, had before the other's. */
static bool turns_back(const struct shown *shown, struct at given, struct at got)
{
    struct at from = {0}, to = {0};
    if (!is_pair(given, got) && !gives_to(given, got))
        return false;
    for (size_t i = shown->count; i-- > 0;) {
        struct at at = shown->event[i];
        if (at_is_note(at, NOTE_CHECKPOINT, 0) && at_rank(at) == at_rank(given))
            from = at;
        if (at_is_note(at, NOTE_CHECKPOINT, 0) && at_rank(at) == at_rank(got))
            to = at;
    }
    return from.record != NULL && to.record != NULL && from.record->bytes == to.record->bytes &&
           given.record->enter > from.record->enter && at_done(got) <= to.record->enter;
}

/* Notes before `before` that the message is recorded with the line, against what crosses it
 * forwards: -1 too few, 1 too many. A send in which the cut lies may be on either side. */
static int recorded(const struct shown *shown, struct at at, struct at cut, uint64_t before)
{
    struct message message = message_of(at);
    struct at from = checkpoint_of(shown->traces, message.source, cut);
    struct at to = checkpoint_of(shown->traces, message.destination, cut);
    if (from.record == NULL || to.record == NULL || ranks_move(shown->traces))
        return from.record != NULL && to.record != NULL ? -1 : 0;
    struct walk got = walk_of(shown->traces, &message, cut.trace->incarnation, true);
    struct walk sent = walk_of(shown->traces, &message, cut.trace->incarnation, false);
    got.until = to;
    sent.until = from;
    struct walk begun = sent;
    begun.begun = true;
    struct at trace = {.trace = to.trace};
    uint64_t notes = message_notes(&message, trace, NOTE_RECORDED, cut.record->bytes, before);
    uint64_t kept = notes + walk_count(got);
    return kept < walk_count(sent) ? -1 : notes > 0 && kept > walk_count(begun);
}

/* Of the same channel, what was sent later was recorded with the line first. */
static bool is_passed(struct at sent, struct at told)
{
    struct message message = message_of(sent);
    struct at trace = {.trace = told.trace};
    for (struct at at = sent; told.record != NULL && at_is_sent(sent) && at_next(&at);) {
        message.tag = at.record->tag;
        message.like = at.record;
        if (at_is_sent(at) && message_is_at(&message, at) &&
            message_notes(&message, trace, NOTE_RECORDED, told.record->bytes, told.index) > 0)
            return true;
    }
    return false;
}

static bool is_told_twice(const struct shown *shown, struct at a, struct at b)
{
    (void)shown;
    return (at_is_note(a, NOTE_CHECKPOINT, 0) || at_is_note(a, NOTE_CLEAR, 0)) &&
           at_is_note(b, (enum note_kind)a.record->tag, a.record->bytes) && a.record != b.record &&
           a.record->peer == b.record->peer && at_rank(a) == at_rank(b) &&
           a.trace->incarnation == b.trace->incarnation;
}

/* What the receive asks for, if it was not posted by another call. */
static bool asks_for(const struct record *got, const struct record *told)
{
    return got->comm == told->comm &&
           (got->kind != RECORD_RECV ||
            ((got->want_peer == PEER_ANY || got->want_peer == told->peer) &&
             (got->want_tag == TAG_ANY || got->want_tag == (int)told->request)));
}

/* Handed over from the buffer more often than recorded where the rank took the line last: it may
 * have been begun before, and not finished. */
static bool is_replayed_too_often(const struct shown *shown, struct at replayed, uint64_t line)
{
    struct message message = message_of(replayed);
    struct at taken = {0}, here = {.trace = replayed.trace};
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, NOTE_CHECKPOINT, line) && at_rank(at) == message.destination &&
            at.trace->incarnation <= replayed.trace->incarnation && at.trace != replayed.trace)
            taken.trace = at.trace;
    return message_notes(&message, here, NOTE_REPLAYED, line, NEVER) >
           (taken.trace == NULL ? 0 : message_notes(&message, taken, NOTE_RECORDED, line, NEVER));
}

/* The first one recorded that the receive matches is not told to be replayed to it; or another. */
static bool is_served_wrongly(const struct shown *shown)
{
    struct at told = note(shown, NOTE_RECORDED, 0), replayed = note(shown, NOTE_REPLAYED, 0);
    const struct record *got = shown->got.record;
    if (got == NULL || shown->restored.record == NULL)
        return false;
    if (replayed.record != NULL)
        return is_replayed_too_often(shown, replayed, shown->restored.record->bytes);
    if (!at_is_note(told, NOTE_RECORDED, shown->restored.record->bytes))
        return false;
    struct message message = message_of(told);
    return message_is_at(&message, shown->got) && same_bytes(got, told.record)
               ? notes_inside(shown->got, NOTE_REPLAYED) == 0 || got->kind == RECORD_COMPLETE
               : asks_for(got, told.record);
}

/* The process reaches nobody where that goes: by what it has said so far of where ranks are. */
static bool goes_to_nobody(const struct shown *shown, struct at sent)
{
    for (int rank = 0; rank < shown->traces->ranks; rank++) {
        int place = rank;
        for (struct at at = {.trace = sent.trace}; at_next(&at) && at.index < sent.index;)
            if (at_is_note(at, NOTE_ADDRESS, 0) && at.record->bytes == (uint64_t)rank)
                place = at.record->peer;
        if (place == sent.record->peer && ranks_have(shown->traces, rank))
            return false;
    }
    return true;
}

static bool shows_s_or_r(const struct shown *shown)
{
    struct at address = note(shown, NOTE_ADDRESS, 0);
    struct at last = shown->count > 0 ? shown->event[shown->count - 1] : (struct at){0};
    struct at sent = shown->sent, cut = shown->checkpoint, told = note(shown, NOTE_RECORDED, 0);
    struct at message = sent.record != NULL ? sent : told, notified = note(shown, NOTE_NOTIFIED, 0);
    if (is(shown, "S.cut"))
        return any_two(shown, turns_back);
    if (is(shown, "S.channel") && cut.record != NULL && message.record != NULL)
        return recorded(shown, message, cut, NEVER) != 0 || is_passed(message, told);
    if (is(shown, "S.done") && any_two(shown, is_told_twice))
        return true;
    if (is(shown, "S.done") && shown->commit.record == NULL)
        return somebody_lacks(shown->traces, NOTE_CLEAR, note(shown, NOTE_SAVED, 0));
    if (is(shown, "S.done"))
        return somebody_lacks(shown->traces, NOTE_SAVED, shown->commit) ||
               somebody_lacks(shown->traces, NOTE_CHECKPOINT, shown->commit);
    if (is(shown, "R.clear") && sent.record == NULL)
        return somebody_lacks(shown->traces, NOTE_CLEAR, cut);
    if (is(shown, "R.clear"))
        return cut.record != NULL && sent.record->peer == at_rank(cut) &&
               recorded(shown, sent, cut, cut.index) < 0;
    if (is(shown, "R.atomic"))
        return notified.record != NULL && sent.record != NULL && at_inside(notified, sent) &&
               notified.record->thread == sent.record->thread &&
               at_done(sent) > sent.record->enter && sent.record->call != CALL_MPI_Ssend;
    if (is(shown, "R.buffer"))
        return is_served_wrongly(shown);
    /* The application is shown a rank that is none; or that goes through the communicator told of.
     */
    if (is(shown, "R.address") && last.record != NULL && address.record == NULL)
        return last.record->level == LEVEL_APP && last.record->peer >= 0 &&
               !ranks_have(shown->traces, last.record->peer);
    return is(shown, "R.address") && last.record != NULL && last.record->kind == RECORD_SEND &&
           last.record->level == LEVEL_WIRE && last.record->peer >= 0 && at_before(address, last) &&
           last.record->comm == address.record->comm && goes_to_nobody(shown, last);
}

/* --- all ----------------------------------------------------------------------------------- */

bool witness_holds(const struct witness *witness)
{
    struct shown shown = {.witness = witness,
                          .traces = witness->traces,
                          .lives = witness->traces->incarnations,
                          .count = witness->count};
    for (size_t i = witness->count; i-- > 0;) {
        const struct witness_event *event = &witness->event[i];
        const struct trace *trace =
            trace_set_find(witness->traces, event->rank, event->incarnation);
        if (trace == NULL || event->index >= trace->count)
            return false;
        struct at at = shown.event[i] =
            (struct at){trace, event->index, &trace->record[event->index]};
        if (at_is_helpers(witness->traces, at))
            continue;
        if (at_is_sent(at)) {
            shown.sent = at;
            shown.sent_last = shown.sent_last.record != NULL ? shown.sent_last : at;
        } else if (at_is_got(at)) {
            shown.got = at;
            shown.got_last = shown.got_last.record != NULL ? shown.got_last : at;
        } else if (at.record->kind == RECORD_STORAGE) {
            shown.written = at;
        }
    }
    shown.pair = is_pair(shown.sent, shown.got);
    shown.restored = note(&shown, NOTE_RESTORED, 0);
    shown.commit = note(&shown, NOTE_COMMIT, 0);
    shown.checkpoint = note(&shown, NOTE_CHECKPOINT, 0);
    return shows_h_or_b(&shown) || shows_c_lines(&shown) || shows_c_recovery(&shown) ||
           shows_d(&shown) || shows_s_or_r(&shown);
}
