/* Family M: message logging. Each claim is looked at from the notes that the witness names and
 * those that stand before them, by searching the traces; nothing is kept from one event to the
 * next. See shown.h. */
#include "verify/shown.h"

#define ALL UINT32_MAX /* the receiver of a multicast */

static bool is_same_number(const struct record *a, const struct record *b)
{
    return a->comm == b->comm && a->peer == b->peer && a->bytes == b->bytes;
}

static bool is_same_determinant(const struct record *a, const struct record *b)
{
    return is_same_number(a, b) && a->request == b->request && a->hash == b->hash;
}

/* A receiver says what it delivers. */
static bool is_own(struct at at)
{
    return at_is_note(at, NOTE_HELD, 0) && (int)at.record->request == at_rank(at);
}

static bool dies_with(struct at at)
{
    return at.trace->end != NULL && at.index + 1 >= at.trace->count;
}

/* The process is alive, and is a rank, after what happened at `then`. */
static bool lives_after(const struct trace *trace, struct at then)
{
    struct at left = left_at(trace);
    if (trace == then.trace && dies_with(then))
        return false;
    if (left.record != NULL && left.record->enter <= then.record->enter)
        return false;
    return trace->end == NULL || is_finalized(trace) || trace->end->enter > then.record->enter ||
           (trace->end->tag == 0 && trace->end->bytes == 0);
}

/* A process says what it has of determinants and payloads, before `then` or there. */
static bool is_by(struct at at, struct at then)
{
    return at.record->enter < then.record->enter ||
           (at.trace == then.trace && at.index <= then.index);
}

/* The event of the witness that comes last. */
static struct at latest_of(const struct shown *shown)
{
    struct at last = shown->event[0];
    for (size_t i = 1; i < shown->count; i++)
        if (last.record->enter < shown->event[i].record->enter)
            last = shown->event[i];
    return last;
}

/* ... and it has not gone back to an older line since. */
static bool is_saved(const struct shown *shown, int rank, uint64_t line, struct at then)
{
    uint64_t saved = 0, undone = 0;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);) {
        if (at_rank(at) != rank || !is_by(at, then))
            continue;
        if ((at_is_note(at, NOTE_SAVED, line) || at_is_note(at, NOTE_RESTORED, line)) &&
            at.record->enter > saved)
            saved = at.record->enter;
        if (at_is_note(at, NOTE_RESTORED, 0) && at.record->bytes < line &&
            at.record->enter > undone)
            undone = at.record->enter;
    }
    return saved > undone;
}

/* 1 + the team of the process; 0: none. */
static uint64_t team_of(const struct trace *trace)
{
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (at_is_note(at, NOTE_TEAM, 0))
            return at.record->bytes + 1;
    return 0;
}

/* The ranks go back together. */
static bool are_together(const struct shown *shown, int a, int b)
{
    uint64_t teams[2] = {0, 0};
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, NOTE_TEAM, 0)) {
            teams[0] = at_rank(at) == a ? at.record->bytes + 1 : teams[0];
            teams[1] = at_rank(at) == b ? at.record->bytes + 1 : teams[1];
        }
    return a == b || (teams[0] != 0 && teams[0] == teams[1]);
}

/* The programs of all ranks have called MPI_Finalize. */
static bool is_over(const struct shown *shown, struct at then)
{
    for (int rank = 0; rank < shown->traces->world; rank++) {
        bool over = !ranks_have(shown->traces, rank);
        for (struct at at = {0}; !over && at_next_of_all(shown->traces, &at);)
            over = at.record->level == LEVEL_APP && at.record->call == CALL_MPI_Finalize &&
                   at_rank(at) == rank && is_by(at, then);
        if (!over)
            return false;
    }
    return true;
}

/* The checkpoint, a note, can be restored though its line is not committed: all ranks have saved
 * the line; where nobody notes commits, those of the rank's team have; where nobody notes what is
 * saved either, it always can. */
