/* Sends inside which a checkpoint was taken. Part of the matching engine; must not know: notes.
 *
 *     incarnation 0:  MPI_Send(x) entered   checkpoint inside it   MPI_Send returned   killed
 *     incarnation 1:  restored   MPI_Send(x) entered again   returned
 *
 * The effective history of the rank ends its first piece at the checkpoint, within the call, and
 * begins the next piece with the same call. It therefore holds two records of what is one send.
 * match_remember_cut keeps those of the first piece; when the call is done again,
 * match_sent_before finds the one that it repeats and makes one of the two:
 *   - the first is still unmatched: it is taken out, and the second one stands for both. It keeps
 *     the time at which the first was entered, because the message may have been on its way since;
 *   - the first has been matched: its message was delivered, and the second is left out.
 * The next checkpoint may lie inside the second one, which is done again in the life after that.
 * Without this one message would have two sends, and the one without a delivery would be reported
 * as a message that nobody received. */
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

/* For a persistent request that the protocol made again, any persistent send counts as the same
 * call: the protocol need not have used the function (MPI_Send_init, MPI_Ssend_init, ...) that the
 * program used. */
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

static bool is_of_this_life(const struct cut_send *cut, const struct stream_event *event)
{
    struct event_ref own = event_of(event->trace, event->index);
    return cut->event.rank == own.rank && cut->event.incarnation == own.incarnation;
}

bool match_sent_before(struct match *match, const struct stream_event *event,
                       struct channel *channel, uint64_t *enter)
{
    struct match_rank *rank = &match->rank[event->rank];
    const struct record *record = event->record;
    for (unsigned i = 0; i < rank->cut_count; i++) {
        struct cut_send *cut = &rank->cut[i];
        if (is_of_this_life(cut, event) || !is_same_call(cut, record) ||
            cut->comm != record->comm || cut->peer != record->peer || cut->tag != record->tag)
            continue;
        struct sent *first = find_sent(channel, cut->event);
        if (first != NULL || !event->at_cut) /* else a third one will repeat it */
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
