/* Families S and R where they rest on cuts and channels: reads an incarnation, and lets the other
 * files judge. Every incarnation is judged on its own effective history, for what is under way at a
 * cut may have been sent in a life before. */
#include "oracles/cuts/s_family.h"

#include <inttypes.h>
#include <stdio.h>
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

static bool counts(unsigned kind)
{
    return kind == NOTE_CHECKPOINT || kind == NOTE_SAVED || kind == NOTE_COMMIT ||
           kind == NOTE_RECORDED || kind == NOTE_CLEAR || kind == NOTE_NOTIFIED;
}

static bool add_note(struct s_pass *pass, size_t *room, int rank, const struct trace *trace,
                     uint64_t index)
{
    const struct record *record = &trace->record[index];
    if (pass->note_count == *room) {
        size_t more = *room ? 2 * *room : 64;
        struct s_note *grown = realloc(pass->note, more * sizeof *grown);
        if (grown == NULL)
            return false;
        pass->note = grown;
        *room = more;
    }
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
    return true;
}

/* Of what the rank told while it lived on: not of what it told on the way to where it was. */
static bool read_tenure(struct s_pass *pass, size_t *room, const struct tenure *tenure)
{
    uint64_t at = tenure->trace->count;
    while (note_before(tenure->trace, at, &at) && at >= tenure->from) {
        unsigned kind = (unsigned)tenure->trace->record[at].tag;
        if (at >= tenure->to)
            continue;
        if (kind == NOTE_RESTORED)
            break;
        if (counts(kind) && !add_note(pass, room, tenure->rank, tenure->trace, at))
            return false;
    }
    return true;
}

static bool list_lines(struct s_pass *pass)
{
    pass->line = calloc(pass->note_count + 1, sizeof *pass->line);
    for (size_t i = 0; pass->line != NULL && i < pass->note_count; i++)
        if (pass->note[i].kind == NOTE_CHECKPOINT &&
            (pass->line_count == 0 || pass->line[pass->line_count - 1] != pass->note[i].line))
            pass->line[pass->line_count++] = pass->note[i].line;
    return pass->line != NULL;
}

static enum error_code read_notes(struct s_pass *pass, struct error *error)
{
    const struct tenures *tenures = &pass->histories.tenures;
    size_t room = 0;
    bool good = true;
    for (size_t i = 0; i < tenures->count && good; i++)
        if (tenures->tenure[i].trace->incarnation == pass->incarnation)
            good = read_tenure(pass, &room, &tenures->tenure[i]);
    if (pass->note_count > 1)
        qsort(pass->note, pass->note_count, sizeof *pass->note, compare_notes);
    return good && list_lines(pass) ? OK
                                    : error_set(error, ERROR_MEMORY, "no memory for the notes");
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
    for (int rank = 0; rank < pass->histories.ranks; rank++)
        if (s_find(pass, NOTE_CLEAR, line, rank, PEER_ANY) != NULL ||
            s_find(pass, NOTE_RECORDED, line, rank, PEER_ANY) != NULL)
            return true;
    return false;
}

bool s_is_rank(const struct s_pass *pass, int rank)
{
    return pass->histories.tenures.application[rank];
}

const char *s_message_text(const struct s_crossing *crossing, char buffer[S_MESSAGE_TEXT_BYTES])
{
    char where[32] = "";
    if (crossing->comm != COMM_WORLD_ID)
        snprintf(where, sizeof where, ", communicator %#" PRIx32, crossing->comm);
    snprintf(buffer, S_MESSAGE_TEXT_BYTES, "m(%d→%d, tag %d%s, #%" PRIu64 ")", crossing->source,
             crossing->destination, crossing->tag, where, crossing->number);
    return buffer;
}

/* --- messages ------------------------------------------------------------------------------ */

static void add_crossing(struct s_pass *pass, const struct s_crossing *crossing)
{
    if (pass->crossing_count == pass->crossing_room) {
        size_t room = pass->crossing_room ? 2 * pass->crossing_room : 64;
        struct s_crossing *grown = realloc(pass->crossing, room * sizeof *grown);
        if (grown == NULL) {
            pass->exhausted = true;
            return;
        }
        pass->crossing = grown;
        pass->crossing_room = room;
    }
    pass->crossing[pass->crossing_count++] = *crossing;
}

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
        struct s_crossing crossing = {
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
        };
        if (received != NULL)
            crossing.delivery = received->delivered;
        add_crossing(pass, &crossing);
    }
}

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    struct s_pass *pass = context;
    if (received->blind) {
        pass->lost_sight = true;
        return;
    }
    /* A send that is done again, of a message that was delivered before: for family H. */
    if (sent->enter > received->leave + pass->match.slack)
        return;
    s_judge_delivery(pass, channel, sent, received);
    look_at_lines(pass, channel, sent, received);
}