static bool is_there(const struct shown *shown, struct at checkpoint, bool commits, bool saves,
                     struct at then)
{
    bool there = true;
    for (int rank = 0; there && (commits || saves) && rank < shown->traces->world; rank++)
        there = !ranks_have(shown->traces, rank) ||
                (!commits && !are_together(shown, rank, at_rank(checkpoint))) ||
                is_saved(shown, rank, checkpoint.record->bytes, then);
    return there;
}

/* A checkpoint of the receiver after the delivery is there to restore: its line is committed, or
 * all have saved it; it has saved it, where nobody notes commits; or it has taken it, where nobody
 * notes either. */
static bool is_safe(const struct shown *shown, struct at delivery, struct at then)
{
    bool commits = false, saves = false;
    if (is_over(shown, then))
        return true;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);) {
        commits |= at_is_note(at, NOTE_COMMIT, 0);
        saves |= at_is_note(at, NOTE_SAVED, 0);
        if (at_is_note(at, NOTE_COMMIT, 0) && at_before(delivery, at) && is_by(at, then))
            return true;
    }
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);) {
        bool safe = at_is_note(at, NOTE_CHECKPOINT, 0) && at_rank(at) == at_rank(delivery) &&
                    at_before(delivery, at) && is_by(at, then);
        if (safe && is_there(shown, at, commits, saves, then))
            return true;
    }
    return false;
}

/* --- M.orphan -------------------------------------------------------------------------------- */

/* What the last word of the process on the determinant is. */
static bool trace_holds(const struct trace *trace, const struct record *determinant, struct at then)
{
    bool holds = false;
    for (struct at at = {.trace = trace}; at_next(&at) && is_by(at, then);) {
        bool mine = is_own(at);
        if (at_is_note(at, NOTE_HELD, 0) && is_same_determinant(at.record, determinant))
            holds = true;
        if (at_is_note(at, NOTE_RESTORED, 0) && (int)determinant->request != at_rank(at))
            holds = false;
        if (at_is_note(at, NOTE_LET_GO, 0) && (int)determinant->request != at_rank(at) && !mine &&
            (at.record->peer == -1 || is_same_determinant(at.record, determinant)))
            holds = false;
    }
    return holds && lives_after(trace, then);
}

static uint64_t promised(const struct trace_set *traces)
{
    for (struct at at = {0}; at_next_of_all(traces, &at);)
        if (at_is_note(at, NOTE_PROMISED, 0))
            return at.record->bytes;
    return 1;
}

/* Processes that hold it, one of each team; *with: the process `other` would die with them. */
static uint64_t holders(const struct shown *shown, const struct record *determinant, struct at then,
                        const struct trace *other, bool *with)
{
    uint64_t count = 0;
    for (size_t i = 0; i < shown->traces->count; i++) {
        const struct trace *trace = &shown->traces->trace[i];
        uint64_t team = team_of(trace);
        bool first = trace_holds(trace, determinant, then);
        *with |= first && (trace == other || (team != 0 && team == team_of(other)));
        for (size_t before = 0; before < i; before++)
            first &= team == 0 || team_of(&shown->traces->trace[before]) != team ||
                     !trace_holds(&shown->traces->trace[before], determinant, then);
        count += first;
    }
    return count;
}

/* What is sent there reflects what was delivered here: later, in the same process, or as a
 * contribution to a reduction that took in one which does. */
static bool reflects(const struct shown *shown, struct at delivery, struct at sent, size_t hops)
{
    if (sent.trace == delivery.trace)
        return sent.index > delivery.index;
    if (at_rank(sent) == at_rank(delivery))
        return true; /* in another life, of which more cannot be seen */
    if (!at_is_note(sent, NOTE_KEPT_PART, 0) || hops == 0)
        return false;
    for (struct at at = {.trace = sent.trace}; at_next(&at) && at.index < sent.index;) {
        if (!at_is_note(at, NOTE_TAKEN, 0) || at.record->comm != sent.record->comm ||
            at.record->bytes != sent.record->bytes)
            continue;
        for (struct at part = {0}; at_next_of_all(shown->traces, &part);)
            if (at_is_note(part, NOTE_KEPT_PART, 0) && is_same_number(part.record, at.record) &&
                reflects(shown, delivery, part, hops - 1))
                return true;
    }
    return false;
}

