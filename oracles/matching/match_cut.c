/* Sends inside which a checkpoint was taken: the call is done again after the restart, and the two
 * are one send. Part of the matching engine; must not know: notes. */
#include "oracles/matching/match_tables.h"

#include "trace/calls.h"

void match_remember_cut(struct match *match, const struct stream_event *event)
{
    struct match_rank *rank = &match->rank[event->rank];
    const struct record *record = event->record;
    if (rank->cut_count < MATCH_CUT_SENDS)
        rank->cut[rank->cut_count++] = (struct cut_send){record->comm,
                                                         record->peer,
                                                         record->tag,
                                                         record->call,
                                                         (record->flags & FLAG_PERSISTENT) != 0,
                                                         event_of(event->trace, event->index)};
}

/* In which way a persistent request was made that a protocol has brought back is not known. */
static bool is_same_call(const struct cut_send *cut, const struct record *record)
{
    return cut->call == record->call ||
           (cut->call != CALL_NONE && cut->persistent && (record->flags & FLAG_PERSISTENT) != 0);
}

static struct sent *find_sent(const struct channel *channel, struct event_ref event)
{
    struct sent *sent = channel->first_sent;
    while (sent != NULL &&
           (sent->event.rank != event.rank || sent->event.incarnation != event.incarnation ||
            sent->event.index != event.index))
        sent = sent->next;
    return sent;
}

bool match_sent_before(struct match *match, const struct stream_event *event,
                       struct channel *channel, uint64_t *enter)
{
    struct match_rank *rank = &match->rank[event->rank];
    const struct record *record = event->record;
    for (unsigned i = 0; i < rank->cut_count && !event->at_cut; i++) {
        struct cut_send *cut = &rank->cut[i];
        if (!is_same_call(cut, record) || cut->comm != record->comm || cut->peer != record->peer ||
            cut->tag != record->tag)
            continue;
        struct sent *first = find_sent(channel, cut->event);
        cut->call = CALL_NONE;
        if (first == NULL)
            return true;
        *enter = first->enter;
        channel_take_sent(match, channel, first);
        match_free_sent(match, first);
        return false;
    }
    return false;
}