static void on_strange(void *context, enum strange strange, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct s_pass *pass = context;
    (void)other;
    if (strange == STRANGE_LOST_SIGHT)
        pass->lost_sight = true;
    else if (strange == STRANGE_UNDELIVERED)
        look_at_lines(pass, channel, sent, NULL);
    else if ((strange == STRANGE_PAYLOAD || strange == STRANGE_ORDER) && received != NULL)
        on_pair(pass, channel, sent, received);
}

static void on_event(void *context, const struct stream_event *event)
{
    struct s_pass *pass = context;
    if (event->restarted) {
        pass->match.rank[event->rank].incarnation = event->trace->incarnation;
        match_restart(&pass->match, event->rank);
    }
    if (event->record->level == LEVEL_APP)
        match_record(&pass->match, event);
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

static enum error_code read_messages(struct s_pass *pass, struct error *error)
{
    const struct trace_set *traces = pass->judging->traces;
    struct match_listener listener = {pass, on_pair, on_strange};
    enum error_code code = match_init(&pass->match, traces->ranks,
                                      traces->trace[0].header->ticks_per_second, &listener, error);
    pass->match.helper = pass->histories.tenures.helper;
    pass->match.tells_unseen = true; /* no cut lies behind the end */
    pass->match.cut_off =
        pass->incarnation + 1 < traces->incarnations || pass->judging->facts->end != RUN_FINISHED;
    if (code == OK)
        code = stream_run(&pass->histories, LEVEL_APP, on_event, pass, NULL, error);
    if (code == OK)
        match_finish(&pass->match);
    if (code == OK && (pass->exhausted || pass->match.exhausted))
        code = error_set(error, ERROR_MEMORY, "no memory for the messages in flight");
    match_release(&pass->match);
    if (pass->crossing_count > 1)
        qsort(pass->crossing, pass->crossing_count, sizeof *pass->crossing, by_channel);
    return code;
}

/* --- the whole ----------------------------------------------------------------------------- */

static const enum claim_id judged_here[] = {CLAIM_S_CUT, CLAIM_S_CHANNEL, CLAIM_S_DONE,
                                            CLAIM_R_CLEAR, CLAIM_R_BUFFER};
#define JUDGED_HERE (sizeof judged_here / sizeof judged_here[0])

static bool any_asked(const struct judging *judging)
{
    for (size_t i = 0; i < JUDGED_HERE; i++)
        if (judging->asked[judged_here[i]])
            return true;
    return false;
}

static bool tell_unknown(struct s_pass *pass)
{
    bool unknown = false;
    for (size_t i = 0; i < JUDGED_HERE; i++)
        unknown |= histories_tell_unknown(pass->judging, &pass->histories, judged_here[i]);
    return unknown;
}

/* A wildcard receive whose request was freed took some message that nobody saw. */
static void tell_lost_sight(struct s_pass *pass)
{
    judging_unknown(pass->judging, CLAIM_S_CHANNEL);
    judging_unknown(pass->judging, CLAIM_R_CLEAR);
}

static enum error_code judge_cuts(struct s_pass *pass, struct error *error)
{
    enum error_code code = read_notes(pass, error);
    if (code == OK && pass->line_count > 0) {
        code = read_messages(pass, error);
        if (code == OK && pass->lost_sight)
            tell_lost_sight(pass);
        else if (code == OK)
            s_judge_channels(pass);
        if (code == OK)
            code = s_judge_flows(pass, error);
        if (code == OK)
            code = s_judge_done(pass, error);
        if (code == OK && !pass->lost_sight)
            r_judge_clear(pass);
    }
    return code == OK ? r_judge_buffers(pass, error) : code;
}

static enum error_code judge_incarnation(struct judging *judging, int incarnation,
                                         struct error *error)
{
    struct s_pass pass = {.judging = judging, .incarnation = incarnation};
    enum error_code code =
        histories_effective(judging->traces, incarnation, &pass.histories, error);
    if (code == OK && !tell_unknown(&pass))
        code = judge_cuts(&pass, error);
    histories_release(&pass.histories);
    free(pass.note);
    free(pass.line);
    free(pass.crossing);
    return code;
}

static enum error_code judge_family(struct judging *judging, struct error *error)
{
    enum error_code code = OK;
    if (judging->traces->count == 0 || !any_asked(judging))
        return OK;
    for (int i = 0; i < judging->traces->incarnations && code == OK; i++)
        code = judge_incarnation(judging, i, error);
    return code;
}

const struct oracle oracle_cuts = {judge_family, true};