/* The messages of the witness lead from the delivery to somebody else: he who delivered the last.
 */
static struct at depends(const struct shown *shown, struct at delivery)
{
    struct at from = delivery, last = {0};
    for (size_t hop = 0; hop < shown->count; hop++) {
        struct at next = {0};
        for (size_t i = 0; i < shown->count && next.record == NULL; i++)
            for (size_t k = 0; k < shown->count && next.record == NULL; k++) {
                struct at sent = shown->event[i], got = shown->event[k];
                bool sends = at_is_note(sent, NOTE_KEPT, 0) || at_is_note(sent, NOTE_UNKEPT, 0) ||
                             at_is_note(sent, NOTE_MULTICAST, 0) ||
                             at_is_note(sent, NOTE_KEPT_PART, 0);
                if (sends && is_own(got) && sent.trace != got.trace && got.trace != from.trace &&
                    reflects(shown, from, sent, shown->traces->count) &&
                    got.record->peer == at_rank(sent) && got.record->bytes == sent.record->bytes)
                    next = got;
            }
        if (next.record == NULL)
            break;
        from = last = next;
    }
    return last;
}

bool shows_orphaned(const struct shown *shown)
{
    bool with = false;
    struct at delivery = shown->count > 0 ? shown->event[0] : (struct at){0};
    if (delivery.record == NULL || !(is_own(delivery) || at_is_got(delivery)))
        return false;
    struct at last = latest_of(shown);
    struct at orphan = depends(shown, delivery);
    if (orphan.record == NULL || !is_by(orphan, last) || at_rank(orphan) == at_rank(delivery) ||
        !(lives_after(orphan.trace, last) || is_safe(shown, orphan, last)))
        return false;
    if (is_safe(shown, delivery, last))
        return false;
    if (at_is_got(delivery))
        return true;
    return holders(shown, delivery.record, last, orphan.trace, &with) <= promised(shown->traces) &&
           !with;
}

/* --- M.order --------------------------------------------------------------------------------- */

/* Another process has the first one's determinant when the second is noted. */
static bool is_delivered_otherwise(const struct shown *shown, struct at first, struct at second)
{
    if (!is_own(first) || !is_own(second) || at_rank(first) != at_rank(second) ||
        first.trace == second.trace || first.record->hash != second.record->hash ||
        is_same_number(first.record, second.record))
        return false;
    for (size_t i = 0; i < shown->traces->count; i++)
        if (&shown->traces->trace[i] != first.trace &&
            trace_holds(&shown->traces->trace[i], first.record, second))
            return true;
    return false;
}

/* The record is of a call inside which the note was made: of one that completes several requests
 * the records stand behind the notes, and nothing that was called later stands between. */
static bool is_around(struct at at, struct at noted)
{
    if (at.index < noted.index)
        return at_done(at) > noted.record->enter;
    for (struct at between = noted; at_next(&between) && between.index < at.index;)
        if (between.record->level == LEVEL_APP && between.record->kind != RECORD_COMPLETE &&
            between.record->enter > noted.record->enter)
            return false;
    return at.record->kind == RECORD_COMPLETE;
}

/* The process never came out of a call that it was in: nothing says what that one handed over. */
static bool is_in_last_call(struct at noted)
{
    for (struct at at = {.trace = noted.trace}; at_next(&at);)
        if (at.record->level == LEVEL_APP && at.record->kind != RECORD_NOTE &&
            at.record->leave == 0 && at.record->enter <= noted.record->enter)
            return true;
    return false;
}

/* No call around the note hands over a message of the sender; or the one shown has other bytes. */
static bool is_of_another(const struct shown *shown, struct at noted)
{
    struct at sent = shown_note(shown, NOTE_KEPT, 0);
    if (!is_own(noted) || noted.record->comm != 0 || is_in_last_call(noted))
        return false;
    for (struct at at = {.trace = noted.trace}; at_next(&at);)
        if (at_is_got(at) && is_around(at, noted) &&
            peer_rank(shown->traces, at.trace->incarnation, at.record->peer) ==
                noted.record->peer &&
            (sent.record == NULL || same_bytes(at.record, sent.record)))
            return false;
    return true;
}

