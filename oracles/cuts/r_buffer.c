/* R.buffer, S.replay: after a restart, what was recorded with the line restored is what receives
 * get first. R.buffer: in the order in which they were posted each takes the first recorded message
 * that it matches, as long as there is one, and says so (`replayed`); only then the network serves
 * them. S.replay asks the same of each channel alone: a receive from any source may get what the
 * network brings from one rank while a recorded message of another waits. Receives that were posted
 * before the line and not complete are posted again on the way to it. Ranks with several threads
 * are left out.
 *
 *     recorded with the line:  m1 (from 0, tag 5)   m2 (from 2, tag 5)
 *     after the restart:       Recv(any source, tag 5)   Recv(source 2)   Recv(source 0)
 *     must get:                m1, replayed              m2, replayed     one from the network
 *
 * The life is read once: its receives in the order in which they were posted (struct posted), with
 * the record that says what each got. Then they are judged in that order, and each takes its
 * message out of the list of recorded ones (struct kept). A receive that never completed takes its
 * message, too: nobody saw it, but no later receive may get it. One that got another message than
 * it should is reported; if that came from the buffer, too, it is taken out, so that one fault is
 * not reported twice. In a job that stands still, a recorded message for which the rank waits is
 * missing. Where receives were under way at the line, in whichever life they were posted, and not
 * all are seen to be complete after it or posted again, nothing is said: what they took nobody saw.
 * So it is with messages that matched probes had found and that were not received at the line.
 *
 * Cost: the records of the life, and receives times recorded messages. */
#include "base/memory.h"
#include "oracles/cuts/s_family.h"
#include "oracles/history_claims/owed.h"
#include "oracles/matching/match_tables.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdlib.h>

/* A receive of the life restored, in the order of posting. */
struct posted {
    uint64_t index;
    uint64_t done; /* index of the record that says what it got; valid if is_done */
    uint32_t comm;
    int32_t want_peer;
    int32_t want_tag;
    uint32_t request;
    bool is_done;
    bool gone;      /* complete before the rank was restored, or it took nothing */
    bool cancelled; /* MPI_Cancel was called for it: it may have taken nothing */
};

/* A recorded message. */
struct kept {
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    uint64_t hash;
    bool no_hash;
    bool taken;
    struct event_ref event;
};

struct life_read {
    struct s_pass *pass;
    int rank;
    const struct trace *trace;
    const struct piece *piece;
    struct message_notes *notes;
    size_t posted_count, posted_room;
    struct posted *posted; /* owned */
    size_t kept_count, kept_room;
    struct kept *kept;   /* in the order of arrival; owned */
    size_t brought_back; /* receives of lives before that were seen to be complete in this one */
    bool unseen;         /* what a receive took nobody saw: nothing more is said */
    bool threads;        /* more than one receives */
    bool unclear;        /* what a receive from any source took nobody saw: S.replay says no more */
};

/* --- reading ------------------------------------------------------------------------------- */

static struct posted *post(struct life_read *life, uint64_t index, const struct record *record)
{
    life->posted =
        memory_room(life->posted, life->posted_count, &life->posted_room, sizeof *life->posted);
    struct posted *posted = &life->posted[life->posted_count++];
    *posted = (struct posted){.index = index,
                              .comm = record->comm,
                              .want_peer = record->want_peer,
                              .want_tag = record->want_tag,
                              .request = record->request};
    posted->gone = record->want_peer < 0 && record->want_peer != PEER_ANY;
    life->threads |= record->thread != life->trace->record[life->posted[0].index].thread;
    return posted;
}

/* What record `index` says was got; before the rank was restored it is over. A receive that is
 * freed, or that fails with a message too long for it, takes what it matches as one that never
 * returns. */
static void finish(const struct life_read *life, struct posted *posted, uint64_t index)
{
    const struct record *record = &life->trace->record[index];
    uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
    const struct record *restored = &life->trace->record[life->piece->restored - 1];
    bool freed = (record->flags & FLAG_FREED) != 0;
    posted->done = index;
    posted->is_done = leave != 0 && !freed && record->error == 0 && record->peer >= 0;
    posted->gone |= (leave != 0 && (leave < restored->enter || (!freed && record->peer < 0))) ||
                    (record->flags & FLAG_CANCELLED) != 0;
}

