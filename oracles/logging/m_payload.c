/* Payloads in the logs of their senders, and what arrives: M.replay where a log is emptied,
 * M.stale. */
#include "oracles/logging/m_family.h"

#include <inttypes.h>
#include <string.h>

void m_set_kept(struct m_state *state, struct m_message *message, bool kept)
{
    struct m_rank *own = &state->rank[message->sender];
    if (message->kept == kept)
        return;
    message->kept = kept;
    if (kept) {
        message->gone = false;
        message->kept_line = own->newest_line;
        message->kept_before = NULL;
        message->kept_after = own->kept;
    }
    struct m_message **before =
        message->kept_before != NULL ? &message->kept_before->kept_after : &own->kept;
    *before = kept ? message : message->kept_after;
    if (message->kept_after != NULL)
        message->kept_after->kept_before = kept ? message : message->kept_before;
}

void m_keep(struct m_state *state, int rank, const struct record *note, struct event_ref event)
{
    struct m_rank *own = &state->rank[rank];
    int receiver = lives_peer(state->lives, event.incarnation, note->enter, note->peer);
    if (receiver < 0 || receiver >= state->ranks)
        return;
    struct m_message *message = m_message_find(state, 0, rank, receiver, note->bytes, true);
    m_set_kept(state, message, note->tag == NOTE_KEPT);
    message->hash = note->hash;
    message->no_hash = (note->flags & FLAG_NO_HASH) != 0;
    message->sent = event;
    memcpy(message->clock, own->clock, (size_t)state->ranks * sizeof *own->clock);
    own->pending -= message->lost;
    message->lost = false;
    m_look_recovered(state, rank, event);
}

static void drop(struct m_state *state, struct m_message *message, int receiver,
                 struct event_ref event)
{
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    if (!m_is_needed(state, message, receiver) || m_together(state, message->sender, receiver))
        return;
    message->told = true;
    struct finding *finding = judging_find(state->judging, CLAIM_M_REPLAY, VERDICT_VIOLATION);
    finding_say(finding, "rank %d dropped the payload of %s: %s", message->sender,
                m_message_text(message->comm, message->sender, receiver, message->ssn, text),
                event_text(event, where));
    finding_say(finding,
                message->delivered[receiver] != 0
                    ? "rank %d had delivered it, and no checkpoint since then is there to restore: "
                      "if it dies, nobody can give it the message again"
                    : "rank %d had not delivered it: if it dies, nobody can give it the message",
                receiver);
    finding_show(finding, message->sent);
    if (message->delivered[receiver] != 0)
        finding_show(finding,
                     state->rank[receiver].delivery[message->delivered[receiver] - 1].event);
    finding_show(finding, event);
}

void m_drop(struct m_state *state, int rank, const struct record *note, struct event_ref event)
{
    int to = (int)note->request;
    for (struct m_message *message = state->rank[rank].kept, *next; message != NULL;
         message = next) {
        next = message->kept_after;
        bool meant =
            message->comm == note->comm &&
            (message->comm == 0 ? message->ssn <= note->bytes
                                : message->ssn == note->bytes || note->bytes == UINT64_MAX) &&
            (message->comm != 0 || to == M_ALL || to == message->receiver);
        if (!meant)
            continue;
        /* Of what a collective carries only the end of the collective says who still needs it. */
        if (message->comm == 0)
            drop(state, message, message->receiver, event);
        m_set_kept(state, message, false);
    }
}

/* --- what arrives --------------------------------------------------------------------------- */

static struct m_message *arrived(struct m_state *state, int rank, const struct record *note)
{
    struct m_message *message =
        m_message_find(state, note->comm, note->peer, rank, note->bytes, false);
    return message != NULL || note->comm == 0
               ? message
               : m_message_find(state, note->comm, note->peer, M_ALL, note->bytes, false);
}

/* The rank has it: delivered, in what counts, or taken since it last began, or before the
 * checkpoint that it then began with. */
static bool has(const struct m_state *state, int rank, const struct m_message *message)
{
    const struct m_rank *own = &state->rank[rank];
    return message != NULL &&
           ((message->delivered[rank] != 0 && message->delivered[rank] <= own->count) ||
            message->taken[rank] == own->beginnings);
}

static struct finding *report(struct m_state *state, int rank, const struct record *note,
                              struct event_ref event, const char *did)
{
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(state->judging, CLAIM_M_STALE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d %s %s, of incarnation %" PRIu64 " of its sender: %s", rank, did,
                m_message_text(note->comm, note->peer, rank, note->bytes, text), note->hash,
                event_text(event, where));
    finding_show(finding, event);
    return finding;
}

static void judge_taken(struct m_state *state, int rank, const struct record *note,
                        struct event_ref event)
{
    const struct m_rank *own = &state->rank[rank];
    struct m_message *message = arrived(state, rank, note);
    bool old = note->hash < own->incarnation[note->peer];
    bool stale = old && !(message != NULL && message->receiver == M_ALL);
    judging_saw(state->judging, CLAIM_M_STALE, own->incarnation[note->peer] > 0);
    judging_saw(state->judging, CLAIM_M_CELL_OLD_MULTICAST, old && !stale);
    if (stale)
        finding_say(report(state, rank, note, event, "took"),
                    "it knew that only incarnation %" PRIu64 " counts",
                    own->incarnation[note->peer]);
    else if (has(state, rank, message))
        finding_say(report(state, rank, note, event, "took"), "it had taken it before");
    if (message == NULL || has(state, rank, message))
        return;
    message->taken[rank] = own->beginnings;
    message->taken_lines[rank] = own->line_count;
}

static void judge_discarded(struct m_state *state, int rank, const struct record *note,
                            struct event_ref event)
{
    const struct m_message *message = arrived(state, rank, note);
    bool old = note->hash < state->rank[rank].incarnation[note->peer];
    judging_saw(state->judging, CLAIM_M_STALE, 1);
    judging_saw(state->judging, CLAIM_M_CELL_STALE, old);
    judging_saw(state->judging, CLAIM_M_CELL_DUPLICATE, !old && has(state, rank, message));
    if (old || has(state, rank, message))
        return;
    struct finding *finding = report(state, rank, note, event, "dropped");
    finding_say(finding, "it had not taken it before, and that is no old incarnation");
    if (message != NULL)
        finding_show(finding, message->sent);
}

void m_arrive(struct m_state *state, int rank, const struct record *note, struct event_ref event)
{
    if (note->peer < 0 || note->peer >= state->ranks)
        return;
    if (note->tag == NOTE_INCARNATION)
        state->rank[rank].incarnation[note->peer] = note->bytes;
    else if (note->tag == NOTE_TAKEN)
        judge_taken(state, rank, note, event);
    else
        judge_discarded(state, rank, note, event);
}
