/* Deaths, those who take over, and checkpoints: M.local, and what of M.replay and M.orphan a death
 * shows. A rank is down from its death until its newcomer has done again all that others depend on,
 * kept again all that they may need, and holds the determinants of theirs that it had got by its
 * restart. Where more are down than the protocol promises to survive, nothing is judged any more.
 */
#include "oracles/logging/m_family.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- what is needed again --------------------------------------------------------------------- */

/* The rank has taken it in the life it has now. */
static bool has_taken(const struct m_state *state, const struct m_message *message, int rank)
{
    return !state->rank[rank].dead && message->taken[rank] != 0 &&
           message->taken[rank] == state->rank[rank].beginnings;
}

/* If the rank died now it would need the payload again: it has delivered it, or will. What was
 * taken of a contribution goes further, and is delivered at the root. */
static bool will_need(const struct m_state *state, const struct m_message *message, int rank)
{
    bool delivers = message->comm == 0 || message->receiver == M_ALL;
    return (message->delivered[rank] != 0 || (delivers && has_taken(state, message, rank))) &&
           m_is_needed(state, message, rank);
}

/* Who goes back together with the sender gets it anew. */
static bool somebody_will_need(const struct m_state *state, const struct m_message *message)
{
    for (int rank = 0; rank < state->ranks; rank++)
        if (!m_together(state, message->sender, rank) && will_need(state, message, rank))
            return true;
    return false;
}

/* --- checkpoints ---------------------------------------------------------------------------- */

/* The newest checkpoint of the line; NULL: none, it is the beginning. */
static struct m_line *find_line(const struct m_rank *own, uint64_t line)
{
    for (size_t i = own->line_count; i > 0; i--)
        if (own->line[i - 1].line == line)
            return &own->line[i - 1];
    return NULL;
}

/* The rank has done again all that the process before had done, and what others may need has not
 * come back into its log. */
static void judge_kept_again(struct m_state *state, int rank, struct event_ref event)
{
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    struct m_rank *own = &state->rank[rank];
    if (!own->recovering || !own->restored)
        return;
    for (struct m_message *message = own->message; message != NULL && own->pending > 0;
         message = message->next) {
        if (!message->lost)
            continue;
        message->lost = false;
        own->pending--;
        if (!somebody_will_need(state, message))
            continue;
        message->told = true;
        struct finding *finding = judging_find(state->judging, CLAIM_M_REPLAY, VERDICT_VIOLATION);
        finding_say(
            finding,
            "the process before it had the payload of %s in its log; rank %d has done its "
            "work again, and has not: %s",
            m_message_text(message->comm, message->sender, message->receiver, message->ssn, text),
            rank, event_text(event, where));
        finding_say(finding, "if its receiver dies, nobody can give it the message");
        finding_show(finding, message->sent);
        finding_show(finding, event);
    }
    m_look_recovered(state, rank, event);
}

void m_checkpoint(struct m_state *state, int rank, uint64_t line, struct event_ref event)
{
    struct m_rank *own = &state->rank[rank];
    if (find_line(own, line) == NULL) /* the process before had not come so far */
        judge_kept_again(state, rank, event);
    uint64_t *clock = memory_new((size_t)state->ranks, sizeof *clock);
    memcpy(clock, own->clock, (size_t)state->ranks * sizeof *clock);
    own->line = memory_room(own->line, own->line_count, &own->line_room, sizeof *own->line);
    own->newest_line = line;
    own->line[own->line_count++] =
        (struct m_line){.line = line, .count = own->count, .clock = clock};
    if (!state->saves && !state->commits)
        m_saved(state, rank, line);
}

void m_stabilize(struct m_state *state, int rank, uint64_t line)
{
    struct m_rank *own = &state->rank[rank];
    const struct m_line *taken = find_line(own, line);
    if (taken == NULL)
        return;
    size_t lines = (size_t)(taken - own->line) + 1;
    if (taken->count > own->stable)
        own->stable = taken->count;
    if (lines > own->stable_lines)
        own->stable_lines = lines;
}

/* Where lines are committed, one that all have saved is as good: whoever dies goes back to it.
 * Where they are not, those who go back together have to have saved it. */
void m_saved(struct m_state *state, int rank, uint64_t line)
{
    struct m_line *own = find_line(&state->rank[rank], line);
    bool all = own != NULL;
    if (own != NULL)
        own->saved = true;
    for (int other = 0; other < state->ranks && all; other++) {
        const struct m_line *taken = find_line(&state->rank[other], line);
        bool asked = state->commits || m_together(state, rank, other);
        all = !asked || !state->lives->application[other] || (taken != NULL && taken->saved);
    }
    for (int other = 0; other < state->ranks && all; other++)
        if (state->commits || m_together(state, rank, other))
            m_stabilize(state, other, line);
}

