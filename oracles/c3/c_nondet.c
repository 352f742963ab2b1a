/* C.nondet: what is not determined by the program and its messages, while a rank logs, is the same
 * when the rank executes that part again after recovery. Such an *outcome* is whose message a
 * wildcard receive got, which request a Waitany completed, what an Iprobe found, what a program
 * chose and told with a decision note. The k-th outcome after the checkpoint is compared with the
 * k-th after the `restored` note:
 *
 *     incarnation 0:  checkpoint  Recv(any): 2   Iprobe no x3, yes   stop-log  killed
 *     incarnation 1:  restored    Recv(any): 2   Iprobe no x3, yes   ...
 *
 * The answers "not yet" between two outcomes are counted and belong to the outcome that follows;
 * polls that follow each other are one record.
 *
 * Hard is which request a completion is of. Requests have other numbers after recovery, so each is
 * numbered among those since the line that asked for the same (communicator, peer, tag, kind).
 * Requests that are older than the line have no such number. After recovery the trace may not show
 * them at all, if the protocol does not tell that it brought them back; then these outcomes are
 * left out (leave_out_unseen), and the answers "not yet" before them are added to the next outcome.
 *
 * Only ranks with one thread are judged: a protocol need not repeat the order of several. Each
 * trace is gone through once, from the line on. */
#include "oracles/c3/c_family.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One outcome. Fields that do not apply are 0. */
struct outcome {
    struct event_ref event;
    unsigned kind;      /* RECORD_RECV, RECORD_PROBE, RECORD_COMPLETE; RECORD_NOTE: a choice */
    uint64_t negatives; /* answers "not yet" since the outcome before */
    uint64_t which;     /* of a completion: the how-many-eth of its kind since the line; 0: older */
    uint64_t asked[2];  /* of a completion: what all requests of its kind have in common */
    unsigned place;     /* among the completions of one Waitsome or Testsome, from 0 */
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    uint64_t bytes;
    uint64_t hash;
    bool cancelled;
};

/* A request that was started after the line. */
struct started {
    uint64_t which; /* from 1 */
    uint64_t asked[2];
    bool wild;
};

/* Goes through what a rank does from a line on. */
struct walk {
    const struct trace *trace;
    uint64_t at, to;
    uint64_t until; /* ticks: what returns later is not wanted */
    uint64_t negatives;
    struct table started; /* request to struct started */
    struct table counts;  /* what was asked to how many such, as a number */
    struct pool started_pool;
    unsigned place;
    bool threads; /* other than the first took part */
};

static bool is_wild(const struct record *record)
{
    return record->want_peer == PEER_ANY || record->want_tag == TAG_ANY;
}

static bool completes_some(enum call_role role)
{
    return role == ROLE_WAITANY || role == ROLE_WAITSOME || role == ROLE_TEST ||
           role == ROLE_TESTALL || role == ROLE_TESTANY || role == ROLE_TESTSOME;
}

/* How many are complete is an outcome, too. */
static bool answers_some(enum call_role role)
{
    return role == ROLE_WAITSOME || role == ROLE_TESTSOME;
}

static void start_request(struct walk *walk, const struct record *record)
{
    bool receives = record->kind == RECORD_RECV;
    uint32_t peer = (uint32_t)(receives ? record->want_peer : record->peer);
    uint32_t tag = (uint32_t)(receives ? record->want_tag : record->tag);
    struct started *started = pool_take(&walk->started_pool);
    started->asked[0] = (uint64_t)record->comm << 32 | peer;
    started->asked[1] = (uint64_t)record->kind << 32 | tag;
    started->wild = receives && is_wild(record);
    started->which = table_count(&walk->counts, started->asked[0], started->asked[1]);
    table_put(&walk->started, record->request, 0, started);
}

static void release_walk(struct walk *walk)
{
    table_release(&walk->started);
    table_release(&walk->counts);
    pool_release(&walk->started_pool);
}

static void fill_message(struct outcome *outcome, const struct record *record)
{
    outcome->comm = record->comm;
    outcome->peer = record->peer;
    outcome->tag = record->tag;
}