static struct posted *find_request(const struct life_read *life, uint32_t request)
{
    for (size_t i = life->posted_count; i > 0; i--)
        if (life->posted[i - 1].request == request && !life->posted[i - 1].is_done)
            return &life->posted[i - 1];
    return NULL;
}

/* The buffer served it: the message itself, or another one of the buffer's. */
static bool is_it(const struct record *got, const struct kept *kept)
{
    return got->peer == kept->peer && got->tag == kept->tag &&
           ((got->flags & FLAG_NO_HASH) || kept->no_hash || got->hash == kept->hash);
}

/* Takes the recorded message that a receive really got out of the list, although another one should
 * have been next. */
static void take_what_was_got(const struct life_read *life, const struct record *got)
{
    for (size_t i = 0; i < life->kept_count; i++)
        if (!life->kept[i].taken && life->kept[i].comm == got->comm && is_it(got, &life->kept[i])) {
            life->kept[i].taken = true;
            return;
        }
}

/* What was posted before the line, or found by a matched probe, and brought back: it was served
 * first. The rank may have been restored inside the call that completes it. False: it was. */
static bool finish_unposted(struct life_read *life, uint64_t index)
{
    const struct record *record = &life->trace->record[index];
    const struct record *restored = &life->trace->record[life->piece->restored - 1];
    uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
    if (leave <= restored->enter || (record->flags & FLAG_FREED))
        return false;
    if (record->peer >= 0)
        take_what_was_got(life, record);
    return true;
}

/* Does this record complete a receive? For a request that was made in a life before: a send's
 * completion names no communicator. */
static bool is_of_receive(const struct record *record)
{
    return record->comm != 0 || (record->flags & FLAG_CANCELLED) != 0;
}

static void read_receive(struct life_read *life, uint64_t index, const struct record *record)
{
    struct posted *posted;
    if (record->flags & FLAG_MATCHED) {
        posted = find_request(life, record->request);
        if (call_role(record->call) == ROLE_IMRECV)
            return; /* its completion says what it got */
        if (posted != NULL)
            finish(life, posted, index);
        else
            life->brought_back += finish_unposted(life, index);
        return;
    }
    posted = post(life, index, record);
    if (record->request == 0)
        finish(life, posted, index);
}

/* A matched probe takes its message as a posted receive does: no other receive gets it. */
static bool is_matched_probe(const struct record *record)
{
    enum call_role role = call_role(record->call);
    return record->kind == RECORD_PROBE && (role == ROLE_MPROBE || role == ROLE_IMPROBE) &&
           !(record->flags & FLAG_NEGATIVE) && record->request != 0;
}

static void read_record(struct life_read *life, uint64_t index)
{
    const struct record *record = &life->trace->record[index];
    struct posted *posted;
    enum call_role role = call_role(record->call);
    switch (atomic_load_explicit(&record->kind, memory_order_acquire)) {
    case RECORD_RECV:
        read_receive(life, index, record);
        break;
    case RECORD_PROBE:
        if (is_matched_probe(record))
            (void)post(life, index, record);
        break;
    case RECORD_COMPLETE:
        if ((record->flags & FLAG_NEGATIVE) || record->request == 0)
            break;
        posted = find_request(life, record->request);
        if (posted != NULL)
            finish(life, posted, index);
        else if (finish_unposted(life, index))
            life->brought_back += is_of_receive(record);
        break;
    default:
        posted = role == ROLE_CANCEL ? find_request(life, record->request) : NULL;
        if (posted != NULL)
            posted->cancelled = true;
        break;
    }
}

/* Where the process began to be this rank. */
static uint64_t begin_of(const struct life_read *life)
{
    const struct life *own =
        lives_find(life->pass->histories->lives, event_of(life->trace, life->piece->restored - 1));
    return own != NULL ? own->from : 0;
}