/* When all programs have come to their end, nobody needs anything again. */
void m_finalize(struct m_state *state, int rank, bool returns, struct event_ref event)
{
    bool all = true;
    state->rank[rank].finalizes = true;
    state->rank[rank].finalized = returns;
    for (int other = 0; other < state->ranks; other++)
        all &= !state->lives->application[other] || state->rank[other].finalizes;
    for (int other = 0; other < state->ranks && all; other++)
        state->rank[other].stable = state->rank[other].delivery_count;
    if (!all)
        judge_kept_again(state, rank, event);
}

/* --- deaths --------------------------------------------------------------------------------- */

static void lose_messages(struct m_state *state, int rank)
{
    struct m_rank *own = &state->rank[rank];
    own->pending = 0;
    for (struct m_message *message = own->message; message != NULL; message = message->next) {
        message->gone |= message->kept;
        message->lost = (message->kept || message->lost) && somebody_will_need(state, message);
        m_set_kept(state, message, false);
        own->pending += message->lost;
    }
}

/* What others have taken since the process before died. */
static void lose_more_messages(struct m_state *state, int rank)
{
    struct m_rank *own = &state->rank[rank];
    for (struct m_message *message = own->message; message != NULL; message = message->next) {
        bool lost = !message->kept && !message->told && somebody_will_need(state, message);
        own->pending += lost && !message->lost;
        message->lost |= lost;
    }
}

/* Those of its own deliveries go where these are undone. */
static void lose_determinants(struct m_state *state, int rank)
{
    for (int other = 0; other < state->ranks; other++)
        for (size_t i = 0; other != rank && i < state->rank[other].delivery_count; i++)
            state->rank[other].delivery[i].held[rank] = false;
    m_forget_early(state, rank);
}

/* Somebody who lives, and does not go back with `with`, has taken it, and will reflect it. */
static bool is_taken(const struct m_state *state, const struct m_message *message, int with)
{
    for (int rank = 0; rank < state->ranks; rank++)
        if (!m_together(state, rank, with) && has_taken(state, message, rank))
            return true;
    return false;
}

/* Deliveries of the rank that others, which do not go back with it, reflect, or will when they
 * deliver what they have taken: of the rank itself, of others of its team, or contributions in
 * which its own have gone up. */
static uint64_t reflected(const struct m_state *state, int rank)
{
    uint64_t most = 0;
    for (int other = 0; other < state->ranks; other++) {
        const struct m_rank *own = &state->rank[other];
        if (!m_together(state, other, rank) && own->clock[rank] > most)
            most = own->clock[rank];
        for (const struct m_message *message = own->message; message != NULL;
             message = message->next)
            if ((m_together(state, other, rank) || message->comm != 0) &&
                message->clock[rank] > most && is_taken(state, message, rank))
                most = message->clock[rank];
    }
    return most;
}

static bool is_down(const struct m_state *state, int rank)
{
    return state->rank[rank].dead || state->rank[rank].recovering;
}

static bool has_failed(const struct m_state *state, int rank)
{
    return is_down(state, rank) && !state->rank[rank].left;
}

/* How many failures the ranks that are down amount to: one for each team. */
static uint64_t failures(const struct m_state *state)
{
    uint64_t count = 0;
    for (int i = 0; i < state->ranks; i++) {
        bool first = has_failed(state, i);
        for (int before = 0; before < i; before++)
            first &= !(has_failed(state, before) && m_together(state, i, before));
        count += first;
    }
    return count;
}

static void report_unsupported(struct m_state *state, int rank)
{
    uint64_t ticks = state->rank[rank].life->gone;
    state->stopped = true;
    judging_unsupported(state->judging, &(struct unsupported){.kind = UNSUPPORTED_AT_A_TIME,
                                                              .ticks = ticks,
                                                              .rank = rank,
                                                              .promised = state->promised});
}

/* The message was kept before the line that its sender goes on from, so it is not sent again. (A
 * contribution is given back by who has taken it.) */
static bool is_lost_for_good(const struct m_rank *sender, const struct m_message *message)
{
    return (message->comm == 0 || message->receiver == M_ALL) &&
           message->kept_line < sender->restored_line;
}

