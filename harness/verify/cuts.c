/* Families S and R: cuts, channels and places. See shown.h. */
#include "verify/shown.h"

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

/* Given after the one's checkpoint of a line, had before the other's. */
static bool turns_back(const struct shown *shown, struct at given, struct at got)
{
    struct at from = {0}, to = {0};
    if (!is_pair(NULL, given, got) && !gives_to(given, got))
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

static bool is_send_of_wire(struct at at)
{
    return at.record->kind == RECORD_SEND && at.record->level == LEVEL_WIRE && at.record->peer >= 0;
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

/* The same of what calls of the application are made of on the wire, by all that the two processes
 * did in the incarnation. */
static int recorded_carried(const struct shown *shown, struct at at, struct at cut)
{
    struct message message = message_of(at);
    struct at from = checkpoint_of(shown->traces, message.source, cut);
    struct at to = checkpoint_of(shown->traces, message.destination, cut);
    struct at receiver = {.trace = to.trace}, sender = {.trace = from.trace};
    uint64_t sent = 0, begun = 0, got = 0;
    if (from.record == NULL || to.record == NULL)
        return 0;
    for (struct at one = sender; at_next(&one);)
        if (is_send_of_wire(one) && message_is_at(&message, one) &&
            same_bytes(one.record, at.record)) {
            begun += one.record->enter <= from.record->enter;
            sent += at_done(one) <= from.record->enter;
        }
    for (struct at one = receiver; at_next(&one);)
        got += one.record->level == LEVEL_WIRE && at_takes(one) && message_is_at(&message, one) &&
               same_bytes(one.record, at.record) && at_done(one) <= to.record->enter;
    uint64_t notes =
        message_notes(&message, receiver, NOTE_RECORDED_CARRIED, cut.record->bytes, NEVER);
    return notes + got < sent ? -1 : notes > 0 && notes + got > begun;
}

/* Of the same channel, what was sent later was recorded with the line first. */
static bool is_passed(struct at sent, struct at noted)
{
    struct message message = message_of(sent);
    struct at trace = {.trace = noted.trace};
    bool of_wire = is_send_of_wire(sent);
    for (struct at at = sent;
         noted.record != NULL && (of_wire || at_is_sent(sent)) && at_next(&at);) {
        message.tag = at.record->tag;
        message.like = at.record;
        if ((of_wire ? is_send_of_wire(at) : at_is_sent(at)) && message_is_at(&message, at) &&
            message_notes(&message, trace, (enum note_kind)noted.record->tag, noted.record->bytes,
                          noted.index) > 0)
            return true;
    }
    return false;
}

/* The send on the wire that is shown, or the note of what it sent. */
static struct at shown_carried(const struct shown *shown)
{
    for (size_t i = 0; i < shown->count; i++)
        if (is_send_of_wire(shown->event[i]))
            return shown->event[i];
    return shown_note(shown, NOTE_RECORDED_CARRIED, 0);
}

static bool is_noted_twice(const struct shown *shown, struct at a, struct at b)
{
    (void)shown;
    return (at_is_note(a, NOTE_CHECKPOINT, 0) || at_is_note(a, NOTE_CLEAR, 0)) &&
           at_is_note(b, (enum note_kind)a.record->tag, a.record->bytes) && a.record != b.record &&
           a.record->peer == b.record->peer && at_rank(a) == at_rank(b) &&
           a.trace->incarnation == b.trace->incarnation;
}

/* What the receive asks for, if it was not posted by another call. */
static bool asks_for(const struct record *got, const struct record *noted)
{
    return got->comm == noted->comm &&
           (got->kind != RECORD_RECV ||
            ((got->want_peer == PEER_ANY || got->want_peer == noted->peer) &&
             (got->want_tag == TAG_ANY || got->want_tag == (int)noted->request)));
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

/* The first recorded message that the receive matches is not noted as replayed to it; or another
 * one is. */
bool shows_served_wrongly(const struct shown *shown)
{
    struct at noted = shown_note(shown, NOTE_RECORDED, 0),
              replayed = shown_note(shown, NOTE_REPLAYED, 0);
    const struct record *got = shown->got.record;
    if (shown->restored.record == NULL)
        return false;
    if (got == NULL)
        return !shown->witness->finished &&
               at_is_note(noted, NOTE_RECORDED, shown->restored.record->bytes) && shows_loss(shown);
    if (replayed.record != NULL)
        return is_replayed_too_often(shown, replayed, shown->restored.record->bytes);
    if (!at_is_note(noted, NOTE_RECORDED, shown->restored.record->bytes))
        return false;
    struct message message = message_of(noted);
    return message_is_at(&message, shown->got) && same_bytes(got, noted.record)
               ? notes_inside(shown->got, NOTE_REPLAYED) == 0 || got->kind == RECORD_COMPLETE
               : asks_for(got, noted.record);
}

static struct at last_of(const struct shown *shown)
{
    return shown->count > 0 ? shown->event[shown->count - 1] : (struct at){0};
}

bool shows_turned_back(const struct shown *shown)
{
    return any_two(shown, turns_back);
}

bool shows_other_channel(const struct shown *shown)
{
    struct at noted = shown_note(shown, NOTE_RECORDED, 0), carried = shown_carried(shown);
    struct at message = shown->sent.record != NULL ? shown->sent : noted;
    if (shown->checkpoint.record != NULL && carried.record != NULL)
        return recorded_carried(shown, carried, shown->checkpoint) != 0 ||
               is_passed(carried, shown_note(shown, NOTE_RECORDED_CARRIED, 0));
    return shown->checkpoint.record != NULL && message.record != NULL &&
           (recorded(shown, message, shown->checkpoint, NEVER) != 0 || is_passed(message, noted));
}

bool shows_not_done(const struct shown *shown)
{
    if (any_two(shown, is_noted_twice))
        return true;
    if (shown->commit.record == NULL)
        return somebody_lacks(shown->traces, NOTE_CLEAR, shown_note(shown, NOTE_SAVED, 0));
    return somebody_lacks(shown->traces, NOTE_SAVED, shown->commit) ||
           somebody_lacks(shown->traces, NOTE_CHECKPOINT, shown->commit);
}

bool shows_not_clear(const struct shown *shown)
{
    struct at sent = shown->sent, cut = shown->checkpoint;
    if (sent.record == NULL)
        return somebody_lacks(shown->traces, NOTE_CLEAR, cut);
    return cut.record != NULL && sent.record->peer == at_rank(cut) &&
           recorded(shown, sent, cut, cut.index) < 0;
}

/* Nothing has gone out on the wire since the call began. */
static bool is_silent(struct at call, struct at until)
{
    for (struct at at = call; at_next(&at) && at.index < until.index;)
        if (is_send_of_wire(at))
            return false;
    return true;
}

/* A call that goes on to wait for something else does so when it has sent. */
bool shows_notified_in_send(const struct shown *shown)
{
    struct at sent = shown->sent, notified = shown_note(shown, NOTE_NOTIFIED, 0);
    if (notified.record == NULL || sent.record == NULL)
        return false;
    bool waits = at_done(sent) == sent.record->enter || sent.record->call == CALL_MPI_Ssend;
    return at_inside(notified, sent) && notified.record->thread == sent.record->thread &&
           (!waits || is_silent(sent, notified));
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

/* The application is shown a rank that is none; or one of the communicator that was noted. */
bool shows_wrong_address(const struct shown *shown)
{
    struct at address = shown_note(shown, NOTE_ADDRESS, 0), last = last_of(shown);
    if (last.record == NULL)
        return false;
    if (address.record == NULL)
        return last.record->level == LEVEL_APP && last.record->peer >= 0 &&
               !ranks_have(shown->traces, last.record->peer);
    return last.record->kind == RECORD_SEND && last.record->level == LEVEL_WIRE &&
           last.record->peer >= 0 && at_before(address, last) &&
           last.record->comm == address.record->comm && goes_to_nobody(shown, last);
}
