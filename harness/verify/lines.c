/* Family C: lines, and what is done again after recovery. See shown.h. */
#include "verify/shown.h"

/* --- lines --------------------------------------------------------------------------------- */

bool shows_stopped_early(const struct shown *shown)
{
    return somebody_lacks(shown->traces, NOTE_CHECKPOINT, shown_note(shown, NOTE_STOP_LOG, 0));
}

/* Where the two ends of the message stand against the line of the stop-log that is shown. */
static bool stand(const struct shown *shown, enum stand *sent, enum stand *got)
{
    struct at stop = shown_note(shown, NOTE_STOP_LOG, 0);
    if (!shown->pair || stop.record == NULL)
        return false;
    *sent = at_stand(shown->sent, stop.record->bytes);
    *got = at_stand(shown->got, stop.record->bytes);
    return true;
}

bool shows_claim_1_2(const struct shown *shown)
{
    enum stand sent, got;
    return stand(shown, &sent, &got) && sent == STAND_BEYOND && got != STAND_BEYOND;
}

bool shows_claim_1_3(const struct shown *shown)
{
    enum stand sent, got;
    return stand(shown, &sent, &got) && sent == STAND_BEFORE && got == STAND_BEYOND;
}

bool shows_late_unlogged(const struct shown *shown)
{
    return shown->sent_in < shown->got_in &&
           !is_noted(shown->got, NOTE_LOGGED, shown->got_in, NOTE_STOP_LOG);
}

bool shows_early_unlisted(const struct shown *shown)
{
    return shown->sent_in > shown->got_in &&
           !is_noted(shown->got, NOTE_EARLY, shown->sent_in, NOTE_CHECKPOINT);
}

bool shows_ready_early(const struct shown *shown)
{
    struct at sent = shown->sent, ready = shown_note(shown, NOTE_READY, 0);
    if (ready.record == NULL)
        return false;
    if (shown->got.record != NULL)
        return shown->sent_in < shown->got_in && ready.record->enter < at_done(shown->got);
    return sent.record != NULL && at_stand(sent, ready.record->bytes) == STAND_BEFORE &&
           differs(shown, sent, ready.trace->incarnation);
}

bool shows_other_class(const struct shown *shown)
{
    struct at logged = shown_note(shown, NOTE_LOGGED, 0), early = shown_note(shown, NOTE_EARLY, 0);
    uint64_t sent_in = shown->sent_in, got_in = shown->got_in;
    if (!shown->pair)
        return is_of_nothing(logged.record != NULL ? logged : early);
    return notes_inside(shown->got, NOTE_LOGGED) != (sent_in < got_in) ||
           notes_inside(shown->got, NOTE_EARLY) != (sent_in > got_in) ||
           (logged.record != NULL && logged.record->bytes != got_in) ||
           (early.record != NULL && early.record->bytes != sent_in);
}

bool shows_epochs_apart(const struct shown *shown)
{
    return shown->pair && (lines_between(shown->sent, shown->sent_in, shown->got_in) > 1 ||
                           lines_between(shown->got, shown->sent_in, shown->got_in) > 1);
}

bool shows_committed_early(const struct shown *shown)
{
    return shows_not_durable(shown) || (shown->written.record == NULL &&
                                        somebody_lacks(shown->traces, NOTE_SAVED, shown->commit));
}

bool shows_initiated_early(const struct shown *shown)
{
    struct at first = shown_note(shown, NOTE_INITIATED, 0);
    struct at second = shown_note(shown, NOTE_INITIATED, 1);
    if (second.record == NULL)
        return first.record != NULL && shown->restored.record != NULL &&
               first.record->bytes <= shown->restored.record->bytes;
    return second.record->bytes <= first.record->bytes || shown->commit.record == NULL ||
           !at_is_known(shown->traces, shown->commit, second);
}

/* --- recovery ------------------------------------------------------------------------------ */

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

/* Sent before the line, and it never came, though somebody waits for it. */
static bool is_missing(const struct shown *shown)
{
    return !shown->witness->finished && shown->restored.record != NULL &&
           shown->sent.trace->incarnation < shown->restored.trace->incarnation && shows_loss(shown);
}

