/* Where a rank that follows another run comes to its end, and what is done to the run at its
 * places: see replay.h. */
#include "injectors/replay/replay_parts.h"

#include <time.h>

#define IDLE_NS 20000

/* --- arriving --------------------------------------------------------------------------------- */
static bool have_all_arrived(void)
{
    for (int rank = 0; rank < replay.board->ranks; rank++) {
        const struct board_slot *slot = &replay.board->slot[rank];
        if (rank != replay.rank && atomic_load(&slot->arrived) == 0 &&
            atomic_load(&slot->ended) == 0 && atomic_load(&slot->state) != RANK_FINALIZED)
            return false;
    }
    return true;
}

void replay_arrive(void)
{
    replay.arrived = true;
    atomic_store(&runtime_slot->arrived, 1);
}

/* Kills of this rank's steps are carried out when everybody is where it is to be. */
static void replay_kill(void)
{
    if (!replay.kills || !replay.arrived || replay.dying || !have_all_arrived())
        return;
    bool itself = false;
    replay.dying = true;
    for (uint32_t step = 0; step < replay.plan->count; step++)
        if ((replay.kill[step / 64] >> step % 64 & 1) != 0)
            itself |= rules_impose_kill(step);
    if (itself)
        rules_die();
}

void replay_idle(void)
{
    if (steer_idle != NULL)
        steer_idle();
    nanosleep(&(struct timespec){0, IDLE_NS}, NULL);
}

_Noreturn void replay_park(void)
{
    replay_arrive();
    for (;;) {
        replay_kill();
        replay_idle();
    }
}

void replay_die_in_turn(void)
{
    uint64_t end = clock_monotonic_ns() + REPLAY_WAIT_MS * UINT64_C(1000000);
    if (replay.dying)
        return;
    replay_arrive();
    while (!have_all_arrived()) {
        if (clock_monotonic_ns() > end)
            replay_diverge("the other ranks do not come to where they were when this one ended");
        replay_idle();
    }
}

void replay_look_for_end(bool stays)
{
    if (replay.arrived || !replay_is_at_end())
        return;
    if (replay_ends_here() && stays)
        replay_park();
    if (replay_ends_here())
        replay_arrive();
    else if (replay.section->end == DECISION_BY_ITSELF && stays)
        replay_die_in_turn();
}

/* --- what is done to the run ------------------------------------------------------------------ */
static bool is_due(const struct decision_action *action)
{
    return action->begun <= replay.begun && action->completed <= replay.completed;
}

/* The reason for which the victims of a stop went on then. */
static enum board_release why_continued(uint32_t step)
{
    for (uint32_t i = 0; i < replay.decisions.header->actions; i++) {
        const struct decision_action *action = &replay.decisions.action[i];
        if (action->kind == FAULT_CONTINUED && action->step == step)
            return (enum board_release)action->number;
    }
    return RELEASED_BY_CONDITION;
}

/* A step that looks at what a rank does kills at that place, and the call is not made; one that
 * looks at states killed while the call was being made. */
static bool kills_at_once(const struct decision_action *action)
{
    const struct plan_step *step = &replay.plan->steps[action->step];
    return action->kind == FAULT_KILL && rules_is_victim(step, replay.rank) &&
           step->when.event != EVENT_NONE;
}

static void carry_out(const struct decision_action *action)
{
    uint32_t step = action->step;
    if (step >= replay.plan->count)
        replay_diverge("step %u is done, and the plan has %zu", step + 1, replay.plan->count);
    switch (action->kind) {
    case FAULT_KILL:
    case FAULT_KILL_INSIDE:
        rules_impose(step, action->kind == FAULT_KILL_INSIDE);
        replay.kill[step / 64] |= UINT64_C(1) << step % 64;
        replay.kills = true;
        if (kills_at_once(action))
            replay_park();
        break;
    case FAULT_STOPPED:
        rules_impose(step, false);
        progress_let_go(replay.board, step, why_continued(step));
        break;
    case FAULT_AWAITED:
        rules_impose(step, false);
        break;
    default: /* belongs to a call, which takes it */
        break;
    }
}

void replay_carry_out(void)
{
    while (replay.next_action < replay.actions && is_due(&replay.action[replay.next_action]))
        carry_out(&replay.action[replay.next_action++]);
    rules_note_continued();
}

static struct decision_action *find_action(enum fault_kind kind, uint32_t event)
{
    for (uint32_t i = 0; i < replay.actions; i++)
        if (replay.action[i].kind == kind && replay.action[i].event == event)
            return &replay.action[i];
    return NULL;
}

struct decision_action *replay_take(enum fault_kind kind, uint32_t event)
{
    struct decision_action *action = find_action(kind, event);
    if (action != NULL)
        action->event = DECISION_NO_EVENT;
    return action;
}

void replay_round(void)
{
    replay_carry_out();
    replay_kill();
}

/* --- holds ------------------------------------------------------------------------------------ */
void replay_held(uint32_t step, uint32_t number, const struct record *send)
{
    uint32_t event = replay_event(send);
    if (event >= replay.events && replay.cursor > 0)
        event = replay.cursor - 1; /* of MPI_Startall: recorded before it is passed on */
    if (replay.held_count == REPLAY_HELD_MOST)
        replay_diverge("more than %d messages are held", REPLAY_HELD_MOST);
    replay.held[replay.held_count++] = (struct held){step, number, event};
}

enum board_release replay_may_go(uint32_t step, uint32_t number)
{
    uint32_t event = DECISION_NO_EVENT;
    for (uint32_t i = 0; i < replay.held_count; i++)
        if (replay.held[i].step == step && replay.held[i].number == number)
            event = replay.held[i].event;
    const struct decision_action *action =
        event != DECISION_NO_EVENT ? find_action(FAULT_RELEASED, event) : NULL;
    if (action == NULL || !is_due(action))
        return RELEASED_NOT;
    progress_let_go(replay.board, step, (enum board_release)action->number);
    return (enum board_release)action->number;
}
