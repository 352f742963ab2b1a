/* M.orphan: of each message m that was delivered, and for each set F of failures within what is
 * promised: if a rank that is not in F depends on m, then one that is not in F holds its
 * determinant. The smallest F of which the second can fail is the one of all who hold it, with
 * those that are down; a larger one leaves fewer who depend. So that one alone is looked at,
 * whenever somebody comes to depend on m, one who held its determinant does no longer, or one who
 * was down has recovered. Where a new process goes back to before m, F has come about: somebody
 * else must hold the determinant. */
#include "oracles/logging/m_family.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Who fails: all that hold the determinant, and all that are down; and who rolls back with them.
 * Returns how many failures that takes. */
static uint64_t fail_all(const struct m_state *state, const struct m_delivery *delivery,
                         bool *fails)
{
    uint64_t failures = 0;
    for (int i = 0; i < state->ranks; i++) {
        const struct m_rank *own = &state->rank[i];
        if (fails[i] || !(delivery->held[i] || own->dead || own->recovering))
            continue;
        failures++;
        for (int other = i; other < state->ranks; other++)
            fails[other] |= m_together(state, i, other);
        for (int other = 0; other < i; other++)
            fails[other] |= m_together(state, i, other);
    }
    return failures;
}

/* The messages by which `orphan` came to depend on the delivery, the last one first. */
static void show_chain(const struct m_state *state, struct finding *finding, int rank,
                       uint64_t number, int orphan)
{
    for (int hop = 0; hop < state->ranks && orphan != rank; hop++) {
        const struct m_rank *own = &state->rank[orphan];
        const struct m_message *by = NULL;
        for (uint64_t i = 0; i < own->count && by == NULL; i++) {
            const struct m_message *message = own->delivery[i].message;
            if (message == NULL || message->clock[rank] < number)
                continue;
            by = message;
            finding_show(finding, own->delivery[i].event);
            finding_show(finding, by->sent);
        }
        if (by == NULL)
            return;
        orphan = by->sender;
    }
}

/* `fails`, by rank: who would have to die; NULL: all that takes has died already. */
static void report(struct m_state *state, int rank, uint64_t number, const bool *fails, int orphan,
                   struct event_ref at)
{
    const struct m_delivery *delivery = &state->rank[rank].delivery[number - 1];
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES], set[128] = "";
    size_t used = 0;
    for (int i = 0; fails != NULL && i < state->ranks && used < sizeof set; i++)
        if (fails[i])
            used += (size_t)snprintf(set + used, sizeof set - used, "%s%d", used ? ", " : "", i);
    struct finding *finding = judging_find(state->judging, CLAIM_M_ORPHAN, VERDICT_VIOLATION);
    finding_say(finding, "rank %d delivered %s: %s", rank,
                m_message_text(delivery->comm, delivery->sender, rank, delivery->ssn, text),
                event_text(delivery->event, where));
    if (fails != NULL) {
        finding_say(finding, "rank %d depends on that: %s", orphan, event_text(at, where));
        finding_say(finding,
                    "if now {%s} died, rank %d would live on, and nobody would have the "
                    "determinant",
                    set, orphan);
    } else {
        finding_say(finding, "rank %d depends on that, and lives on", orphan);
        finding_say(finding,
                    "rank %d died, its new process goes on from before that, and nobody has the "
                    "determinant: %s",
                    rank, event_text(at, where));
    }
    finding_show(finding, delivery->event);
    if (delivery->message != NULL)
        finding_show(finding, delivery->message->sent);
    finding_show(finding, at);
    show_chain(state, finding, rank, number, orphan);
    finding_decide(finding, at);
}

void m_judge_orphan(struct m_state *state, int rank, uint64_t number, struct event_ref at)
{
    struct m_rank *own = &state->rank[rank];
    if (number <= own->stable || number > own->delivery_count)
        return;
    struct m_delivery *delivery = &own->delivery[number - 1];
    if (delivery->reported)
        return;
    bool *fails = memory_new((size_t)state->ranks, sizeof *fails);
    uint64_t failures = fail_all(state, delivery, fails);
    bool depends = false;
    int orphan = -1;
    for (int i = 0; i < state->ranks; i++) {
        bool reflects = !m_together(state, i, rank) && state->rank[i].clock[rank] >= number;
        depends |= reflects;
        if (reflects && !fails[i] && orphan < 0)
            orphan = i;
    }
    judging_saw(state->judging, CLAIM_M_ORPHAN, depends);
    if (failures <= state->promised && orphan >= 0) {
        delivery->reported = true;
        report(state, rank, number, fails, orphan, at);
    }
    free(fails);
}

void m_judge_orphans(struct m_state *state, struct event_ref at)
{
    for (int rank = 0; rank < state->ranks; rank++)
        for (uint64_t number = state->rank[rank].stable + 1;
             number <= state->rank[rank].delivery_count; number++)
            m_judge_orphan(state, rank, number, at);
}

static bool is_held_by_another(const struct m_state *state, const struct m_delivery *delivery,
                               int rank)
{
    for (int i = 0; i < state->ranks; i++)
        if (delivery->held[i] && !m_together(state, i, rank))
            return true;
    return false;
}

/* Somebody who lives, and does not go back with the rank, reflects its delivery; or -1. */
static int find_orphan(const struct m_state *state, int rank, uint64_t number)
{
    for (int i = 0; i < state->ranks; i++)
        if (!m_together(state, i, rank) && !state->rank[i].dead &&
            state->rank[i].clock[rank] >= number)
            return i;
    return -1;
}