/* The whole job was started again from a line: the process does not say how many deliveries its
 * rank had done by then, so any number may be the first. */
static bool numbers_go_on(struct at noted)
{
    struct at at = {.trace = noted.trace};
    while (noted.trace->incarnation > 0 && at_next(&at) && at.index < noted.index)
        if (at_is_note(at, NOTE_RESTORED, 0))
            return at.record->bytes > 0;
    return false;
}

/* Of his rank, with that number, before `then`: the newest in another process. */
static struct at checkpoint_before(const struct shown *shown, struct at restored)
{
    struct at newest = {0};
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at.trace != restored.trace && at_is_note(at, NOTE_CHECKPOINT, 0) &&
            at.record->bytes == restored.record->bytes && at_rank(at) == at_rank(restored) &&
            at.record->enter < restored.record->enter &&
            (newest.record == NULL || newest.record->enter < at.record->enter))
            newest = at;
    return newest;
}

/* The delivery of the rank before this one, in the process before if this one restored its line. */
static struct at delivered_before(const struct shown *shown, struct at then)
{
    while (then.record != NULL) {
        struct at last = {0};
        for (struct at at = {.trace = then.trace}; at_next(&at) && at.index < then.index;)
            if (is_own(at) || at_is_note(at, NOTE_RESTORED, 0))
                last = at;
        if (last.record == NULL || is_own(last))
            return last;
        then = checkpoint_before(shown, last);
    }
    return then;
}

bool shows_delivered_otherwise(const struct shown *shown)
{
    if (shown->count == 0)
        return false;
    struct at first = shown->event[0];
    struct at second = shown->count > 1 ? shown->event[1] : (struct at){0};
    if (second.record != NULL && is_delivered_otherwise(shown, first, second))
        return true;
    if (is_of_another(shown, first))
        return true;
    if (!is_own(first))
        return false;
    if (second.record == NULL)
        return numbers_go_on(first) ? first.record->hash == 0 : first.record->hash != 1;
    if (at_rank(first) != at_rank(second))
        return false;
    bool follows =
        at_before(second, first) || delivered_before(shown, first).record == second.record;
    return follows &&
           (at_is_got(second) || (is_own(second) && first.record->hash != second.record->hash + 1));
}

/* --- what a checkpoint has saved ------------------------------------------------------------- */

/* The process took the message before `then`, or went back to a checkpoint before which it had been
 * taken. Times only decrease on the way back. */
static bool has_taken(const struct shown *shown, struct at then, int sender, uint64_t number)
{
    while (then.record != NULL) {
        struct at before = {0};
        for (struct at at = {.trace = then.trace}; at_next(&at) && at.index < then.index;) {
            if (at_is_note(at, NOTE_TAKEN, 0) && at.record->comm == 0 &&
                at.record->peer == sender && at.record->bytes == number)
                return true;
            if (at_is_note(at, NOTE_RESTORED, 0) && at.record->enter <= then.record->enter)
                before = checkpoint_before(shown, at);
        }
        then = before;
    }
    return false;
}

/* A checkpoint of the receiver that is there to restore at `then` was taken with the message. */
static bool is_in_checkpoint(const struct shown *shown, int sender, uint64_t number, int receiver,
                             struct at then)
{
    bool commits = false, saves = false;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);) {
        commits |= at_is_note(at, NOTE_COMMIT, 0);
        saves |= at_is_note(at, NOTE_SAVED, 0);
    }
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);) {
        if (!at_is_note(at, NOTE_CHECKPOINT, 0) || at_rank(at) != receiver || !is_by(at, then) ||
            !has_taken(shown, at, sender, number))
            continue;
        if (is_there(shown, at, commits, saves, then))
            return true;
        for (struct at commit = {0}; at_next_of_all(shown->traces, &commit);)
            if (at_is_note(commit, NOTE_COMMIT, at.record->bytes) && is_by(commit, then))
                return true;
    }
    return false;
}