/* The completion is an outcome if it was open which request completes, or whose message it gets. */
static bool take_completion(struct walk *walk, const struct record *record, struct outcome *outcome)
{
    struct started *found = table_get(&walk->started, record->request, 0);
    struct started started = {0};
    if (found != NULL)
        started = *found;
    enum call_role role = call_role(record->call);
    table_remove(&walk->started, record->request, 0);
    pool_give(&walk->started_pool, found);
    if ((record->flags & FLAG_FREED) || record->request == 0)
        return false;
    bool pending = found == NULL && record->comm != 0;
    if (!completes_some(role) && !pending && !started.wild)
        return false;
    outcome->which = started.which;
    outcome->asked[0] = started.asked[0];
    outcome->asked[1] = started.asked[1];
    outcome->place = answers_some(role) ? walk->place++ : 0;
    outcome->cancelled = (record->flags & FLAG_CANCELLED) != 0;
    if (record->comm != 0)
        fill_message(outcome, record);
    return true;
}

static bool take_probe(const struct record *record, struct outcome *outcome)
{
    enum call_role role = call_role(record->call);
    if (role != ROLE_IPROBE && role != ROLE_IMPROBE && !is_wild(record))
        return false;
    fill_message(outcome, record);
    outcome->bytes = record->bytes;
    return true;
}

/* A message of the program's own kind: name, size and bytes. */
static bool take_choice(const struct trace *trace, uint64_t index, struct outcome *outcome)
{
    const struct record *note = &trace->record[index];
    char name[RECORD_TEXT_BYTES * 4];
    if (note->tag != NOTE_DECISION)
        return false;
    trace_text(trace, index, name, sizeof name);
    for (const char *c = name; *c != '\0'; c++)
        outcome->which = outcome->which * 31 + (unsigned char)*c;
    outcome->bytes = note->bytes;
    outcome->hash = note->hash;
    return true;
}

static bool is_negative(const struct record *record)
{
    return (record->flags & FLAG_NEGATIVE) && record->error == 0;
}

/* True if the record is an outcome. */
static bool take_record(struct walk *walk, uint64_t index, struct outcome *outcome)
{
    const struct record *record = &walk->trace->record[index];
    if (record->level == LEVEL_WIRE || record->leave == 0 || record->leave >= walk->until)
        return false;
    walk->threads |= record->thread != 0 && record->level == LEVEL_APP;
    if (is_negative(record)) {
        walk->negatives += record->bytes;
        return false;
    }
    switch ((unsigned)record->kind) {
    case RECORD_NOTE:
        return take_choice(walk->trace, index, outcome);
    case RECORD_COMPLETE:
        return take_completion(walk, record, outcome);
    case RECORD_PROBE:
        return take_probe(record, outcome);
    case RECORD_RECV:
        if (record->request != 0 && !(record->flags & FLAG_MATCHED))
            start_request(walk, record);
        if (record->request != 0 || !is_wild(record) || record->want_peer == PEER_NULL)
            return false;
        fill_message(outcome, record);
        return true;
    case RECORD_SEND:
    case RECORD_COLLECTIVE:
        if (record->request != 0)
            start_request(walk, record);
        return false;
    case RECORD_CALL:
        if (answers_some(call_role(record->call)))
            walk->place = 0;
        return false;
    default:
        return false;
    }
}

/* The next outcome, or false at the end. */
static bool next_outcome(struct walk *walk, struct outcome *outcome)
{
    for (; walk->at < walk->to; walk->at++) {
        unsigned kind =
            atomic_load_explicit(&walk->trace->record[walk->at].kind, memory_order_acquire);
        if (kind == RECORD_NONE || kind == RECORD_TEXT || kind == RECORD_GROUP)
            continue;
        *outcome = (struct outcome){.event = event_of(walk->trace, walk->at), .kind = kind};
        if (!take_record(walk, walk->at, outcome))
            continue;
        outcome->negatives = walk->negatives;
        walk->negatives = 0;
        walk->at++;
        return true;
    }
    return false;
}

