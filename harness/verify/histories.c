/* Families H and B: effective histories, results, and files. See shown.h. */
#include "verify/shown.h"

#include <string.h>

/* --- messages ------------------------------------------------------------------------------ */

bool shows_orphan(const struct shown *shown)
{
    for (int life = 0; life < shown->lives; life++)
        if (differs(shown, shown->got, life))
            return true;
    return false;
}

/* What was got was sent after that, through the same channel. */
static bool is_overtaken(const struct shown *shown)
{
    struct at at = shown->sent;
    bool later = false;
    while (shown->pair && !later && at_next(&at))
        later = at_is_sent(at) && at.record->error == 0 && is_pair(shown->traces, at, shown->got) &&
                at.record->comm == shown->sent.record->comm &&
                same_bytes(at.record, shown->got.record);
    return later;
}

/* A message that went with its sender or with who was to get it is none: but one that a later one
 * overtook came too late for that. */
bool shows_loss(const struct shown *shown)
{
    if (shown->sent.record == NULL)
        return false;
    struct message message = message_of_ranks(shown->traces, shown->sent);
    bool gone = rank_is_dead(shown->traces, message.source) ||
                rank_died_at_work(shown->traces, message.destination);
    return (!gone || is_overtaken(shown)) && differs(shown, shown->sent, shown->lives - 1);
}

bool shows_duplicate(const struct shown *shown)
{
    const struct record *got = shown->got.record, *again = shown->got_last.record;
    return shown->pair && again != got && same_bytes(got, again) && shows_orphan(shown);
}

bool shows_payload(const struct shown *shown)
{
    return shown->pair && is_other(shown->sent.record, shown->got.record);
}

/* Requests may complete in another order than they were posted in. */
bool shows_order(const struct shown *shown)
{
    const struct record *sent = shown->sent.record, *got = shown->got.record;
    bool any_tag = got != NULL && sent != NULL && sent->tag != shown->sent_last.record->tag &&
                   at_posting(shown->got).record->want_tag == TAG_ANY;
    return any_tag || (shown->pair && (got->kind == RECORD_COMPLETE ||
                                       differs(shown, shown->got, shown->got.trace->incarnation)));
}

bool shows_synchronous(const struct shown *shown)
{
    if (!shown->pair || shown->sent.record->error != 0 ||
        !call_is_synchronous(shown->sent.record->call))
        return false;
    bool blocks = shown->sent.record->request == 0;
    struct at over = blocks ? shown->sent : at_completion(shown->sent);
    struct at posted = at_posting(shown->got);
    return over.record != NULL && over.trace->incarnation == posted.trace->incarnation &&
           at_done(over) < posted.record->enter;
}

/* The receive was posted by the source and tag that the probe found, and nothing stands between the
 * two that could have taken the message: no other receive of it, no restart. */
static bool is_next_receive(struct at probe, struct at posted)
{
    struct at at = probe;
    const struct record *found = probe.record, *wanted = posted.record;
    while (at_next(&at) && at.index < posted.index) {
        const struct record *record = at.record;
        bool covers = record->kind == RECORD_RECV && record->level == LEVEL_APP &&
                      record->comm == found->comm && (record->flags & FLAG_MATCHED) == 0 &&
                      (record->want_peer == PEER_ANY || record->want_peer == found->peer) &&
                      (record->want_tag == TAG_ANY || record->want_tag == found->tag);
        if (covers || at_is_note(at, NOTE_RESTORED, 0))
            return false;
    }
    return wanted->kind == RECORD_RECV && wanted->comm == found->comm &&
           wanted->want_peer == found->peer && wanted->want_tag == found->tag;
}

