/* See news.h. All is read from the events of the slice, and from the END records, which are no
 * events. Where a call that fails names no peer, its rank learns of all that have died by then
 * among the members of the communicator and that it does not know of yet: MPI does not say more.
 *
 * Cost: events of the slice times processes. */
#include "reports/walk/news.h"

#include "base/memory.h"
#include "oracles/reading/history.h"
#include "trace/calls.h"

#include <stdlib.h>

bool news_is_dead(const struct trace *trace)
{
    return trace->end != NULL && (trace->end->tag != 0 || trace->end->bytes != 0);
}

static void add(struct news *news, const struct news_item *item)
{
    news->item = memory_room(news->item, news->count, &news->room, sizeof *news->item);
    news->item[news->count++] = *item;
}

/* --- who takes over --------------------------------------------------------------------------- */

static void read_newcomers(const struct slice *slice, struct news *news)
{
    struct lives lives;
    lives_read(slice->set, &lives);
    for (size_t i = 0; i < lives.count; i++) {
        const struct life *life = &lives.life[i];
        int process = life->trace->rank;
        uint64_t note;
        if (process >= slice->set->world && news->rank_of[process] < 0 && life->rank != process)
            news->rank_of[process] = life->rank;
        if (!life->takes_over ||
            !note_find(life->trace, NOTE_BECOMES, (uint64_t)life->rank, life->to, &note))
            continue;
        struct event_ref event = event_of(life->trace, note);
        size_t to = slice_find(slice, &event);
        if (to != SLICE_NONE)
            add(news, &(struct news_item){NEWS_TAKEN_OVER,
                                          (size_t)(life->before->trace - slice->set->trace),
                                          SLICE_NONE, to});
    }
    lives_release(&lives);
}

/* --- who learns ------------------------------------------------------------------------------- */

/* What the call raised, on the wire if the protocol kept it from the program; 0: nothing. */
static unsigned raised(const struct slice_event *event, const struct record **record)
{
    const struct record *below = event->has_below ? &event->trace->record[event->below] : NULL;
    *record = event->record;
    if (below != NULL && raised_text(event->record->error) == NULL)
        *record = below;
    return raised_text((*record)->error) != NULL ? (*record)->error : 0;
}

static bool lists(const struct trace *trace, uint64_t made, int process)
{
    for (uint64_t at = made + 1; at < trace->count && trace->record[at].kind == RECORD_GROUP; at++)
        for (unsigned i = 0; i < RECORD_GROUP_MEMBERS; i++)
            if (trace->record[at].members[i] == process)
                return true;
    return false;
}

/* As the process that made the call knows the communicator. */
static bool is_member(const struct trace *trace, const struct record *call, int process, int world)
{
    if (call->comm == COMM_WORLD_ID && trace->rank < world)
        return process < world;
    for (uint64_t at = 0; at < trace->count; at++)
        if (trace->record[at].kind == RECORD_COMM && trace->record[at].comm == call->comm &&
            trace->record[at].level == call->level)
            return lists(trace, at, process);
    return false;
}

/* The peer that the call names; PEER_ANY: it is about all members. */
static int named(const struct record *record)
{
    switch ((unsigned)record->kind) {
    case RECORD_SEND:
        return record->peer;
    case RECORD_RECV:
    case RECORD_PROBE:
        return record->want_peer;
    case RECORD_COMPLETE:
        return record->peer >= 0 ? record->peer : PEER_ANY;
    default:
        return PEER_ANY;
    }
}

static bool knows(const struct news *news, const struct slice *slice, size_t place, size_t dead)
{
    for (size_t i = 0; i < news->count; i++)
        if (news->item[i].kind == NEWS_LEARNED && news->item[i].dead == dead &&
            slice->event[news->item[i].to].place == place)
            return true;
    return false;
}

/* At event `at`, whose record says so, its process learns of the death of the one at `place`. */
static void learn(const struct slice *slice, size_t at, size_t place, const struct record *record,
                  struct news *news)
{
    const struct slice_event *event = &slice->event[at];
    const struct trace *dead = &slice->set->trace[place];
    if (dead->incarnation == event->trace->incarnation && place != event->place &&
        news_is_dead(dead) && dead->end->enter <= record->leave &&
        !knows(news, slice, event->place, place))
        add(news, &(struct news_item){NEWS_LEARNED, place, SLICE_NONE, at});
}