static void read_life(struct life_read *life)
{
    for (uint64_t at = begin_of(life); at < life->piece->to; at++) {
        const struct record *record = &life->trace->record[at];
        unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
        if (kind != RECORD_GROUP && kind != RECORD_TEXT && record->level == LEVEL_APP)
            read_record(life, at);
    }
}

static int by_arrival(const void *left, const void *right)
{
    const struct kept *a = left;
    const struct kept *b = right;
    return (a->event.index > b->event.index) - (a->event.index < b->event.index);
}

/* What was recorded with the line by the process that took the checkpoint. */
static void read_kept(struct life_read *life, const struct piece *before, uint64_t line)
{
    const struct trace *trace = before->trace;
    uint64_t at = trace->count;
    while (note_before(trace, at, &at) && at >= before->from) {
        const struct record *note = &trace->record[at];
        if (note->tag != NOTE_RECORDED || note->bytes != line)
            continue;
        life->kept =
            memory_room(life->kept, life->kept_count, &life->kept_room, sizeof *life->kept);
        life->kept[life->kept_count++] =
            (struct kept){.event = event_of(trace, at),
                          .comm = note->comm,
                          .peer = note->peer,
                          .tag = (int32_t)note->request,
                          .hash = note->hash,
                          .no_hash = (note->flags & FLAG_NO_HASH) != 0};
    }
    if (life->kept_count > 1)
        qsort(life->kept, life->kept_count, sizeof *life->kept, by_arrival);
}

/* --- judging ------------------------------------------------------------------------------- */

/* The first recorded message that the receive matches and that is still there; of that peer, unless
 * PEER_ANY. */
static struct kept *first_match(const struct life_read *life, const struct posted *posted,
                                int32_t peer)
{
    for (size_t i = 0; i < life->kept_count; i++) {
        struct kept *kept = &life->kept[i];
        if (!kept->taken && kept->comm == posted->comm &&
            (peer == PEER_ANY || kept->peer == peer) &&
            match_pattern_takes(posted->want_peer, posted->want_tag, kept->peer, kept->tag))
            return kept;
    }
    return NULL;
}

static struct finding *find(const struct life_read *life, const struct posted *posted,
                            enum claim_id claim)
{
    char event[EVENT_TEXT_BYTES], note[EVENT_TEXT_BYTES];
    struct event_ref restored = event_of(life->trace, life->piece->restored - 1);
    const struct record *got = &life->trace->record[posted->done];
    struct finding *finding = judging_find(life->pass->judging, claim, VERDICT_VIOLATION);
    finding_say(finding,
                "rank %d was restored to line %" PRIu64 " (%s); then a receive got a message from "
                "rank %" PRId32 ", tag %" PRId32 ": %s",
                life->rank, life->trace->record[restored.index].bytes, event_text(restored, note),
                got->peer, got->tag, event_text(event_of(life->trace, posted->done), event));
    finding_show(finding, restored);
    finding_show(finding, event_of(life->trace, posted->done));
    return finding;
}

static void report_other(const struct life_read *life, const struct posted *posted,
                         const struct kept *kept, enum claim_id claim)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = find(life, posted, claim);
    finding_say(finding,
                "the first recorded message that it matches was still in the buffer: from rank "
                "%" PRId32 ", tag %" PRId32 ": %s",
                kept->peer, kept->tag, event_text(kept->event, event));
    finding_show(finding, kept->event);
}

static void report_untold(const struct life_read *life, const struct posted *posted,
                          const struct kept *kept, enum claim_id claim)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = find(life, posted, claim);
    finding_say(finding, "it was recorded with the line (%s), and not handed over from the buffer",
                event_text(kept->event, event));
    finding_show(finding, kept->event);
}

static void report_made_up(const struct life_read *life, const struct posted *posted,
                           const struct message_note *note, enum claim_id claim)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = find(life, posted, claim);
    finding_say(finding, "it was handed over from the buffer, in which no such message is left: %s",
                event_text(note->event, event));
    finding_show(finding, note->event);
}

