/* A delivery: M.order, M.replay and M.stale as far as they are judged where it happens, and what
 * the receiver reflects from then on. */
#include "oracles/logging/m_family.h"

#include "base/memory.h"
#include "oracles/reading/deaths.h"

#include <inttypes.h>

/* It is of the sender; and better than what was found so far if it has the bytes. */
static bool fits(const struct m_open *open, int sender, const struct m_message *message, bool found)
{
    bool same =
        message != NULL && !message->no_hash && !open->no_hash && message->hash == open->hash;
    return open->source == sender && (!found || same);
}

static bool is_ahead(const struct m_rank *own, uint64_t index)
{
    for (size_t i = 0; i < own->ahead_count; i++)
        if (own->ahead[i] == index)
            return true;
    return false;
}

/* Records of calls that complete several requests stand behind the notes made inside. */
static bool take_ahead(struct m_state *state, int rank, struct event_ref note,
                       const struct m_message *message, int sender, struct m_open *taken)
{
    struct m_rank *own = &state->rank[rank];
    uint64_t ticks = state->trace->record[note.index].enter, best = 0;
    for (uint64_t at = note.index + 1; at < state->trace->count; at++) {
        const struct record *record = &state->trace->record[at];
        if (record->kind == RECORD_NOTE || !record_is_of_app(record))
            continue;
        struct call_span span = call_span_of(state->trace, at);
        if (span.enter > ticks)
            break;
        struct m_open open = m_open_of(state, state->trace, at);
        if (!m_hands_over(record) || span.leave < ticks || is_ahead(own, at) ||
            !fits(&open, sender, message, best != 0))
            continue;
        best = at;
        *taken = open;
    }
    if (best == 0)
        return false;
    own->ahead = memory_room(own->ahead, own->ahead_count, &own->ahead_room, sizeof *own->ahead);
    own->ahead[own->ahead_count++] = best;
    return true;
}

/* The message that the call hands over, and that the note can be on. False: none. */
static bool take_open(struct m_rank *own, int sender, const struct m_message *message,
                      struct m_open *taken)
{
    size_t best = own->open_count;
    for (size_t i = 0; i < own->open_count; i++)
        if (fits(&own->open[i], sender, message, best < own->open_count))
            best = i;
    if (best == own->open_count)
        return false;
    *taken = own->open[best];
    own->open_count--;
    for (size_t i = best; i < own->open_count; i++)
        own->open[i] = own->open[i + 1];
    return true;
}

static bool is_call_of_app(const struct record *record)
{
    return record->kind != RECORD_NOTE && record_is_of_app(record);
}

/* The rank is inside a call that never returns, for it died there or the run ended, or one that
 * fails, as where a message is longer than its receive. What that call hands over is in no record;
 * nor is the call itself where it is MPI_Testall or the like: then nothing of the program follows.
 */
static bool is_in_call_without_result(const struct m_state *state, struct event_ref note)
{
    const struct trace *trace = state->trace;
    uint64_t made = trace->record[note.index].enter, after = note.index;
    for (uint64_t at = note.index; at > 0; at--) {
        const struct record *record = &trace->record[at - 1];
        if (is_call_of_app(record) && (record->leave == 0 || record->leave >= made))
            return record->leave == 0 || record->error != 0;
    }
    while (after < trace->count && !is_call_of_app(&trace->record[after]))
        after++;
    return after == trace->count && !death_ended_well(trace);
}

static void judge_handed_over(struct m_state *state, int rank, const struct record *note,
                              struct event_ref event, const struct m_message *message)
{
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    struct m_open open = {0};
    bool found = take_open(&state->rank[rank], note->peer, message, &open) ||
                 take_ahead(state, rank, event, message, note->peer, &open);
    if (found &&
        (message == NULL || message->no_hash || open.no_hash || message->hash == open.hash))
        return;
    if (!found && is_in_call_without_result(state, event))
        return;
    struct finding *finding = judging_find(state->judging, CLAIM_M_ORDER, VERDICT_VIOLATION);
    finding_say(finding, "rank %d told that it delivers %s: %s", rank,
                m_message_text(0, note->peer, rank, note->bytes, text), event_text(event, where));
    finding_say(finding,
                found ? "the message that the call handed over has other bytes: %s"
                      : "the call handed over no message of that sender: %s",
                event_text(found ? open.event : event, where));
    finding_show(finding, event);
    if (found)
        finding_show(finding, open.event);
    if (message != NULL)
        finding_show(finding, message->sent);
}

