/* Multicasts and reductions: M.once and M.atomic. */
#include "oracles/logging/m_family.h"

#include <inttypes.h>
#include <string.h>

void m_multicast(struct m_state *state, int rank, const struct record *note, struct event_ref event)
{
    struct m_message *message = m_message_find(state, note->comm, rank, M_ALL, note->bytes, true);
    judging_saw(state->judging, CLAIM_M_CELL_MULTICAST, 1);
    message->sent = event;
    memcpy(message->clock, state->rank[rank].clock, (size_t)state->ranks * sizeof *message->clock);
}

static struct finding *report(struct m_state *state, int rank, const struct record *note,
                              struct event_ref event, const char *what)
{
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(state->judging, CLAIM_M_ONCE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d %s %s: %s", rank, what,
                m_message_text(note->comm, note->peer, (int)note->request, note->bytes, text),
                event_text(event, where));
    finding_show(finding, event);
    return finding;
}

static void keep_multicast(struct m_state *state, int rank, const struct record *note,
                           struct event_ref event)
{
    struct m_message *message =
        m_message_find(state, note->comm, note->peer, M_ALL, note->bytes, true);
    if (rank != note->peer) {
        finding_say(report(state, rank, note, event, "has in its log the payload of"),
                    "only the root, rank %d, is to store it", note->peer);
        return;
    }
    if (message->kept)
        finding_say(report(state, rank, note, event, "has in its log twice"),
                    "one copy is to be stored");
    m_set_kept(state, message, true);
    state->rank[rank].pending -= message->lost;
    message->lost = false;
    m_look_recovered(state, rank, event);
}

/* A contribution reflects what its sender does, and the contributions that it has taken in. */
static void keep_contribution(struct m_state *state, int rank, const struct record *note,
                              struct event_ref event)
{
    struct m_rank *own = &state->rank[rank];
    struct m_message *message =
        m_message_find(state, note->comm, rank, (int)note->request, note->bytes, true);
    bool given_back = message->lost && message->taken[message->receiver] != 0;
    m_set_kept(state, message, true);
    if (!given_back) { /* else it is as the process before has made it */
        message->sent = event;
        memcpy(message->clock, own->clock, (size_t)state->ranks * sizeof *own->clock);
    }
    for (int child = 0; child < state->ranks; child++) {
        const struct m_message *part =
            m_message_find(state, note->comm, child, rank, note->bytes, false);
        for (int i = 0; i < state->ranks && part != NULL && part->taken[rank] != 0; i++)
            if (part->clock[i] > message->clock[i])
                message->clock[i] = part->clock[i];
    }
    own->pending -= message->lost;
    message->lost = false;
    m_look_recovered(state, rank, event);
}

void m_keep_part(struct m_state *state, int rank, const struct record *note, struct event_ref event)
{
    if (note->peer < 0 || note->peer >= state->ranks)
        return;
    judging_saw(state->judging, CLAIM_M_ONCE, 1);
    if ((int)note->request == M_ALL)
        keep_multicast(state, rank, note, event);
    else if (note->peer == rank && (int)note->request >= 0 && (int)note->request < state->ranks)
        keep_contribution(state, rank, note, event);
}

/* A determinant of a contribution that a rank other than the root has made. */
static const struct m_delivery *own_determinant(const struct m_rank *own, const struct record *note)
{
    for (uint64_t i = own->stable; i < own->count; i++) {
        const struct m_delivery *delivery = &own->delivery[i];
        if (delivery->comm == note->comm && delivery->ssn == note->bytes &&
            delivery->message != NULL && delivery->message->receiver != M_ALL)
            return delivery;
    }
    return NULL;
}

void m_reduced(struct m_state *state, int rank, const struct record *note, struct event_ref event)
{
    int root = (int)note->request;
    judging_saw(state->judging, CLAIM_M_ONCE, 1);
    judging_saw(state->judging, CLAIM_M_CELL_REDUCTION, 1);
    if (rank == root)
        return;
    for (const struct m_message *part = state->rank[rank].kept; part != NULL;
         part = part->kept_after)
        if (part->comm == note->comm && part->ssn == note->bytes && part->receiver != M_ALL &&
            part->receiver != root) {
            struct finding *finding =
                report(state, rank, note, event, "knows to be finished the reduction of");
            finding_say(finding,
                        "it still has its contribution to it in its log, and its parent, "
                        "rank %d, is not the root",
                        part->receiver);
            finding_show(finding, part->sent);
        }
    const struct m_delivery *determinant = own_determinant(&state->rank[rank], note);
    if (determinant == NULL)
        return;
    struct finding *finding =
        report(state, rank, note, event, "knows to be finished the reduction of");
    finding_say(finding, "it has made a determinant of a contribution, and is not the root");
    finding_show(finding, determinant->event);
}

/* --- M.atomic ------------------------------------------------------------------------------- */

static void judge_multicast(struct m_state *state, const struct collectives *groups,
                            const struct m_message *message)
{
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    const struct gathering *group = collectives_find(groups, message->comm);
    judging_saw(state->judging, CLAIM_M_ATOMIC, 1);
    for (int rank = 0; rank < state->ranks; rank++) {
        bool member = message->comm == COMM_WORLD_ID
                          ? rank < state->judging->facts->ranks && state->lives->application[rank]
                          : group != NULL && group->known && group->member[rank];
        const struct m_rank *own = &state->rank[rank];
        bool reached = message->delivered[rank] != 0 && message->delivered[rank] <= own->count;
        if (!member || rank == message->sender || reached || own->dead)
            continue;
        struct finding *finding = judging_find(state->judging, CLAIM_M_ATOMIC, VERDICT_VIOLATION);
        finding_say(finding, "rank %d began the multicast %s: %s", message->sender,
                    m_message_text(message->comm, message->sender, M_ALL, message->ssn, text),
                    event_text(message->sent, where));
        finding_say(finding, "the run is over, and rank %d has not delivered it", rank);
        finding_show(finding, message->sent);
        finding_decide_at_end(finding);
    }
}

static void learn(struct collectives *groups, const struct judging *judging, int incarnation)
{
    for (size_t i = 0; i < judging->traces->count; i++)
        if (judging->traces->trace[i].incarnation == incarnation)
            collectives_learn(groups, &judging->traces->trace[i], LEVEL_APP,
                              judging->traces->trace[i].count);
}

void m_judge_multicasts(struct m_state *state)
{
    struct collectives groups;
    const struct collective_listener nobody = {0};
    collectives_init(&groups, state->lives, LEVEL_APP, &nobody);
    learn(&groups, state->judging, state->incarnation);
    for (int rank = 0; rank < state->ranks; rank++)
        for (const struct m_message *message = state->rank[rank].message; message != NULL;
             message = message->next)
            if (message->receiver == M_ALL)
                judge_multicast(state, &groups, message);
    collectives_release(&groups);
}