static void read_learned(const struct slice *slice, size_t at, const struct record *record,
                         struct news *news)
{
    const struct trace *own = slice->event[at].trace;
    int peer = named(record);
    for (size_t place = 0; place < slice->set->count; place++) {
        int dead = slice->set->trace[place].rank;
        if (peer >= 0 ? peer == dead : is_member(own, record, dead, slice->set->world))
            learn(slice, at, place, record, news);
    }
}

/* The record of the group that the call gave directly after it; NULL: none. */
static const struct record *failed_group(const struct slice_event *event, uint64_t *at)
{
    *at = (event->has_below ? event->below : event->index) + 1;
    const struct record *record = *at < event->trace->count ? &event->trace->record[*at] : NULL;
    return record != NULL && record->kind == RECORD_FAILED ? record : NULL;
}

/* What names who has died, without a call that fails: the group of a call, and a note. */
static void read_told(const struct slice *slice, size_t at, struct news *news)
{
    const struct slice_event *event = &slice->event[at];
    uint64_t group = 0;
    bool is_note = event->record->kind == RECORD_NOTE && event->record->tag == NOTE_LEARNED;
    const struct record *failed =
        event->record->kind == RECORD_CALL ? failed_group(event, &group) : NULL;
    for (size_t place = 0; (is_note || failed != NULL) && place < slice->set->count; place++) {
        int dead = slice->set->trace[place].rank;
        if (is_note ? event->record->peer == dead : lists(event->trace, group, dead))
            learn(slice, at, place, event->record, news);
    }
}

/* --- whom a revocation reaches ---------------------------------------------------------------- */

static bool is_revocation(const struct slice_event *event, const struct record *of)
{
    const struct record *record = event->record;
    return record->kind == RECORD_CALL && record->call == CALL_MPIX_Comm_revoke &&
           record->comm == of->comm && record->level == of->level;
}

static bool was_reached(const struct news *news, const struct slice *slice, size_t from,
                        size_t place)
{
    for (size_t i = 0; i < news->count; i++)
        if (news->item[i].from == from && slice->event[news->item[i].to].place == place)
            return true;
    return false;
}

/* The first revocation of the communicator is what others hear of. */
static void read_revoked(const struct slice *slice, size_t at, const struct record *record,
                         struct news *news)
{
    const struct slice_event *event = &slice->event[at];
    size_t from = SLICE_NONE;
    for (size_t i = 0; i < slice->count; i++)
        if (slice->event[i].trace->incarnation == event->trace->incarnation &&
            is_revocation(&slice->event[i], record) &&
            (from == SLICE_NONE ||
             slice->event[i].record->enter < slice->event[from].record->enter))
            from = i;
    if (from != SLICE_NONE && slice->event[from].place != event->place &&
        slice->event[from].record->enter <= record->leave &&
        !was_reached(news, slice, from, event->place))
        add(news, &(struct news_item){NEWS_REVOKED, SLICE_NONE, from, at});
}

/* --- the whole -------------------------------------------------------------------------------- */

void news_read(const struct slice *slice, struct news *news)
{
    const struct trace_set *set = slice->set;
    *news = (struct news){0};
    news->rank_of = memory_new((size_t)set->ranks, sizeof *news->rank_of);
    for (int process = 0; process < set->ranks; process++)
        news->rank_of[process] = process < set->world ? process : -1;
    read_newcomers(slice, news);
    for (size_t at = 0; at < slice->count; at++) {
        const struct record *record;
        unsigned error = raised(&slice->event[at], &record);
        if (error == RAISED_REVOKED)
            read_revoked(slice, at, record, news);
        else if (error != 0)
            read_learned(slice, at, record, news);
        else
            read_told(slice, at, news);
    }
}

void news_release(struct news *news)
{
    free(news->item);
    free(news->rank_of);
    *news = (struct news){0};
}