static bool same_outcome(const struct outcome *a, const struct outcome *b)
{
    return a->kind == b->kind && a->which == b->which && a->asked[0] == b->asked[0] &&
           a->asked[1] == b->asked[1] && a->place == b->place && a->comm == b->comm &&
           a->peer == b->peer && a->tag == b->tag && a->bytes == b->bytes && a->hash == b->hash &&
           a->cancelled == b->cancelled;
}

/* --- findings ------------------------------------------------------------------------------ */

#define OUTCOME_TEXT_BYTES 160
static const char *outcome_text(const struct judging *judging, const struct outcome *outcome,
                                char buffer[OUTCOME_TEXT_BYTES])
{
    const struct trace *trace = c_trace(judging, outcome->event);
    const char *call = call_name(trace->record[outcome->event.index].call);
    char name[64], which[80] = "";
    if (outcome->kind == RECORD_NOTE) {
        trace_text(trace, outcome->event.index, name, sizeof name);
        snprintf(buffer, OUTCOME_TEXT_BYTES, "the program chose \"%s\", hash %#" PRIx64, name,
                 outcome->hash);
        return buffer;
    }
    if (outcome->kind == RECORD_COMPLETE && outcome->which != 0)
        snprintf(which, sizeof which, " completed such request number %" PRIu64 " since the line",
                 outcome->which);
    else if (outcome->kind == RECORD_COMPLETE)
        snprintf(which, sizeof which, " completed a request older than the line");
    if (outcome->comm != 0)
        snprintf(buffer, OUTCOME_TEXT_BYTES, "%s%s: rank %" PRId32 ", tag %" PRId32, call, which,
                 outcome->peer, outcome->tag);
    else
        snprintf(buffer, OUTCOME_TEXT_BYTES, "%s%s", call, which);
    return buffer;
}

/* One rank: what was, in the incarnation that took the line, and what is. */
struct comparison {
    struct judging *judging;
    const struct trace *was, *is;
    const struct record *restored;
    struct event_ref note; /* `restored` */
    size_t count;
    struct outcome *outcome; /* that were; owned */
    uint64_t tail;           /* answers "not yet" after the last of them */
};

static struct finding *begin_finding(const struct comparison *comparison)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(comparison->judging, CLAIM_C_NONDET, VERDICT_VIOLATION);
    finding_say(finding, "rank %d was restored to line %" PRIu64 ": %s", comparison->is->rank,
                comparison->restored->bytes, event_text(comparison->note, event));
    finding_show(finding, comparison->note);
    return finding;
}