/* What the dead must be given again. */
static void judge_needed(struct m_state *state, int rank)
{
    char text[MESSAGE_TEXT_BYTES], where[EVENT_TEXT_BYTES];
    const struct m_rank *own = &state->rank[rank];
    for (uint64_t i = own->stable; i < own->count; i++) {
        struct m_message *message = own->delivery[i].message;
        if (message == NULL || message->kept || message->told || m_is_saved(state, message, rank) ||
            m_together(state, rank, message->sender) || state->rank[message->sender].dead ||
            state->rank[message->sender].recovering)
            continue;
        struct finding *finding = judging_find(state->judging, CLAIM_M_REPLAY, VERDICT_VIOLATION);
        finding_say(finding, "rank %d died, and had delivered %s since its checkpoint: %s", rank,
                    m_message_text(message->comm, message->sender, rank, message->ssn, text),
                    event_text(own->delivery[i].event, where));
        const struct m_rank *sender = &state->rank[message->sender];
        finding_say(finding, "rank %d lives, and does not have its payload in its log",
                    message->sender);
        finding_show(finding, own->delivery[i].event);
        finding_show(finding, message->sent);
        if (is_lost_for_good(sender, message)) {
            finding_say(finding,
                        "it goes on from a line after that, so it does not send it again: %s",
                        event_text(sender->restored_at, where));
            finding_show(finding, sender->restored_at);
        }
        message->told = true;
    }
}

/* Another rank of its team is down, or has died since this one began or last went back. */
static bool rolls_back_with_another(const struct m_state *state, int rank)
{
    if (state->rank[rank].mate_died)
        return true;
    for (int other = 0; other < state->ranks; other++)
        if (other != rank && m_together(state, rank, other) && is_down(state, other))
            return true;
    return false;
}

/* The process gave the rank up, for another one that goes on from a line. */
static void judge_left(struct m_state *state, const struct life *life)
{
    char where[EVENT_TEXT_BYTES];
    struct event_ref event = event_of(life->trace, life->to);
    if (rolls_back_with_another(state, life->rank))
        return;
    state->rank[life->rank].left = true;
    struct finding *finding = judging_find(state->judging, CLAIM_M_LOCAL, VERDICT_VIOLATION);
    finding_say(finding, "rank %d left, for another process to take its place: %s", life->rank,
                event_text(event, where));
    finding_say(finding, "nobody who goes back together with it had died");
    finding_show(finding, event);
}

void m_die(struct m_state *state, const struct life *life)
{
    struct m_rank *own = &state->rank[life->rank];
    if (life->left)
        judge_left(state, life);
    own->dead = true;
    own->recovering = false;
    own->open_count = 0;
    for (int other = 0; other < state->ranks; other++)
        m_look_recovered(state, other, event_of(life->trace, life->to));
    if (failures(state) > state->promised) {
        report_unsupported(state, life->rank);
        return;
    }
    for (int other = 0; other < state->ranks; other++)
        state->rank[other].mate_died |= other != life->rank && m_together(state, life->rank, other);
    judging_saw(state->judging, CLAIM_M_LOCAL, 1);
    judge_needed(state, life->rank);
    own->needed = reflected(state, life->rank);
    lose_messages(state, life->rank);
    lose_determinants(state, life->rank);
}

/* --- newcomers ------------------------------------------------------------------------------ */

static void go_back(struct m_state *state, int rank, const struct m_line *line)
{
    struct m_rank *own = &state->rank[rank];
    size_t bytes = (size_t)state->ranks * sizeof *own->clock;
    memset(own->clock, 0, bytes);
    if (line != NULL)
        memcpy(own->clock, line->clock, bytes);
    own->count = own->clock[rank] = line != NULL ? line->count : 0;
    for (uint64_t i = own->delivery_count; i > 0; i--) {
        struct m_delivery *delivery = &own->delivery[i - 1];
        delivery->held[rank] &= i <= own->count;
        if (delivery->message != NULL)
            delivery->message->delivered[rank] = i <= own->count ? i : 0;
    }
    own->open_count = 0;
}

void m_begin_life(struct m_state *state, const struct life *life)
{
    struct m_rank *own = &state->rank[life->rank];
    bool again = own->beginnings > 0;
    own->life = life;
    own->beginnings++;
    own->mate_died = false;
    own->restored = own->finalizes = own->finalized = false;
    own->newest_line = own->restored_line = 0;
    if (!again)
        return;
    go_back(state, life->rank, NULL);
    memset(own->incarnation, 0, (size_t)state->ranks * sizeof *own->incarnation);
    own->recovering = own->dead;
    own->dead = false;
}

/* It has not kept again all that others may still need; a checkpoint since then may have done. What
 * it will never keep again is not waited for. */