/* The process that had the message in its log died before anybody had delivered it; the one that
 * takes its place will come to it, and is down until then. */
static void come_to_need(struct m_state *state, struct m_message *message)
{
    struct m_rank *sender = &state->rank[message->sender];
    sender->pending += !message->lost;
    message->lost = true;
    sender->recovering = true;
}

static void judge_payload(struct m_state *state, int rank, const struct record *note,
                          struct event_ref event, struct m_message *message)
{
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    judging_saw(state->judging, CLAIM_M_REPLAY, 1);
    bool away = note->peer < 0 || note->peer >= state->ranks ||
                m_together(state, rank, note->peer) || state->rank[note->peer].dead ||
                state->rank[note->peer].recovering;
    if ((message != NULL && (message->kept || message->told || m_is_saved(state, message, rank))) ||
        away)
        return;
    if (message != NULL && message->gone) {
        come_to_need(state, message);
        return;
    }
    if (message != NULL)
        message->told = true;
    struct finding *finding = judging_find(state->judging, CLAIM_M_REPLAY, VERDICT_VIOLATION);
    finding_say(finding, "rank %d delivered %s: %s", rank,
                m_message_text(note->comm, note->peer, rank, note->bytes, text),
                event_text(event, where));
    finding_say(finding,
                "rank %d does not have its payload in its log then: if rank %d dies, nobody "
                "can give it the message again",
                note->peer, rank);
    finding_show(finding, event);
    if (message != NULL)
        finding_show(finding, message->sent);
}

