/* Family P: replication. A process that tells `replica` of a rank does what that rank does, beside
 * the process which is the rank: the two are a pair. What both processes of a pair sent and were
 * handed over is compared (P.same), what each process that came to its end was handed over with
 * what was sent to its rank (P.mask), and how the job ended where both processes of a rank died
 * (P.last). That the job goes on where one died is H.progress, and that no message is lost H.loss:
 * family H judges the process of a pair that is the rank in the end. */
#include "oracles/judging.h"

#include "base/memory.h"
#include "oracles/reading/deaths.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdlib.h>

struct replica_pair {
    int rank;
    const struct trace *first; /* the process that was the rank at first */
    const struct trace *other;
    uint64_t told;                   /* record of `other`: the note */
    uint64_t first_died, other_died; /* ticks, or DEATH_NONE */
};

/* One message of the application at one end, and how often it was there. */
struct message_end {
    uint32_t comm;
    int source, destination, tag; /* ranks */
    uint64_t bytes, hash;
    const struct trace *trace;
    uint64_t index;
    bool hashed;
};

struct replicas {
    struct judging *judging;
    size_t count;
    struct replica_pair *pair;
    /* Of the newest incarnation: what processes sent, and were handed over, that came to their end.
     */
    size_t sent_count, got_count;
    struct message_end *sent, *got;
};

/* --- pairs ------------------------------------------------------------------------------------ */

/* The process that was the rank when the other one began. */
static const struct trace *find_first(const struct replicas *all, const struct trace *other,
                                      int rank)
{
    const struct lives *lives = &all->judging->reading.lives;
    for (size_t i = 0; i < lives->count; i++)
        if (lives->life[i].rank == rank && lives->life[i].trace != other &&
            lives->life[i].trace->incarnation == other->incarnation)
            return lives->life[i].trace;
    return NULL;
}

static void read_pairs(struct replicas *all)
{
    const struct trace_set *traces = all->judging->traces;
    bool finished = all->judging->facts->end == RUN_FINISHED;
    size_t room = 0;
    for (size_t t = 0; t < traces->count; t++) {
        struct replica_pair pair = {.other = &traces->trace[t]};
        if (!note_find(pair.other, NOTE_REPLICA, LINE_ANY, pair.other->count, &pair.told))
            continue;
        pair.rank = (int)pair.other->record[pair.told].bytes;
        pair.first = find_first(all, pair.other, pair.rank);
        if (pair.first == NULL)
            continue;
        pair.first_died = death_of(traces, finished, pair.first);
        pair.other_died = death_of(traces, finished, pair.other);
        all->pair = memory_room(all->pair, all->count, &room, sizeof *all->pair);
        all->pair[all->count++] = pair;
    }
}

static struct event_ref note_of(const struct replica_pair *pair)
{
    return event_of(pair->other, pair->told);
}

/* --- what is sent and handed over ------------------------------------------------------------- */

static bool is_sent(const struct record *record)
{
    return record->kind == RECORD_SEND && record->level == LEVEL_APP && record->peer >= 0;
}

static bool is_got(const struct record *record)
{
    bool whole = record->kind == RECORD_RECV &&
                 (record->request == 0 ||
                  ((record->flags & FLAG_MATCHED) != 0 && call_role(record->call) != ROLE_IMRECV));
    return record->level == LEVEL_APP &&
           (whole || (record->kind == RECORD_COMPLETE && record->comm != 0)) &&
           !(record->flags & (FLAG_NEGATIVE | FLAG_CANCELLED)) && record->peer >= 0 &&
           atomic_load(&record->leave) != 0;
}

/* The next that is so, from `*at` on, below `end`. */
static bool next(const struct trace *trace, bool sent, uint64_t end, uint64_t *at)
{
    while (*at < end && !(sent ? is_sent(&trace->record[*at]) : is_got(&trace->record[*at])))
        ++*at;
    return *at < end;
}

static bool same(const struct record *a, const struct record *b)
{
    bool hashed = !((a->flags | b->flags) & FLAG_NO_HASH);
    return a->comm == b->comm && a->peer == b->peer && a->tag == b->tag && a->bytes == b->bytes &&
           (!hashed || a->hash == b->hash);
}

/* --- P.same ----------------------------------------------------------------------------------- */

/* Up to where others can have seen what the first process did: nobody knows what it did after its
 * last send to another rank, if it died. */
static uint64_t seen_to(const struct replica_pair *pair)
{
    uint64_t seen = 0;
    if (death_ended_well(pair->first))
        return pair->first->count;
    for (uint64_t i = 0; i < pair->first->count; i++)
        if (is_sent(&pair->first->record[i]) && atomic_load(&pair->first->record[i].leave) != 0 &&
            pair->first->record[i].peer != pair->rank)
            seen = i + 1;
    return seen;
}

static void say(struct finding *finding, const struct trace *trace, uint64_t index, bool sent,
                const char *what)
{
    char event[EVENT_TEXT_BYTES];
    const struct record *record = &trace->record[index];
    struct event_ref ref = event_of(trace, index);
    finding_say(finding, "process %d %s%s %s rank %d, tag %d, %" PRIu64 " bytes: %s", trace->rank,
                what, sent ? "sends" : "is handed over a message", sent ? "to" : "of", record->peer,
                record->tag, record->bytes, event_text(ref, event));
    finding_show(finding, ref);
}