static bool lacks_messages(const struct m_state *state, int rank)
{
    if (state->rank[rank].pending == 0)
        return false;
    for (const struct m_message *message = state->rank[rank].message; message != NULL;
         message = message->next)
        if (message->lost && !is_lost_for_good(&state->rank[rank], message) &&
            somebody_will_need(state, message))
            return true;
    return false;
}

void m_look_recovered(struct m_state *state, int rank, struct event_ref at)
{
    struct m_rank *own = &state->rank[rank];
    if (!own->recovering || !own->restored || own->count < own->needed || own->to_hold > 0 ||
        lacks_messages(state, rank))
        return;
    own->recovering = own->left = false;
    m_judge_orphans(state, at);
}

/* The program goes on, or something comes from another process. */
static bool ends_restart(const struct record *record)
{
    unsigned kind = record->kind;
    return record_is_of_app(record) || kind == RECORD_RECV || kind == RECORD_PROBE ||
           kind == RECORD_COMPLETE;
}

/* How many determinants of others the rank notes after its restart, `event`, before anything else
 * comes: it had got them by then. */
static uint64_t held_at_once(const struct trace *trace, int rank, struct event_ref event)
{
    uint64_t count = 0;
    for (uint64_t at = event.index + 1; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        bool held = record->kind == RECORD_NOTE && record->tag == NOTE_HELD;
        if (ends_restart(record) || (held && (int)record->request == rank))
            break;
        count += held;
    }
    return count;
}

/* The whole job was started again, and the rank gets what it had in an incarnation before. */
static bool is_restart(const struct m_state *state, const struct m_rank *own)
{
    return state->incarnation > 0 && own->beginnings == 1 && !own->restored;
}

/* What the process before had taken is there again where it stands in the checkpoint. */
static void take_again(struct m_state *state, int rank, const struct m_line *line)
{
    const struct m_rank *own = &state->rank[rank];
    size_t lines = line != NULL ? (size_t)(line - own->line) + 1 : 0;
    for (int sender = 0; sender < state->ranks; sender++)
        for (struct m_message *message = state->rank[sender].message; message != NULL;
             message = message->next)
            if (message->taken[rank] < own->beginnings)
                message->taken[rank] =
                    message->taken[rank] != 0 && message->taken_lines[rank] < lines
                        ? own->beginnings
                        : 0;
}

/* What it had done and saved after that it will do and save again. */
static void undo_saved(struct m_rank *own, const struct m_line *restored)
{
    uint64_t count = restored != NULL ? restored->count : 0;
    size_t lines = restored != NULL ? (size_t)(restored - own->line) + 1 : 0;
    own->stable = own->stable < count ? own->stable : count;
    own->stable_lines = own->stable_lines < lines ? own->stable_lines : lines;
    for (size_t i = lines; i < own->line_count; i++)
        own->line[i].saved = false;
}

void m_restore(struct m_state *state, int rank, uint64_t line, struct event_ref event)
{
    char where[EVENT_TEXT_BYTES];
    struct m_rank *own = &state->rank[rank];
    bool newcomer = own->recovering && !own->restored;
    bool with_team = rolls_back_with_another(state, rank);
    bool restart = is_restart(state, own);
    struct m_line *restored = line > 0 ? find_line(own, line) : NULL;
    if (!newcomer && !with_team && !restart) {
        struct finding *finding = judging_find(state->judging, CLAIM_M_LOCAL, VERDICT_VIOLATION);
        finding_say(finding, "rank %d went back to line %" PRIu64 ", and it had not died: %s", rank,
                    line, event_text(event, where));
        finding_show(finding, event);
    }
    own->mate_died = false;
    undo_saved(own, restored);
    if (newcomer) { /* in between others may have taken what the process before had sent */
        uint64_t needed = reflected(state, rank);
        own->needed = needed > own->needed ? needed : own->needed;
        lose_more_messages(state, rank);
        m_judge_undone(state, rank, restored != NULL ? restored->count : 0, event);
    }
    own->restored = true;
    own->to_hold = held_at_once(state->trace, rank, event);
    own->goes_on = restart && line > 0;
    own->beginnings += !newcomer;
    if (with_team && !newcomer)
        lose_determinants(state, rank);
    if (with_team && !own->recovering) {
        own->needed = reflected(state, rank);
        own->recovering = true;
        lose_messages(state, rank);
    }
    own->newest_line = line;
    own->restored_line = newcomer ? line : 0;
    own->restored_at = event;
    go_back(state, rank, restored);
    take_again(state, rank, restored);
    /* It had saved it, and may have died before it could tell. */
    m_saved(state, rank, line);
    m_look_recovered(state, rank, event);
}