void m_judge_undone(struct m_state *state, int rank, uint64_t restored, struct event_ref at)
{
    struct m_rank *own = &state->rank[rank];
    for (uint64_t number = restored + 1; number <= own->needed && number <= own->delivery_count;
         number++) {
        struct m_delivery *delivery = &own->delivery[number - 1];
        int orphan = find_orphan(state, rank, number);
        if (orphan < 0 || delivery->reported || is_held_by_another(state, delivery, rank))
            continue;
        delivery->reported = true;
        report(state, rank, number, NULL, orphan, at);
    }
}

static bool is_of(const struct m_delivery *delivery, const struct record *note)
{
    return delivery->rsn == note->hash && delivery->comm == note->comm &&
           delivery->sender == note->peer && delivery->ssn == note->bytes;
}

/* The delivery that a determinant is of; NULL: none is so, and it is of no use. Where its receiver
 * told a wrong number, which is M.order's affair, others have the determinant with that number. */
static struct m_delivery *find(struct m_state *state, const struct record *note)
{
    int receiver = (int)note->request;
    if (receiver < 0 || receiver >= state->ranks)
        return NULL;
    const struct m_rank *own = &state->rank[receiver];
    uint64_t place = note->hash - own->base - 1;
    if (note->hash > own->base && place < own->delivery_count && is_of(&own->delivery[place], note))
        return &own->delivery[place];
    for (uint64_t i = own->delivery_count; i > 0 && own->misnumbered; i--)
        if (is_of(&own->delivery[i - 1], note))
            return &own->delivery[i - 1];
    return NULL;
}

/* --- determinants that are stored ahead of the delivery ------------------------------------- */

static struct m_early early_of(int holder, const struct record *note)
{
    return (struct m_early){.holder = holder,
                            .comm = note->comm,
                            .sender = note->peer,
                            .ssn = note->bytes,
                            .rsn = note->hash};
}

static bool is_same_early(const struct m_early *a, const struct m_early *b)
{
    return a->holder == b->holder && a->comm == b->comm && a->sender == b->sender &&
           a->ssn == b->ssn && a->rsn == b->rsn;
}

static void let_go_early(struct m_rank *own, const struct m_early *early)
{
    for (size_t i = own->early_count; i > 0; i--)
        if (is_same_early(&own->early[i - 1], early))
            own->early[i - 1] = own->early[--own->early_count];
}

void m_hold_early(struct m_state *state, struct m_rank *own)
{
    struct m_delivery *delivery = &own->delivery[own->count - 1];
    for (size_t i = own->early_count; i > 0; i--) {
        const struct m_early *early = &own->early[i - 1];
        if (early->rsn != delivery->rsn || early->comm != delivery->comm ||
            early->sender != delivery->sender || early->ssn != delivery->ssn)
            continue;
        delivery->held[early->holder] = true;
        judging_saw(state->judging, CLAIM_M_CELL_CARRIED, 1);
        own->early[i - 1] = own->early[--own->early_count];
    }
}

void m_forget_early(struct m_state *state, int holder)
{
    for (int receiver = 0; receiver < state->ranks; receiver++) {
        struct m_rank *own = &state->rank[receiver];
        for (size_t i = own->early_count; i > 0; i--)
            if (own->early[i - 1].holder == holder)
                own->early[i - 1] = own->early[--own->early_count];
    }
}

/* --- who holds ------------------------------------------------------------------------------ */

void m_hold(struct m_state *state, int rank, const struct record *note, struct event_ref event)
{
    int receiver = (int)note->request;
    struct m_delivery *delivery = find(state, note);
    judging_saw(state->judging, CLAIM_M_CELL_CARRIED, delivery != NULL);
    if (delivery != NULL) {
        delivery->held[rank] = true;
    } else if (receiver >= 0 && receiver < state->ranks) {
        struct m_rank *own = &state->rank[receiver];
        struct m_early early = early_of(rank, note);
        let_go_early(own, &early);
        own->early =
            memory_room(own->early, own->early_count, &own->early_room, sizeof *own->early);
        own->early[own->early_count++] = early;
    }
    if (state->rank[rank].to_hold > 0 && --state->rank[rank].to_hold == 0)
        m_look_recovered(state, rank, event);
}

static void let_go_one(struct m_state *state, int rank, const struct record *note,
                       struct event_ref event)
{
    int receiver = (int)note->request;
    struct m_delivery *delivery = find(state, note);
    struct m_early early = early_of(rank, note);
    if (receiver >= 0 && receiver < state->ranks)
        let_go_early(&state->rank[receiver], &early);
    if (delivery == NULL || receiver == rank)
        return;
    delivery->held[rank] = false;
    m_judge_orphan(state, receiver, (uint64_t)(delivery - state->rank[receiver].delivery) + 1,
                   event);
}

/* A receiver itself knows what it has delivered, whatever it lets go (definition 2). */
void m_let_go(struct m_state *state, int rank, const struct record *note, struct event_ref event)
{
    if (note->peer != M_ALL) {
        let_go_one(state, rank, note, event);
        return;
    }
    m_forget_early(state, rank);
    for (int other = 0; other < state->ranks; other++)
        for (size_t i = 0; i < state->rank[other].delivery_count && other != rank; i++)
            state->rank[other].delivery[i].held[rank] = false;
    m_judge_orphans(state, event);
}