bool shows_late_replay(const struct shown *shown)
{
    const struct record *sent = shown->sent.record, *got = shown->got.record;
    if (sent != NULL && got == NULL && shown_note(shown, NOTE_REPLAYED, 0).record == NULL)
        return is_missing(shown);
    if (sent == NULL || got == NULL)
        return is_noted_too_often(shown, shown_note(shown, NOTE_REPLAYED, 0));
    return notes_inside(shown->got, NOTE_REPLAYED) != 1 ||
           shows_inside(shown, shown->got, RECORD_RECV) || !same_bytes(sent, got);
}

bool shows_early_sent_again(const struct shown *shown)
{
    struct at sent = shown->sent, again = shown->sent_last;
    if (sent.record == NULL)
        return is_noted_too_often(shown, shown_note(shown, NOTE_SUPPRESSED, 0));
    return again.trace->incarnation > sent.trace->incarnation &&
           (notes_inside(again, NOTE_SUPPRESSED) != 1 || shows_inside(shown, again, RECORD_SEND));
}

bool shows_other_bytes_again(const struct shown *shown)
{
    return shown->sent.record != NULL && is_other(shown->sent.record, shown->sent_last.record);
}

/* The line, what was decided, and what was decided again; or one of the two that has no like.
 * Requests are numbered anew, so which of them a call chose is believed. */
bool shows_decided_otherwise(const struct shown *shown)
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
static bool repeats_line(const struct trace *trace, uint64_t line)
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
             repeats_line(trace, line)))
            return true;
    }
    return false;
}

/* Not the newest line committed before. Or, in some incarnation after a commit, none: those in
 * between may have died before they restored. */
bool shows_other_line(const struct shown *shown)
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

/* --- what the whole job is brought back to (H.restore) --------------------------------------- */

/* Such a note on the line, told before that incarnation; by whoever is `rank` then, or by anybody
 * (-1). */
static bool is_told_before(const struct shown *shown, enum note_kind kind, uint64_t line, int rank,
                           int incarnation)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at.trace->incarnation < incarnation && at_is_note(at, kind, line) &&
            at.record->bytes == line && (rank < 0 || at_rank(at) == rank))
            return true;
    return false;
}

/* Nobody has told of that commit before in the same incarnation. */
static bool is_first_of_line(const struct shown *shown, struct at commit)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, NOTE_COMMIT, commit.record->bytes) &&
            at.record->bytes == commit.record->bytes &&
            at.trace->incarnation == commit.trace->incarnation &&
            at.record->enter < commit.record->enter)
            return false;
    return true;
}

/* Between the commit and that incarnation another line was committed. */
static bool is_outdated(const struct shown *shown, struct at commit, int incarnation)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, NOTE_COMMIT, 0) && at.trace->incarnation < incarnation &&
            at.record->bytes != commit.record->bytes && at.record->enter > commit.record->enter &&
            is_first_of_line(shown, at))
            return true;
    return false;
}

/* The process was not restored; or the program's newest call by then has not returned, or had
 * returned when that was told, and it has made no other since. */
static bool has_not_gone_on(const struct trace *trace)
{
    struct at restored = at_first_note(trace, NOTE_RESTORED, 0);
    bool gone_on = false;
    for (struct at at = {.trace = trace}; restored.record != NULL && at_next(&at);)
        if (at.record->level == LEVEL_APP && record_is_event(at.record))
            gone_on = at.index > restored.index ||
                      (at_done(at) != NEVER && at_done(at) > restored.record->enter);
    return !gone_on;
}

/* The commit, then what a rank did of which the claim is broken. */
bool shows_restored_otherwise(const struct shown *shown)
{
    struct at commit = shown->commit, restored = shown->restored;
    struct at of = shown->count > 1 ? shown->event[1] : (struct at){0};
    if (commit.record == NULL || of.record == NULL)
        return false;
    int life = of.trace->incarnation;
    if (commit.trace->incarnation >= life || is_outdated(shown, commit, life))
        return false;
    struct at other = shown_note(shown, NOTE_RESTORED, 1);
    if (other.record != NULL)
        return other.trace->incarnation == life && other.record->bytes != restored.record->bytes;
    if (restored.record == NULL || restored.record->bytes == commit.record->bytes)
        return has_not_gone_on(of.trace) &&
               (atomic_load(&of.trace->header->closed) != 0 ||
                (life == shown->lives - 1 && !shown->witness->finished));
    uint64_t line = restored.record->bytes;
    return is_told_before(shown, NOTE_COMMIT, line, -1, life) ||
           !is_told_before(shown, NOTE_SAVED, line, at_rank(restored), life);
}