/* The receive got a message; `kept`, or NULL, is what it should have got. */
static void judge_got(const struct life_read *life, const struct posted *posted,
                      const struct kept *kept, const struct message_note *note, enum claim_id claim)
{
    if (kept == NULL) {
        if (note != NULL)
            report_made_up(life, posted, note, claim);
        return;
    }
    judging_saw(life->pass->judging, claim, 1);
    if (!is_it(&life->trace->record[posted->done], kept))
        report_other(life, posted, kept, claim);
    else if (note == NULL)
        report_untold(life, posted, kept, claim);
}

static void judge_receive(struct life_read *life, const struct posted *posted)
{
    const struct record *got = &life->trace->record[posted->done];
    struct kept *kept = first_match(life, posted, PEER_ANY);
    if (!posted->is_done) {
        life->unseen |= kept != NULL && posted->cancelled;
        life->unclear |= kept != NULL && posted->want_peer == PEER_ANY;
        if (kept != NULL)
            kept->taken = true;
        return;
    }
    const struct message_note *note =
        message_note_take(life->notes, life->trace, posted->done, NOTE_BIT(REPLAYED));
    judge_got(life, posted, kept, note, CLAIM_R_BUFFER);
    if (!life->unclear)
        judge_got(life, posted, first_match(life, posted, got->peer), note, CLAIM_S_REPLAY);
    if (kept != NULL && is_it(got, kept))
        kept->taken = true;
    else if (kept != NULL && note != NULL)
        take_what_was_got(life, got);
}

/* --- what was under way at the line ---------------------------------------------------------- */

/* Requests of receives, by their numbers. */
struct open {
    size_t count, room;
    uint32_t *request; /* owned */
    size_t carried;    /* open at the end of a life; or freed, and then for ever */
};

static bool close_request(struct open *open, uint32_t request)
{
    for (size_t i = 0; i < open->count; i++)
        if (open->request[i] == request) {
            open->request[i] = open->request[--open->count];
            return true;
        }
    return false;
}

static void count_open(struct open *open, const struct record *record)
{
    bool freed = (record->flags & FLAG_FREED) != 0, matched = (record->flags & FLAG_MATCHED) != 0;
    if (record->level != LEVEL_APP || record->request == 0 || (record->flags & FLAG_NEGATIVE))
        return;
    if ((record->kind == RECORD_RECV && !matched) || is_matched_probe(record)) {
        open->request = memory_room(open->request, open->count, &open->room, sizeof *open->request);
        open->request[open->count++] = record->request;
    } else if (record->kind == RECORD_COMPLETE ||
               (record->kind == RECORD_RECV && call_role(record->call) != ROLE_IMRECV)) {
        if (close_request(open, record->request))
            open->carried += freed;
        else if (is_of_receive(record) && !freed)
            open->carried -= open->carried > 0;
    }
}

/* Index of the first record that is new in a life: those before the line was restored repeat what a
 * life before did. */
static uint64_t begin_of_new(const struct piece *piece)
{
    return piece->restored > piece->from ? piece->restored : piece->from;
}

/* Receives of the lives before that had not been seen to be complete at the line. */
static size_t count_under_way(const struct history *history, size_t pieces)
{
    struct open open = {0};
    for (size_t i = 0; i < pieces; i++) {
        const struct piece *piece = &history->piece[i];
        for (uint64_t at = begin_of_new(piece); at < piece->to; at++)
            if (record_is_event(&piece->trace->record[at]))
                count_open(&open, &piece->trace->record[at]);
        open.carried += open.count;
        open.count = 0;
    }
    free(open.request);
    return open.carried;
}

/* On the way to the line. */
static size_t count_posted_again(const struct life_read *life)
{
    size_t count = 0;
    for (size_t i = 0; i < life->posted_count; i++)
        count += life->posted[i].index < life->piece->restored && life->posted[i].request != 0 &&
                 !life->posted[i].gone;
    return count;
}

/* --- what is missing ----------------------------------------------------------------------- */

