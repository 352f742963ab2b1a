/* See owed.h. What the wire still carries in a job that stands still will not come: no rank can go
 * on, or all that can only poll in vain. So a receive of the program to which a message was sent,
 * and which no other receive can have taken, shows a message that is lost. Only a rank that is
 * inside a receive, a probe, or MPI_Wait for one receive is asked: of calls that wait for several
 * requests the traces do not tell which they are. */
#include "oracles/history_claims/owed.h"

#include "trace/calls.h"

static bool stands_still(const struct judging *judging)
{
    int newest = judging->traces->incarnations - 1;
    return run_is_stuck(judging->facts) && !evidence_keeps(judging, newest) &&
           !evidence_disturbs_store(judging, newest);
}

/* A process has not come to where the rank was whose place it takes; or a rank is dead, and some
 * process may be about to take its place. */
static bool is_any_on_its_way(const struct lives *lives)
{
    for (size_t i = 0; i < lives->count; i++)
        if (lives->life[i].takes_over && lives->life[i].counts == lives->life[i].to)
            return true;
    for (int rank = 0; rank < lives->ranks; rank++)
        if (lives->application[rank] && lives_is_dead(lives, rank))
            return true;
    return false;
}

/* The call of the program out of which the process has not come. */
static bool is_inside(const struct trace *trace, uint64_t *index)
{
    for (*index = trace->end == NULL ? trace->count : 0; *index > 0;) {
        const struct record *record = &trace->record[--*index];
        if (record->thread > 0)
            return false;
        if (record_is_of_app(record))
            return atomic_load_explicit(&record->leave, memory_order_acquire) == 0;
    }
    return false;
}

/* Since the library gave it a message inside the call it has asked in vain, or waits for more: it
 * is not about to hand that message over. */
static bool has_nothing_in_hand(const struct trace *trace, uint64_t call)
{
    bool nothing = true;
    for (uint64_t at = call + 1; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        unsigned kind = record->kind;
        bool asks = kind == RECORD_RECV || kind == RECORD_PROBE || kind == RECORD_COMPLETE;
        if (!record_is_event(record) || record->level != LEVEL_WIRE || !asks)
            continue;
        bool over = atomic_load_explicit(&record->leave, memory_order_acquire) != 0;
        if (!over || (record->flags & FLAG_NEGATIVE))
            nothing = true;
        else if (record->peer >= 0)
            nothing = false;
    }
    return nothing;
}

static const struct received *posted_at(const struct match *match, int rank, struct event_ref event)
{
    for (const struct received *at = match->rank[rank].undecided; at != NULL; at = at->after)
        if (event_same(at->posted, event))
            return at;
    return NULL;
}

static const struct received *waited_for(const struct match *match, const struct life *life,
                                         uint64_t index)
{
    const struct record *record = &life->trace->record[index];
    if (record->kind == RECORD_RECV || call_role(record->call) == ROLE_MPROBE)
        return posted_at(match, life->rank, event_of(life->trace, index));
    if (record->kind != RECORD_COMPLETE || call_role(record->call) != ROLE_WAIT)
        return NULL;
    const struct request *request =
        match_request(match, life->trace->rank, life->trace->incarnation, record->request);
    return request != NULL && request->kind == REQUEST_RECEIVE ? request->received : NULL;
}

bool owed_find(const struct judging *judging, const struct pass *pass, int rank, struct owed *owed)
{
    const struct lives *lives = &judging->reading.lives;
    const struct life *life = lives_newest(lives, rank, pass->incarnation);
    uint64_t index;
    if (!pass->newest || life == NULL || !stands_still(judging) || is_any_on_its_way(lives) ||
        !is_inside(life->trace, &index) || index < life->counts ||
        !has_nothing_in_hand(life->trace, index))
        return false;
    const struct record *record = &life->trace->record[index];
    const struct received *received = waited_for(&pass->match, life, index);
    owed->call = event_of(life->trace, index);
    if (received != NULL)
        owed->sent = match_owed(&pass->match, rank, received->comm, received->want_peer,
                                received->want_tag, received->order, &owed->channel);
    else if (record->kind == RECORD_PROBE)
        owed->sent = match_owed(&pass->match, rank, record->comm, record->want_peer,
                                record->want_tag, UINT64_MAX, &owed->channel);
    else
        return false;
    return owed->sent != NULL;
}