/* --- M.stale --------------------------------------------------------------------------------- */

/* Between the two the process went back: to a line that it took after `at`, which still counts then
 * if it is a delivery; or to another one. */
static bool is_rolled_back(struct at at, struct at then)
{
    bool delivery = is_own(at);
    for (struct at back = at;
         at.trace == then.trace && at_next(&back) && back.index < then.index;) {
        if (!at_is_note(back, NOTE_RESTORED, 0))
            continue;
        bool saved = false;
        for (struct at line = at; at_next(&line) && line.index < back.index;)
            saved |=
                at_is_note(line, NOTE_CHECKPOINT, 0) && line.record->bytes == back.record->bytes;
        if (!delivery || !saved)
            return true;
    }
    return false;
}

/* Before `then`, in the lives of its rank: that it has the message. */
static bool has_before(const struct shown *shown, struct at then)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at.record != then.record && is_by(at, then) && at_rank(at) == at_rank(then) &&
            (is_own(at) || (at.trace == then.trace && at_is_note(at, NOTE_TAKEN, 0))) &&
            is_same_number(at.record, then.record) && !is_rolled_back(at, then))
            return true;
    return then.record->comm == 0 && has_taken(shown, then, then.record->peer, then.record->bytes);
}

static bool is_old(struct at then)
{
    uint64_t newest = 0;
    for (struct at at = {.trace = then.trace}; at_next(&at) && at.index < then.index;)
        if (at_is_note(at, NOTE_INCARNATION, 0) && at.record->peer == then.record->peer)
            newest = at.record->bytes;
    return then.record->hash < newest;
}

static bool is_multicast(const struct shown *shown, struct at then)
{
    for (struct at at = {0}; then.record->comm != 0 && at_next_of_all(shown->traces, &at);)
        if ((at_is_note(at, NOTE_MULTICAST, 0) ||
             (at_is_note(at, NOTE_KEPT_PART, 0) && at.record->request == ALL)) &&
            is_same_number(at.record, then.record))
            return true;
    return false;
}

bool shows_kept_stale(const struct shown *shown)
{
    struct at noted = shown->count > 0 ? shown->event[0] : (struct at){0};
    if (noted.record == NULL)
        return false;
    if (at_is_note(noted, NOTE_TAKEN, 0))
        return (is_old(noted) && !is_multicast(shown, noted)) || has_before(shown, noted);
    if (at_is_note(noted, NOTE_DISCARDED, 0))
        return !is_old(noted) && !has_before(shown, noted);
    struct at again = shown->count > 1 ? shown->event[1] : (struct at){0};
    return again.record != NULL && is_own(noted) && is_own(again) &&
           at_rank(noted) == at_rank(again) && is_same_number(noted.record, again.record) &&
           at_before(noted, again) && !is_rolled_back(noted, again);
}

/* --- M.replay -------------------------------------------------------------------------------- */

/* A process of the sender that is alive at `then` noted that it has the payload of the message that
 * `noted` is about, and not since then that it dropped it. */
static bool is_kept(const struct shown *shown, struct at noted, struct at then, int receiver)
{
    bool kept = false;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);) {
        if (at_rank(at) != noted.record->peer || !is_by(at, then) || !lives_after(at.trace, then))
            continue;
        if ((at_is_note(at, NOTE_KEPT, 0) || at_is_note(at, NOTE_UNKEPT, 0)) &&
            noted.record->comm == 0 && at.record->bytes == noted.record->bytes &&
            peer_rank(shown->traces, at.trace->incarnation, at.record->peer) == receiver)
            kept = at_is_note(at, NOTE_KEPT, 0);
        if (at_is_note(at, NOTE_KEPT_PART, 0) && is_same_number(at.record, noted.record))
            kept = true;
        if (at_is_note(at, NOTE_DROPPED, 0) && at.record->comm == noted.record->comm &&
            (at.record->request == ALL || (int)at.record->request == receiver) &&
            at.record->bytes >= noted.record->bytes)
            kept = false;
    }
    return kept;
}

static int receiver_of(const struct shown *shown, struct at sent)
{
    return peer_rank(shown->traces, sent.trace->incarnation, sent.record->peer);
}