static void say_outcome(const struct comparison *comparison, struct finding *finding, size_t k,
                        const struct outcome *outcome, const char *when)
{
    char text[OUTCOME_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    finding_say(finding,
                "%s, outcome number %zu was, after %" PRIu64 " answers \"not yet\", %s: %s", when,
                k + 1, outcome->negatives, outcome_text(comparison->judging, outcome, text),
                event_text(outcome->event, event));
    finding_show(finding, outcome->event);
}

static void report_different(const struct comparison *comparison, size_t k,
                             const struct outcome *is)
{
    struct finding *finding = begin_finding(comparison);
    if (finding == NULL)
        return;
    if (k < comparison->count) {
        say_outcome(comparison, finding, k, &comparison->outcome[k], "while it was logging");
    } else {
        finding_say(finding,
                    "while it was logging there were %zu outcomes, and %" PRIu64
                    " answers \"not yet\" after them",
                    comparison->count, comparison->tail);
    }
    say_outcome(comparison, finding, k, is, "after recovery");
}

static void report_too_many(const struct comparison *comparison, size_t k, uint64_t negatives)
{
    struct finding *finding = begin_finding(comparison);
    if (finding == NULL)
        return;
    say_outcome(comparison, finding, k, &comparison->outcome[k], "while it was logging");
    finding_say(finding, "after recovery there were %" PRIu64 " answers \"not yet\" instead",
                negatives);
}

/* --- comparing ----------------------------------------------------------------------------- */

/* What was, from the checkpoint to the end of logging. */
static void read_window(struct comparison *comparison, uint64_t from, uint64_t stop, bool *threads)
{
    struct walk walk = {.trace = comparison->was,
                        .at = from,
                        .to = stop,
                        .until = comparison->was->record[stop].enter,
                        .started_pool.bytes = sizeof(struct started)};
    struct outcome outcome;
    size_t room = 0;
    while (next_outcome(&walk, &outcome)) {
        comparison->outcome =
            memory_room(comparison->outcome, comparison->count, &room, sizeof outcome);
        comparison->outcome[comparison->count++] = outcome;
    }
    comparison->tail = walk.negatives;
    *threads = walk.threads;
    release_walk(&walk);
}

/* A completion of a request that is older than the line. Where the protocol does not say which
 * request it brought back, nobody sees it complete after recovery. */
static bool is_older_request(const struct outcome *outcome)
{
    return outcome->kind == RECORD_COMPLETE && outcome->which == 0;
}

/* Leaves out, from `k` on, what was and can no longer be seen; returns where `is` belongs. */
static size_t leave_out_unseen(struct comparison *comparison, size_t k, const struct outcome *is)
{
    while (k < comparison->count && is_older_request(&comparison->outcome[k]) &&
           !is_older_request(is)) {
        uint64_t negatives = comparison->outcome[k++].negatives;
        if (k < comparison->count)
            comparison->outcome[k].negatives += negatives;
        else
            comparison->tail += negatives;
    }
    return k;
}

/* Compares what the rank does after recovery, as far as it got. The first difference is reported.
 */
static void compare(struct comparison *comparison)
{
    struct walk walk = {.trace = comparison->is,
                        .at = comparison->note.index + 1,
                        .to = comparison->is->count,
                        .until = UINT64_MAX,
                        .started_pool.bytes = sizeof(struct started)};
    struct outcome is = {0};
    size_t k = 0;
    bool more = true, same = true;
    while (same && k <= comparison->count && (more = next_outcome(&walk, &is)) && !walk.threads) {
        k = leave_out_unseen(comparison, k, &is);
        if (k < comparison->count) {
            const struct outcome *was = &comparison->outcome[k];
            judging_saw(comparison->judging, CLAIM_C_NONDET, 1);
            same = same_outcome(was, &is) && was->negatives == is.negatives;
        } else {
            judging_saw(comparison->judging, CLAIM_C_NONDET, comparison->tail > 0);
            same = is.negatives >= comparison->tail;
        }
        if (!same)
            report_different(comparison, k, &is);
        k++;
    }
    if (same && !more && k < comparison->count && !is_older_request(&comparison->outcome[k]) &&
        walk.negatives > comparison->outcome[k].negatives)
        report_too_many(comparison, k, walk.negatives);
    release_walk(&walk);
}

static void judge_rank(struct judging *judging, const struct history *history,
                       const struct trace *is)
{
    uint64_t restored, stop;
    bool threads = false;
    if (history->unknown || history->piece_count < 2 ||
        !note_find(is, NOTE_RESTORED, LINE_ANY, UINT64_MAX, &restored))
        return;
    const struct piece *piece = &history->piece[history->piece_count - 2];
    struct comparison comparison = {.judging = judging,
                                    .was = piece->trace,
                                    .is = is,
                                    .restored = &is->record[restored],
                                    .note = event_of(is, restored)};
    if (!note_find(piece->trace, NOTE_STOP_LOG, comparison.restored->bytes, UINT64_MAX, &stop) ||
        stop < piece->to)
        return; /* it never logged, or nobody knows how long */
    read_window(&comparison, piece->to, stop, &threads);
    if (!threads)
        compare(&comparison);
    free(comparison.outcome);
}

void c_judge_nondet(struct judging *judging, int incarnation)
{
    const struct histories *histories = reading_histories(&judging->reading, incarnation);
    for (int rank = 0; rank < judging->traces->ranks && incarnation > 0; rank++) {
        const struct trace *trace = trace_set_find(judging->traces, rank, incarnation);
        if (trace != NULL)
            judge_rank(judging, &histories->of[rank], trace);
    }
}