static void accuse_apart(struct replicas *all, const struct replica_pair *pair, bool sent,
                         const struct trace *one, uint64_t at, uint64_t other_at)
{
    struct finding *finding = judging_find(all->judging, CLAIM_P_SAME, VERDICT_VIOLATION);
    finding_say(finding, "processes %d and %d are both rank %d", pair->first->rank,
                pair->other->rank, pair->rank);
    finding_show(finding, note_of(pair));
    say(finding, one, at, sent, "");
    if (other_at < pair->other->count)
        say(finding, pair->other, other_at, sent, "at the same place ");
    else
        finding_say(finding, "the other one comes to its end without that");
}

static void compare(struct replicas *all, const struct replica_pair *pair, bool sent)
{
    const struct trace *first = pair->first, *other = pair->other;
    uint64_t end = seen_to(pair), at = 0, other_at = 0;
    bool both_end = death_ended_well(first) && death_ended_well(other);
    for (;; at++, other_at++) {
        bool more = next(first, sent, end, &at);
        bool other_more = next(other, sent, other->count, &other_at);
        if (more && other_more && !same(&first->record[at], &other->record[other_at])) {
            accuse_apart(all, pair, sent, first, at, other_at);
            return;
        }
        if (!more || !other_more) {
            if (both_end && more != other_more)
                accuse_apart(all, pair, sent, more ? first : other, more ? at : other_at,
                             UINT64_MAX);
            return;
        }
        judging_saw(all->judging, CLAIM_P_SAME, 1);
    }
}

/* --- P.mask ------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_channel(const struct message_end *a, const struct message_end *b)
{
    int comms = order(a->comm, b->comm);
    int ends = a->source != b->source
                   ? (a->source > b->source) - (a->source < b->source)
                   : (a->destination > b->destination) - (a->destination < b->destination);
    return comms != 0 ? comms : ends != 0 ? ends : (a->tag > b->tag) - (a->tag < b->tag);
}

/* Of a channel the messages of each process together, the same ones next to one another. */
static int by_message(const void *left, const void *right)
{
    const struct message_end *a = left, *b = right;
    int channels = by_channel(a, b);
    int bytes =
        order(a->bytes, b->bytes) != 0 ? order(a->bytes, b->bytes) : order(a->hash, b->hash);
    if (channels != 0)
        return channels;
    if (a->trace != b->trace)
        return order((uint64_t)a->trace->rank, (uint64_t)b->trace->rank);
    return bytes != 0 ? bytes : order(a->index, b->index);
}

static void read_messages(struct replicas *all, const struct trace *trace, int rank, bool sent)
{
    struct message_end **list = sent ? &all->sent : &all->got;
    size_t *count = sent ? &all->sent_count : &all->got_count, more = 0;
    for (uint64_t at = 0; next(trace, sent, trace->count, &at); at++)
        more++;
    *list = memory_resized(*list, *count + more + 1, sizeof **list);
    for (uint64_t at = 0; next(trace, sent, trace->count, &at); at++) {
        const struct record *record = &trace->record[at];
        (*list)[(*count)++] = (struct message_end){
            .comm = record->comm,
            .source = sent ? rank : record->peer,
            .destination = sent ? record->peer : rank,
            .tag = record->tag,
            .bytes = record->bytes,
            .hash = record->hash,
            .trace = trace,
            .index = at,
            .hashed = !(record->flags & FLAG_NO_HASH),
        };
    }
}

/* How many from `from` on are of its channel and its process; *hashed: the bytes of all are known.
 */
static size_t group(const struct message_end *list, size_t count, size_t from, bool *hashed)
{
    size_t end = from;
    for (; end < count && list[end].trace == list[from].trace &&
           by_channel(&list[end], &list[from]) == 0;
         end++)
        *hashed = *hashed && list[end].hashed;
    return end - from;
}

/* The first of the sorted messages got that was not sent, or not so often; `got`: all were. */
static size_t find_doubled(const struct message_end *sent, size_t sent_count,
                           const struct message_end *got, size_t got_count, bool hashed)
{
    size_t s = 0;
    for (size_t g = 0; g < got_count; g++, s++) {
        while (hashed && s < sent_count &&
               (sent[s].bytes < got[g].bytes ||
                (sent[s].bytes == got[g].bytes && sent[s].hash < got[g].hash)))
            s++;
        if (s >= sent_count ||
            (hashed && (sent[s].bytes != got[g].bytes || sent[s].hash != got[g].hash)))
            return g;
    }
    return got_count;
}

static void accuse_doubled(struct replicas *all, const struct message_end *got)
{
    struct finding *finding = judging_find(all->judging, CLAIM_P_MASK, VERDICT_VIOLATION);
    finding_say(finding,
                "rank %d sends no such message to rank %d, or not so often, and its process %d was "
                "handed one over",
                got->source, got->destination, got->trace->rank);
    say(finding, got->trace, got->index, false, "");
}