bool shows_probe(const struct shown *shown)
{
    struct at probe = shown->event[0], got = shown->got;
    if (got.record == NULL || probe.record->kind != RECORD_PROBE ||
        probe.record->level != LEVEL_APP || (probe.record->flags & FLAG_NEGATIVE) != 0)
        return false;
    struct at posted = at_posting(got);
    return at_before(probe, posted) && at_is_over(probe, posted) &&
           is_next_receive(probe, posted) && got.record->bytes != probe.record->bytes;
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

bool shows_crossing(const struct shown *shown)
{
    return shown->pair && (crosses(shown, at_is_over) || crosses(shown, at_before));
}

/* --- collectives, results, the end ------------------------------------------------------------ */

/* Collectives on the communicator; if the call makes another one from it, such calls. */
static uint64_t count_calls(struct walk walk, const struct record *like)
{
    uint64_t count = 0;
    uint32_t asked = like->comm;
    bool same = true;
    while (walk_next(&walk)) {
        const struct record *record = walk.at.record;
        if (record->level != LEVEL_APP || record->kind != like->kind)
            continue;
        if (record->comm != asked) {
            asked = record->comm;
            same = asked == like->comm || goes_on(walk.traces, asked, like->comm);
        }
        count += same && (record->kind == RECORD_COLLECTIVE || record->call == like->call);
    }
    return count;
}

/* Of the rank, in what led to the newest incarnation that is shown. */
static uint64_t calls_of(const struct shown *shown, struct at of)
{
    struct walk walk = {.traces = shown->traces, .rank = at_rank(of)};
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
                        .rank = at_rank(call),
                        .until = call,
                        .begun = true};
    if (!shown->witness->finished || !calls || ranks_move(shown->traces))
        return shown->witness->finished && calls;
    uint64_t number = count_calls(walk, call.record);
    walk.until = (struct at){0};
    for (walk.rank = 0; walk.rank < shown->traces->ranks && !lacks; walk.rank++)
        lacks = is_member(shown->traces, call.record->comm, walk.rank) &&
                !rank_died_at_work(shown->traces, walk.rank) &&
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

bool shows_collective(const struct shown *shown)
{
    return any_two(shown, is_other_call) ||
           (shown->count > 0 && lacks_member(shown, shown->event[0]));
}

/* The last word on a result in the last incarnation; or the event itself, which is a declaration
 * where its rank has moved since. */
static bool is_other_result(const struct shown *shown, const struct witness_reference *wanted)
{
    bool same = false;
    struct at at = shown->event[0];
    struct walk walk = {
        .traces = shown->traces, .incarnation = shown->lives - 1, .rank = wanted->rank};
    if (at.record != NULL ? at_rank(at) != wanted->rank : rank_is_dead(shown->traces, wanted->rank))
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

static bool is_other_line(const struct shown *shown, const struct witness_printed *printed)
{
    struct at at = shown->event[0];
    bool of_rank = at.record == NULL ||
                   (at_rank(at) == printed->rank && at.trace->incarnation == shown->lives - 1);
    return of_rank && shown->witness->finished && !rank_is_dead(shown->traces, printed->rank) &&
           (printed->text == NULL || printed->reference == NULL ||
            strcmp(printed->text, printed->reference) != 0);
}

bool shows_result(const struct shown *shown)
{
    for (size_t i = 0; i < shown->witness->printed_count; i++)
        if (is_other_line(shown, &shown->witness->printed[i]))
            return true;
    for (size_t i = 0; i < shown->witness->reference_count; i++)
        if (!shown->witness->reference[i].near &&
            is_other_result(shown, &shown->witness->reference[i]))
            return true;
    return false;
}

bool shows_progress(const struct shown *shown)
{
    return !shown->witness->finished;
}

/* --- files --------------------------------------------------------------------------------- */

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

bool shows_not_durable(const struct shown *shown)
{
    const struct record *written = shown->written.record;
    return shown->commit.record != NULL && written != NULL &&
           !(is_synced(shown, written->request) && is_synced(shown, written->comm));
}

/* --- lines --------------------------------------------------------------------------------- */

/* Potential checkpoints of the rank between the two, on whichever process it was. */
static uint64_t passed_between(const struct shown *shown, int rank, struct at from, struct at to)
{
    uint64_t passed = 0;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        passed += at.trace->incarnation == to.trace->incarnation &&
                  at_is_note(at, NOTE_POTENTIAL, 0) && at.record->enter > from.record->enter &&
                  at.record->enter <= to.record->enter && at_rank(at) == rank;
    return passed;
}

/* The number that a process of the incarnation promises, by notes of that kind. */
static uint64_t promised_in(const struct shown *shown, int life, enum note_kind kind)
{
    uint64_t promised = 0;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at.trace->incarnation == life && at_is_note(at, kind, 0) && at.record->bytes > promised)
            promised = at.record->bytes;
    return promised;
}

static bool settled_before(const struct shown *shown, uint64_t line, struct at then)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at.trace->incarnation == then.trace->incarnation &&
            (at_is_note(at, NOTE_COMMIT, line) || at_is_note(at, NOTE_GIVEN_UP, line)) &&
            at.record->enter <= then.record->enter)
            return true;
    return false;
}