/* The two notes are about the payload of the same message, multicast or contribution. */
static bool is_same_payload(const struct shown *shown, struct at sent, struct at kept)
{
    if (at_is_note(sent, NOTE_KEPT, 0))
        return at_is_note(kept, NOTE_KEPT, 0) && sent.record->bytes == kept.record->bytes &&
               receiver_of(shown, sent) == receiver_of(shown, kept);
    bool multicast = at_is_note(sent, NOTE_MULTICAST, 0);
    return (multicast || at_is_note(sent, NOTE_KEPT_PART, 0)) &&
           at_is_note(kept, NOTE_KEPT_PART, 0) && is_same_number(sent.record, kept.record) &&
           kept.record->request == (multicast ? ALL : sent.record->request);
}

/* Somebody who lives has it, and no checkpoint since then. */
static bool is_needed_by_somebody(const struct shown *shown, struct at sent, struct at then)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);) {
        bool has = is_own(at) || at_is_note(at, NOTE_TAKEN, 0);
        bool meant =
            at_is_note(sent, NOTE_KEPT, 0)
                ? at.record->comm == 0 && at.record->peer == at_rank(sent) &&
                      at_rank(at) == receiver_of(shown, sent)
                : at.record->comm == sent.record->comm && at.record->peer == sent.record->peer;
        if (has && meant && at.record->bytes == sent.record->bytes && is_by(at, then) &&
            lives_after(at.trace, then) && !is_safe(shown, at, then))
            return true;
    }
    return false;
}

/* The process of `then` has taken the place of the one that sent, has come to a checkpoint that
 * that one had not, or to its end, and has not said that it has the payload. */
static bool is_not_kept_anew(const struct shown *shown, struct at sent, struct at then)
{
    bool finalizes = then.record->level == LEVEL_APP && then.record->call == CALL_MPI_Finalize;
    bool keeps = at_is_note(sent, NOTE_KEPT, 0) || at_is_note(sent, NOTE_MULTICAST, 0) ||
                 at_is_note(sent, NOTE_KEPT_PART, 0);
    if (!keeps || at_rank(sent) != at_rank(then) || lives_after(sent.trace, then) ||
        !(finalizes || at_is_note(then, NOTE_CHECKPOINT, 0)))
        return false;
    for (struct at at = {.trace = sent.trace}; !finalizes && at_next(&at);)
        if (at_is_note(at, NOTE_CHECKPOINT, then.record->bytes))
            return false;
    for (struct at at = {.trace = then.trace}; at_next(&at) && at.index < then.index;)
        if (is_same_payload(shown, sent, at))
            return false;
    return is_needed_by_somebody(shown, sent, then);
}

bool shows_not_kept(const struct shown *shown)
{
    if (shown->count == 2 && shown->event[0].trace != shown->event[1].trace &&
        is_not_kept_anew(shown, shown->event[0], shown->event[1]))
        return true;
    struct at dropped = shown_note(shown, NOTE_DROPPED, 0), sent = shown_note(shown, NOTE_KEPT, 0);
    struct at noted = {0};
    for (size_t i = 0; i < shown->count && noted.record == NULL; i++)
        if (is_own(shown->event[i]))
            noted = shown->event[i];
    if (dropped.record != NULL)
        return sent.record != NULL && sent.trace == dropped.trace && sent.index < dropped.index &&
               sent.record->bytes <= dropped.record->bytes &&
               (noted.record == NULL || !is_safe(shown, noted, dropped)) &&
               !is_in_checkpoint(shown, at_rank(sent), sent.record->bytes, receiver_of(shown, sent),
                                 dropped);
    return noted.record != NULL && noted.record->peer >= 0 &&
           !is_in_checkpoint(shown, noted.record->peer, noted.record->bytes, at_rank(noted),
                             latest_of(shown)) &&
           !is_kept(shown, noted, latest_of(shown), at_rank(noted));
}

/* --- the others ------------------------------------------------------------------------------ */

/* Another of the ranks that go back together with this one had died by `then`, since its process
 * began or last went back, ahead of its event number `before`. */
