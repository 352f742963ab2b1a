/* Families S and R where they rest on cuts and channels: reads an incarnation, and lets the other
 * files judge. Every incarnation is judged on its own effective history, for what is under way at a
 * cut may have been sent in a life before. */
#include "oracles/cuts/s_family.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* --- notes --------------------------------------------------------------------------------- */

static int compare_notes(const void *left, const void *right)
{
    const struct s_note *a = left;
    const struct s_note *b = right;
    const uint64_t keys[][2] = {{a->line, b->line},
                                {(uint64_t)a->rank, (uint64_t)b->rank},
                                {a->ticks, b->ticks},
                                {a->event.index, b->event.index}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static bool counts(const struct s_pass *pass, unsigned kind)
{
    return kind == NOTE_CHECKPOINT || kind == NOTE_SAVED || kind == NOTE_COMMIT ||
           kind == pass->recorded || kind == NOTE_CLEAR || kind == NOTE_NOTIFIED;
}

static void add_note(struct s_pass *pass, int rank, const struct trace *trace, uint64_t index)
{
    const struct record *record = &trace->record[index];
    pass->note = memory_room(pass->note, pass->note_count, &pass->note_room, sizeof *pass->note);
    pass->note[pass->note_count++] = (struct s_note){.kind = (unsigned)record->tag,
                                                     .rank = rank,
                                                     .line = record->bytes,
                                                     .ticks = record->enter,
                                                     .comm = record->comm,
                                                     .peer = record->peer,
                                                     .tag = (int32_t)record->request,
                                                     .hash = record->hash,
                                                     .no_hash = (record->flags & FLAG_NO_HASH) != 0,
                                                     .event = event_of(trace, index)};
}

/* Of what the rank told while it lived on: not of what it told on the way to where it was. */
static void read_life(struct s_pass *pass, const struct life *life)
{
    uint64_t at = life->trace->count;
    while (note_before(life->trace, at, &at) && at >= life->from) {
        unsigned kind = (unsigned)life->trace->record[at].tag;
        if (at >= life->to)
            continue;
        if (kind == NOTE_RESTORED)
            break;
        if (counts(pass, kind))
            add_note(pass, pass->level == LEVEL_WIRE ? life->trace->rank : life->rank, life->trace,
                     at);
    }
}

static void read_notes(struct s_pass *pass)
{
    const struct lives *lives = pass->histories->lives;
    for (size_t i = 0; i < lives->count; i++)
        if (lives->life[i].trace->incarnation == pass->incarnation)
            read_life(pass, &lives->life[i]);
    if (pass->note_count > 1)
        qsort(pass->note, pass->note_count, sizeof *pass->note, compare_notes);
    pass->line = memory_new(pass->note_count, sizeof *pass->line);
    for (size_t i = 0; i < pass->note_count; i++)
        if (pass->note[i].kind == NOTE_CHECKPOINT &&
            (pass->line_count == 0 || pass->line[pass->line_count - 1] != pass->note[i].line))
            pass->line[pass->line_count++] = pass->note[i].line;
}

static struct s_note *find_from(const struct s_pass *pass, size_t at, const struct s_note *like)
{
    for (; at < pass->note_count && pass->note[at].line == like->line &&
           pass->note[at].rank == like->rank;
         at++)
        if (pass->note[at].kind == like->kind &&
            (like->peer == PEER_ANY || pass->note[at].peer == like->peer))
            return &pass->note[at];
    return NULL;
}

struct s_note *s_find(const struct s_pass *pass, unsigned kind, uint64_t line, int rank,
                      int32_t peer)
{
    struct s_note like = {.kind = kind, .line = line, .rank = rank, .peer = peer};
    size_t low = 0, high = pass->note_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_notes(&pass->note[middle], &like) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return find_from(pass, low, &like);
}

struct s_note *s_next(const struct s_pass *pass, const struct s_note *note, int32_t peer)
{
    struct s_note like = *note;
    like.peer = peer;
    return find_from(pass, (size_t)(note - pass->note) + 1, &like);
}

bool s_tells_channels(const struct s_pass *pass, uint64_t line)
{
    for (int rank = 0; rank < pass->histories->ranks; rank++)
        if (s_find(pass, NOTE_CLEAR, line, rank, PEER_ANY) != NULL ||
            s_find(pass, NOTE_RECORDED, line, rank, PEER_ANY) != NULL)
            return true;
    return false;
}

bool s_is_rank(const struct s_pass *pass, int rank)
{
    return pass->histories->lives->application[rank];
}

const char *s_message_text(const struct s_crossing *crossing, char buffer[MESSAGE_TEXT_BYTES])
{
    return message_text(crossing->source, crossing->destination, crossing->comm, crossing->tag,
                        crossing->number, buffer);
}

/* --- messages ------------------------------------------------------------------------------ */

/* received: NULL where it was not delivered. */
static void look_at_lines(struct s_pass *pass, const struct channel *channel,
                          const struct sent *sent, const struct received *received)
{
    for (size_t i = 0; i < pass->line_count; i++) {
        uint64_t line = pass->line[i];
        const struct s_note *from = s_find(pass, NOTE_CHECKPOINT, line, channel->source, PEER_ANY);
        const struct s_note *to =
            s_find(pass, NOTE_CHECKPOINT, line, channel->destination, PEER_ANY);
        if (from == NULL || to == NULL || sent->enter > from->ticks ||
            (received != NULL && received->leave <= to->ticks))
            continue;
        pass->crossing = memory_room(pass->crossing, pass->crossing_count, &pass->crossing_room,
                                     sizeof *pass->crossing);
        pass->crossing[pass->crossing_count++] = (struct s_crossing){
            .line = line,
            .comm = channel->comm,
            .tag = channel->tag,
            .source = channel->source,
            .destination = channel->destination,
            .order = sent->order,
            .number = sent->number,
            .hash = sent->hash,
            .thread = sent->thread,
            .no_hash = sent->no_hash,
            .optional = sent->optional || sent->leave == 0 || sent->leave > from->ticks,
            .delivered = received != NULL,
            .sent = sent->event,
            .delivery = received != NULL ? received->delivered : (struct event_ref){0},
        };
    }
}

static void lose_sight(struct s_pass *pass, const struct received *received)
{
    if (!pass->lost_sight)
        pass->lost = received->posted;
    pass->lost_sight = true;
}

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    struct s_pass *pass = context;
    if (received->blind) {
        lose_sight(pass, received);
        return;
    }
    /* A send that is done again, of a message that was delivered before: for family H. */
    if (sent->enter > received->leave + pass->match->slack)
        return;
    s_judge_delivery(pass, channel, sent, received);
    look_at_lines(pass, channel, sent, received);
}

static void on_anomaly(void *context, enum anomaly anomaly, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct s_pass *pass = context;
    (void)other;
    if (anomaly == ANOMALY_LOST_SIGHT)
        lose_sight(pass, received);
    else if (anomaly == ANOMALY_UNDELIVERED || anomaly == ANOMALY_UNSEEN)
        look_at_lines(pass, channel, sent, NULL);
    else if (anomaly_is_message(anomaly, received))
        on_pair(pass, channel, sent, received);
}

static void on_joined(void *context, const struct stream_event *event,
                      const struct gathering *gathering, uint64_t number)
{
    struct s_pass *pass = context;
    d_calls_joined(&pass->calls, event, gathering, number);
}

static void on_left(void *context, const struct stream_event *event,
                    const struct collective_request *request)
{
    struct s_pass *pass = context;
    d_calls_left(&pass->calls, event, request);
}

static int by_channel(const void *left, const void *right)
{
    const struct s_crossing *a = left;
    const struct s_crossing *b = right;
    const uint64_t keys[][2] = {{a->line, b->line},
                                {(uint64_t)a->destination, (uint64_t)b->destination},
                                {(uint64_t)a->source, (uint64_t)b->source},
                                {a->comm, b->comm},
                                {a->order, b->order}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static void sort_crossings(struct s_pass *pass)
{
    if (pass->crossing_count > 1)
        qsort(pass->crossing, pass->crossing_count, sizeof *pass->crossing, by_channel);
}

/* --- the whole ----------------------------------------------------------------------------- */

static const enum claim_id judged_here[] = {CLAIM_S_CUT,    CLAIM_S_CHANNEL, CLAIM_S_DONE,
                                            CLAIM_S_REPLAY, CLAIM_R_CLEAR,   CLAIM_R_BUFFER};
#define JUDGED_HERE (sizeof judged_here / sizeof judged_here[0])

static bool any_asked(const struct judging *judging)
{
    for (size_t i = 0; i < JUDGED_HERE; i++)
        if (judging->asked[judged_here[i]])
            return true;
    return false;
}

static bool report_unknown(struct judging *judging, const struct histories *histories)
{
    bool unknown = false;
    for (size_t i = 0; i < JUDGED_HERE; i++)
        unknown |= histories_report_unknown(judging, histories, judged_here[i]);
    return unknown;
}

static void report_lost_sight(struct s_pass *pass, enum claim_id claim)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(pass->judging, claim, VERDICT_UNKNOWN);
    finding_say(finding,
                "the receive failed, its request was freed before it was complete, or its "
                "status does not tell what it got: %s",
                event_text(pass->lost, event));
    finding_say(finding,
                "what it took is in no record, and so it is not known which messages cross a line");
    finding_show(finding, pass->lost);
}

static void judge_cuts(struct s_pass *pass)
{
    sort_crossings(pass);
    if (pass->lost_sight)
        report_lost_sight(pass, CLAIM_S_CHANNEL);
    else
        s_judge_channels(pass);
    s_judge_flows(pass);
    s_judge_done(pass);
    if (pass->lost_sight)
        report_lost_sight(pass, CLAIM_R_CLEAR);
    else
        r_judge_clear(pass);
}

static void release(struct s_pass *pass)
{
    free(pass->note);
    free(pass->line);
    free(pass->crossing);
    free(pass->carried);
    free(pass);
}

static void on_end(void *context)
{
    struct s_pass *pass = context;
    if (pass->line_count > 0)
        judge_cuts(pass);
    r_judge_buffers(pass);
    d_calls_release(&pass->calls);
    release(pass);
}

static void listen(struct judging *judging, struct pass *pass)
{
    if (!any_asked(judging) || report_unknown(judging, pass->histories))
        return;
    struct s_pass *own = memory_new(1, sizeof *own);
    *own = (struct s_pass){.judging = judging,
                           .level = LEVEL_APP,
                           .recorded = NOTE_RECORDED,
                           .incarnation = pass->incarnation,
                           .histories = pass->histories,
                           .pass = pass,
                           .match = &pass->match};
    d_calls_begin(&own->calls, pass);
    read_notes(own);
    struct listener listener = {.context = own, .waits = r_judge_missing, .end = on_end};
    if (own->line_count > 0) {
        listener.pair = on_pair;
        listener.anomaly = on_anomaly;
        listener.joined = on_joined;
        listener.left = on_left;
    }
    pass_listen(pass, &listener);
}

/* --- what calls of the application are made of -------------------------------------------------
 */

static bool is_carried(const struct s_pass *pass, uint32_t comm, int32_t tag)
{
    for (size_t i = 0; i < pass->carried_count; i++)
        if (pass->carried[i].comm == comm && pass->carried[i].tag == tag)
            return true;
    return false;
}

static void read_carried(struct s_pass *pass, const struct trace *trace)
{
    uint64_t at = trace->count;
    while (note_before(trace, at, &at)) {
        const struct record *note = &trace->record[at];
        int32_t tag = (int32_t)note->request;
        if (note->tag != NOTE_CARRIES || is_carried(pass, note->comm, tag))
            continue;
        pass->carried = memory_room(pass->carried, pass->carried_count, &pass->carried_room,
                                    sizeof *pass->carried);
        pass->carried[pass->carried_count++] = (struct s_carried){note->comm, tag};
    }
}

static void on_carried_pair(void *context, const struct channel *channel, const struct sent *sent,
                            const struct received *received)
{
    struct s_pass *pass = context;
    if (!is_carried(pass, channel->comm, channel->tag))
        return;
    if (received->blind)
        lose_sight(pass, received);
    look_at_lines(pass, channel, sent, received);
}

static void on_carried_anomaly(void *context, enum anomaly anomaly, const struct channel *channel,
                               const struct sent *sent, const struct received *received,
                               const struct pair *other)
{
    struct s_pass *pass = context;
    (void)other;
    if (anomaly == ANOMALY_LOST_SIGHT)
        lose_sight(pass, received);
    else if (!is_carried(pass, channel->comm, channel->tag))
        return;
    else if (anomaly == ANOMALY_UNDELIVERED || anomaly == ANOMALY_UNSEEN)
        look_at_lines(pass, channel, sent, NULL);
    else if (anomaly_is_message(anomaly, received))
        on_carried_pair(pass, channel, sent, received);
}

static void on_wire_end(void *context)
{
    struct s_pass *pass = context;
    sort_crossings(pass);
    if (pass->lost_sight)
        report_lost_sight(pass, CLAIM_S_CHANNEL);
    else
        s_judge_channels(pass);
    release(pass);
}

static void listen_to_wire(struct judging *judging, struct pass *pass)
{
    if (!judging->asked[CLAIM_S_CHANNEL])
        return;
    struct s_pass *own = memory_new(1, sizeof *own);
    *own = (struct s_pass){.judging = judging,
                           .level = LEVEL_WIRE,
                           .recorded = NOTE_RECORDED_CARRIED,
                           .incarnation = pass->incarnation,
                           .histories = pass->histories,
                           .match = &pass->match};
    for (size_t i = 0; i < judging->traces->count; i++)
        if (judging->traces->trace[i].incarnation == pass->incarnation)
            read_carried(own, &judging->traces->trace[i]);
    read_notes(own);
    if (own->carried_count == 0 || own->line_count == 0) {
        release(own);
        return;
    }
    pass_listen(pass, &(struct listener){.context = own,
                                         .pair = on_carried_pair,
                                         .anomaly = on_carried_anomaly,
                                         .end = on_wire_end});
}

const struct oracle oracle_cuts = {
    .wire = listen_to_wire, .application = listen, .needs_sound_traces = true};