static bool begins_line(struct at at)
{
    return at_is_note(at, NOTE_INITIATED, 0) || at_is_note(at, NOTE_NOTIFIED, 0) ||
           at_is_note(at, NOTE_CHECKPOINT, 0);
}

/* Every rank that comes to potential checkpoints has passed as many by then. */
static bool all_have_passed(const struct shown *shown, struct at from, struct at then,
                            uint64_t promised)
{
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        struct at first = at_first_note(trace, NOTE_POTENTIAL, 0);
        if (trace->incarnation == then.trace->incarnation && first.record != NULL &&
            passed_between(shown, at_rank(first), from, then) < promised)
            return false;
    }
    return promised > 0;
}

/* Some line was begun by then, and was not over at `from`. */
static bool any_begun(const struct shown *shown, struct at from, struct at then)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at.trace->incarnation == then.trace->incarnation && begins_line(at) &&
            at.record->enter <= then.record->enter &&
            !settled_before(shown, at.record->bytes, from))
            return true;
    return false;
}

/* Every process that comes to potential checkpoints is in MPI_Finalize for ever, and the line, of
 * which something is promised, is never over. */
static bool is_open_at_end(const struct shown *shown, struct at begun, struct at finalize)
{
    int life = begun.trace->incarnation;
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        struct at last = {0};
        for (struct at at = {.trace = trace}; at_next(&at);)
            if (record_is_of_app(at.record))
                last = at;
        if (trace->incarnation == life && at_first_note(trace, NOTE_POTENTIAL, 0).record != NULL &&
            (last.record == NULL || last.record->call != CALL_MPI_Finalize ||
             at_done(last) != NEVER))
            return false;
    }
    struct at end = {.trace = finalize.trace, .record = &(struct record){.enter = NEVER}};
    return life == shown->lives - 1 && !shown->witness->finished &&
           promised_in(shown, life, NOTE_SETTLES) > 0 &&
           !settled_before(shown, begun.record->bytes, end);
}

/* The first event: a line is begun, or is over; or the promise that others will be begun. */
bool shows_line_open(const struct shown *shown)
{
    struct at first = shown->count > 0 ? shown->event[0] : (struct at){0};
    struct at passed = shown_note(shown, NOTE_POTENTIAL, 0);
    if (passed.record == NULL && first.record != NULL && shown->count > 1 && begins_line(first) &&
        shown->event[1].trace->incarnation == first.trace->incarnation)
        return is_open_at_end(shown, first, shown->event[1]);
    if (first.record == NULL || passed.record == NULL ||
        first.trace->incarnation != passed.trace->incarnation)
        return false;
    int life = first.trace->incarnation;
    if (begins_line(first))
        return all_have_passed(shown, first, passed, promised_in(shown, life, NOTE_SETTLES)) &&
               !settled_before(shown, first.record->bytes, passed);
    return (at_is_note(first, NOTE_COMMIT, 0) || at_is_note(first, NOTE_GIVEN_UP, 0) ||
            at_is_note(first, NOTE_BEGINS, 0)) &&
           all_have_passed(shown, first, passed, promised_in(shown, life, NOTE_BEGINS)) &&
           !any_begun(shown, first, passed);
}