static bool fails_with_another(const struct shown *shown, struct at then, uint64_t before)
{
    struct at began = {.trace = then.trace};
    if (!at_next(&began))
        return false;
    for (struct at at = began; at_next(&at) && at.index < before;)
        if (at_is_note(at, NOTE_RESTORED, 0))
            began = at;
    for (size_t i = 0; i < shown->traces->count; i++) {
        const struct trace *trace = &shown->traces->trace[i];
        struct at first = {.trace = trace};
        if (trace != then.trace && trace->end != NULL && at_next(&first) &&
            trace->end->enter > began.record->enter && left_at(trace).record == NULL &&
            !lives_after(trace, then) && are_together(shown, at_rank(first), at_rank(then)))
            return true;
    }
    return false;
}

/* The process gave its rank up, and had no reason to. */
static bool shows_left(const struct shown *shown, struct at noted)
{
    struct at rank = {.trace = noted.trace, .index = noted.index - 1, .record = noted.record};
    return noted.record != NULL && left_at(noted.trace).record == noted.record && noted.index > 0 &&
           !fails_with_another(shown, rank, noted.index);
}

/* No process of its rank had died before this one, nor one of its team, or it has been restored
 * before; or a process left. */
bool shows_rolled_back(const struct shown *shown)
{
    if (shown->restored.record == NULL)
        return shown->count > 0 && shows_left(shown, shown->event[0]);
    if (fails_with_another(shown, shown->restored, shown->restored.index))
        return false;
    struct at before = {.trace = shown->restored.trace};
    while (at_next(&before) && before.index < shown->restored.index)
        if (at_is_note(before, NOTE_RESTORED, 0))
            return true;
    for (size_t i = 0; i < shown->traces->count; i++) {
        const struct trace *trace = &shown->traces->trace[i];
        struct at first = {.trace = trace};
        if (trace != shown->restored.trace && at_next(&first) &&
            at_rank(first) == at_rank(shown->restored) && !lives_after(trace, shown->restored))
            return false;
    }
    return true;
}

bool shows_stored_twice(const struct shown *shown)
{
    struct at kept = shown_note(shown, NOTE_KEPT_PART, 0),
              reduced = shown_note(shown, NOTE_REDUCED, 0);
    if (reduced.record == NULL) {
        if (kept.record == NULL || kept.record->request != ALL)
            return false;
        if (kept.record->peer != at_rank(kept))
            return true;
        for (struct at at = {.trace = kept.trace}; at_next(&at) && at.index < kept.index;)
            if (at_is_note(at, NOTE_KEPT_PART, 0) && is_same_number(at.record, kept.record))
                return true;
        return false;
    }
    if (kept.record == NULL)
        kept = shown_note(shown, NOTE_HELD, 0);
    return kept.record != NULL && kept.trace == reduced.trace && kept.index < reduced.index &&
           kept.record->comm == reduced.record->comm &&
           kept.record->bytes == reduced.record->bytes &&
           at_rank(reduced) != (int)reduced.record->request &&
           (at_is_note(kept, NOTE_HELD, 0) || kept.record->request != reduced.record->request);
}

/* Its process goes back later. */
static bool is_undone(struct at at)
{
    while (at_next(&at))
        if (at_is_note(at, NOTE_RESTORED, 0))
            return true;
    return false;
}

/* Some member notes no delivery of it, as it is now: what came before a checkpoint is believed. */
bool shows_not_reached(const struct shown *shown)
{
    struct at begun = shown_note(shown, NOTE_MULTICAST, 0);
    for (int rank = 0; begun.record != NULL && rank < shown->traces->world; rank++) {
        bool noted = rank == at_rank(begun) || !is_member(shown->traces, begun.record->comm, rank);
        for (struct at at = {.trace = newest_of(shown->traces, rank, NULL)};
             !noted && at.trace != NULL && at_next(&at);)
            noted = is_own(at) && is_same_number(at.record, begun.record) && !is_undone(at);
        if (!noted)
            return shown->witness->finished;
    }
    return false;
}