/* Some process that is the rank came to its end: all that the rank sent is known. */
static bool came_to_end(const struct replicas *all, int rank)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->pair[i].rank == rank &&
            (death_ended_well(all->pair[i].first) || death_ended_well(all->pair[i].other)) &&
            all->pair[i].other->incarnation == all->judging->traces->incarnations - 1)
            return true;
    return false;
}

/* Each process of the receiver against one of the sender, for P.same compares the two. */
static void compare_channels(struct replicas *all)
{
    size_t s = 0;
    for (size_t g = 0, length; g < all->got_count; g += length) {
        bool hashed = true;
        const struct message_end *got = &all->got[g];
        length = group(all->got, all->got_count, g, &hashed);
        while (s < all->sent_count && by_channel(&all->sent[s], got) < 0)
            s++;
        bool any = s < all->sent_count && by_channel(&all->sent[s], got) == 0;
        size_t sent = any ? group(all->sent, all->sent_count, s, &hashed) : 0;
        size_t wrong = find_doubled(&all->sent[s], sent, got, length, hashed);
        if (wrong < length && came_to_end(all, got->source)) {
            accuse_doubled(all, &got[wrong]);
            return;
        }
    }
}

static void read_messages_of(struct replicas *all, const struct replica_pair *pair)
{
    for (int sent = 0; sent < 2; sent++) {
        if (death_ended_well(pair->first))
            read_messages(all, pair->first, pair->rank, sent != 0);
        if (death_ended_well(pair->other))
            read_messages(all, pair->other, pair->rank, sent != 0);
    }
}

static void judge_messages(struct replicas *all)
{
    if (all->judging->facts->end != RUN_FINISHED)
        return;
    for (size_t i = 0; i < all->count; i++)
        if (all->pair[i].other->incarnation == all->judging->traces->incarnations - 1)
            read_messages_of(all, &all->pair[i]);
    if (all->sent_count > 0)
        qsort(all->sent, all->sent_count, sizeof *all->sent, by_message);
    if (all->got_count > 0)
        qsort(all->got, all->got_count, sizeof *all->got, by_message);
    compare_channels(all);
}

/* --- P.last -------------------------------------------------- */

static bool called(const struct trace *trace, unsigned call)
{
    for (uint64_t i = 0; i < trace->count; i++)
        if (trace->record[i].kind == RECORD_CALL && trace->record[i].call == call)
            return true;
    return false;
}

/* Neither of the two had done its work. */
static bool died_at_work(const struct replica_pair *pair)
{
    return !called(pair->first, CALL_MPI_Finalize) && !called(pair->other, CALL_MPI_Finalize);
}

static void accuse_silent(struct replicas *all, const struct replica_pair *pair)
{
    struct finding *finding = judging_find(all->judging, CLAIM_P_LAST, VERDICT_VIOLATION);
    finding_say(finding, "both processes of rank %d, %d and %d, died at work", pair->rank,
                pair->first->rank, pair->other->rank);
    finding_say(finding, "nobody ended the job for that: %s", all->judging->facts->end_text);
    finding_show(finding, note_of(pair));
    finding_decide_at_end(finding);
}

/* What comes after the death of a rank is none of the other claims'. */
static void report_unsupported(struct replicas *all, const struct replica_pair *pair)
{
    uint64_t ticks = pair->first_died > pair->other_died ? pair->first_died : pair->other_died;
    judging_unsupported(
        all->judging,
        &(struct unsupported){.kind = UNSUPPORTED_REPLICAS, .ticks = ticks, .rank = pair->rank});
}

static void judge_lost(struct replicas *all, const struct replica_pair *pair)
{
    enum run_end end = all->judging->facts->end;
    bool newest = pair->other->incarnation == all->judging->traces->incarnations - 1;
    judging_saw(all->judging, CLAIM_P_LAST, 1);
    if (newest && died_at_work(pair) &&
        (end == RUN_FINISHED || end == RUN_DEADLOCK || end == RUN_TIME_LIMIT))
        accuse_silent(all, pair);
    if (newest && end != RUN_FINISHED)
        report_unsupported(all, pair);
}

static void judge_deaths(struct replicas *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct replica_pair *pair = &all->pair[i];
        bool first = pair->first_died != DEATH_NONE, other = pair->other_died != DEATH_NONE;
        if (first && other)
            judge_lost(all, pair);
        else if (first || other)
            judging_saw(all->judging, CLAIM_P_MASK, 1);
    }
}

/* ---------------------------------------------------------------------------------------------- */

static void judge_replicas(struct judging *judging)
{
    struct replicas all = {.judging = judging};
    if (!judging_asked(judging, "P."))
        return;
    read_pairs(&all);
    for (size_t i = 0; i < all.count; i++) {
        compare(&all, &all.pair[i], true);
        compare(&all, &all.pair[i], false);
    }
    judge_messages(&all);
    judge_deaths(&all);
    free(all.pair);
    free(all.sent);
    free(all.got);
}

const struct oracle oracle_replicas = {.judge = judge_replicas, .needs_sound_traces = true};