/* A delivery that a survivor's determinant names must be done again as it says. */
static void judge_order(struct m_state *state, int rank, const struct record *note,
                        struct event_ref event, const struct m_delivery *before)
{
    char text[MESSAGE_TEXT_BYTES], other[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    int holder = 0;
    while (holder < state->ranks && (holder == rank || !before->held[holder]))
        holder++;
    judging_saw(state->judging, holder < state->ranks ? CLAIM_M_CELL_AGAIN : CLAIM_M_CELL_FREE, 1);
    if (holder == state->ranks)
        return;
    judging_saw(state->judging, CLAIM_M_ORDER, 1);
    if (before->comm == note->comm && before->sender == note->peer && before->ssn == note->bytes)
        return;
    struct finding *finding = judging_find(state->judging, CLAIM_M_ORDER, VERDICT_VIOLATION);
    finding_say(finding, "rank %d, which recovers, delivered %s as its number %" PRIu64 ": %s",
                rank, m_message_text(note->comm, note->peer, rank, note->bytes, text),
                state->rank[rank].count + 1, event_text(event, where));
    finding_say(finding,
                "before it died it delivered %s there (%s), and rank %d has the determinant",
                m_message_text(before->comm, before->sender, rank, before->ssn, other),
                event_text(before->event, where), holder);
    finding_show(finding, before->event);
    finding_show(finding, event);
}

static void judge_rsn(struct m_state *state, int rank, const struct record *note,
                      struct event_ref event)
{
    char where[EVENT_TEXT_BYTES];
    struct m_rank *own = &state->rank[rank];
    const struct m_delivery *before = own->count > 0 ? &own->delivery[own->count - 1] : NULL;
    if (own->goes_on && note->hash > own->count)
        own->base = note->hash - own->count - 1;
    own->goes_on = false;
    uint64_t next =
        before != NULL && before->rsn != 0 ? before->rsn + 1 : own->base + own->count + 1;
    if (note->hash == next)
        return;
    own->misnumbered = true;
    struct finding *finding = judging_find(state->judging, CLAIM_M_ORDER, VERDICT_VIOLATION);
    finding_say(finding,
                "rank %d told %" PRIu64
                " as the receive sequence number of a delivery, and %" PRIu64 " is the next: %s",
                rank, note->hash, next, event_text(event, where));
    finding_show(finding, event);
    if (before != NULL)
        finding_show(finding, before->event);
}

static void judge_twice(struct m_state *state, int rank, const struct m_message *message,
                        struct event_ref event)
{
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    const struct m_rank *own = &state->rank[rank];
    uint64_t number = message->delivered[rank];
    if (number == 0 || number > own->count)
        return;
    struct finding *finding = judging_find(state->judging, CLAIM_M_STALE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d delivered %s, and had delivered it before (%s): %s", rank,
                m_message_text(message->comm, message->sender, rank, message->ssn, text),
                event_text(own->delivery[number - 1].event, where), event_text(event, where));
    finding_show(finding, own->delivery[number - 1].event);
    finding_show(finding, event);
}

/* From now on the rank reflects what the sender did when it sent. */
static void join(struct m_state *state, int rank, const struct m_message *message,
                 struct event_ref event)
{
    struct m_rank *own = &state->rank[rank];
    for (int other = 0; other < state->ranks; other++) {
        uint64_t from = own->clock[other];
        if (other == rank || message == NULL || message->clock[other] <= from)
            continue;
        own->clock[other] = message->clock[other];
        for (uint64_t number = from + 1; number <= message->clock[other]; number++)
            m_judge_orphan(state, other, number, event);
    }
}

/* Others depend on what the rank delivered there. */
static bool is_reflected(const struct m_state *state, int rank, uint64_t number)
{
    bool reflected = false;
    for (int other = 0; other < state->ranks; other++)
        reflected |= other != rank && state->rank[other].clock[rank] >= number;
    return reflected;
}

static struct m_delivery *add(struct m_state *state, int rank, struct m_delivery delivery)
{
    struct m_rank *own = &state->rank[rank];
    struct m_delivery *here;
    if (own->count == own->delivery_count) {
        own->delivery = memory_room(own->delivery, own->delivery_count, &own->delivery_room,
                                    sizeof *own->delivery);
        delivery.held = memory_new((size_t)state->ranks, sizeof *delivery.held);
        own->delivery[own->delivery_count++] = delivery;
    } else {
        /* It is done again: whoever has the determinant of the same keeps it. Of another one those
         * who depend on what was there are M.order's affair, or were told to be orphans. */
        here = &own->delivery[own->count];
        bool same = here->comm == delivery.comm && here->sender == delivery.sender &&
                    here->ssn == delivery.ssn;
        delivery.held = here->held;
        delivery.reported = here->reported || (!same && is_reflected(state, rank, own->count + 1));
        for (int i = 0; i < state->ranks && !same; i++)
            delivery.held[i] = false;
        *here = delivery;
    }
    here = &own->delivery[own->count++];
    here->held[rank] = true;
    m_hold_early(state, own);
    own->clock[rank] = own->count;
    return here;
}

void m_deliver(struct m_state *state, int rank, const struct record *note, struct event_ref event)
{
    struct m_rank *own = &state->rank[rank];
    struct m_message *message =
        m_message_find(state, note->comm, note->peer, rank, note->bytes, false);
    if (message == NULL && note->comm != 0)
        message = m_message_find(state, note->comm, note->peer, M_ALL, note->bytes, false);
    if (note->comm == 0)
        judge_handed_over(state, rank, note, event, message);
    judge_payload(state, rank, note, event, message);
    if (own->count < own->delivery_count)
        judge_order(state, rank, note, event, &own->delivery[own->count]);
    judge_rsn(state, rank, note, event);
    if (message != NULL)
        judge_twice(state, rank, message, event);
    add(state, rank,
        (struct m_delivery){.message = message,
                            .comm = note->comm,
                            .sender = note->peer,
                            .ssn = note->bytes,
                            .rsn = note->hash,
                            .event = event});
    if (message != NULL)
        message->delivered[rank] = own->count;
    join(state, rank, message, event);
    m_look_recovered(state, rank, event);
}

/* Nothing is told of the message, so nobody but the receiver can have its determinant. */
void m_deliver_untold(struct m_state *state, int rank, const struct m_open *open)
{
    add(state, rank,
        (struct m_delivery){.sender = open->source, .ssn = UINT64_MAX, .event = open->event});
    m_look_recovered(state, rank, open->event);
}