static const struct kept *kept_of(const struct life_read *life, const struct owed *owed)
{
    for (size_t i = 0; i < life->kept_count; i++) {
        const struct kept *kept = &life->kept[i];
        if (!kept->taken && kept->comm == owed->channel->comm &&
            kept->peer == owed->channel->source && kept->tag == owed->channel->tag &&
            (kept->no_hash || owed->sent->no_hash || kept->hash == owed->sent->hash))
            return kept;
    }
    return NULL;
}

static void report_missing(const struct life_read *life, const struct owed *owed,
                           const struct kept *kept, enum claim_id claim)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    const struct channel *channel = owed->channel;
    struct event_ref restored = event_of(life->trace, life->piece->restored - 1);
    judging_saw(life->pass->judging, claim, 1);
    struct finding *finding = judging_find(life->pass->judging, claim, VERDICT_VIOLATION);
    finding_say(finding, "%s was recorded with line %" PRIu64 ": %s",
                message_text(channel->source, channel->destination, channel->comm, channel->tag, 0,
                             message),
                life->trace->record[restored.index].bytes, event_text(kept->event, event));
    finding_say(finding, "rank %d was restored to that line: %s", life->rank,
                event_text(restored, event));
    finding_say(finding, "it waits for the message, and nobody goes on: %s",
                event_text(owed->call, event));
    finding_show(finding, owed->sent->event);
    finding_show(finding, kept->event);
    finding_show(finding, restored);
    finding_show(finding, owed->call);
    finding_decide_at_end(finding);
}

/* The rank waits for a message of a life before, in a job that stands still. */
static void judge_waiting(struct life_read *life, const struct history *history, size_t at)
{
    struct owed owed;
    if (!owed_find(life->pass->judging, life->pass->pass, life->rank, &owed) ||
        owed.sent->event.incarnation == life->pass->incarnation)
        return;
    read_kept(life, &history->piece[at - 1], life->trace->record[life->piece->restored - 1].bytes);
    read_life(life);
    for (size_t i = 0; i < life->posted_count; i++)
        if (life->posted[i].is_done && !life->posted[i].gone)
            take_what_was_got(life, &life->trace->record[life->posted[i].done]);
    const struct kept *kept = kept_of(life, &owed);
    if (kept == NULL || life->threads)
        return;
    report_missing(life, &owed, kept, CLAIM_R_BUFFER);
    report_missing(life, &owed, kept, CLAIM_S_REPLAY);
}

/* --- the whole ----------------------------------------------------------------------------- */

static void judge_life(struct life_read *life, const struct history *history, size_t at)
{
    read_kept(life, &history->piece[at - 1], life->trace->record[life->piece->restored - 1].bytes);
    read_life(life);
    life->unseen = count_under_way(history, at) > life->brought_back + count_posted_again(life);
    for (size_t i = 0; i < life->posted_count && !life->threads && !life->unseen; i++)
        if (!life->posted[i].gone)
            judge_receive(life, &life->posted[i]);
}

/* Does `judges` with each time that a rank was restored in this incarnation: it may have moved more
 * than once. */
static void with_lives(struct s_pass *pass,
                       void (*judges)(struct life_read *life, const struct history *history,
                                      size_t at))
{
    if (!pass->judging->asked[CLAIM_R_BUFFER] && !pass->judging->asked[CLAIM_S_REPLAY])
        return;
    struct message_notes *notes = reading_message_notes(&pass->judging->reading, pass->incarnation);
    for (int rank = 0; rank < pass->histories->ranks; rank++) {
        const struct history *history = &pass->histories->of[rank];
        for (size_t i = 1; i < history->piece_count; i++) {
            const struct piece *piece = &history->piece[i];
            if (piece->restored == 0 || piece->trace->incarnation != pass->incarnation)
                continue;
            struct life_read life = {
                .pass = pass, .rank = rank, .trace = piece->trace, .piece = piece, .notes = notes};
            judges(&life, history, i);
            free(life.posted);
            free(life.kept);
        }
    }
}

void r_judge_buffers(struct s_pass *pass)
{
    with_lives(pass, judge_life);
}

void r_judge_missing(void *pass)
{
    with_lives(pass, judge_waiting);
}
