/* SIGSTOP to every victim. */
#include "injectors/record/schedule.h"
#include "injectors/rules/rules_parts.h"

#include <signal.h>

/* Nobody would ever let a rank go on that has no parent of ours; all have one or none has. One that
 * is to be killed does not go on either, however long its end takes. */
static bool can_go_on(int32_t rank)
{
    const struct board_slot *slot = rules.board->slot;
    return rules_is_rank(rank) && atomic_load(&slot[rules.rank].parent_pid) != 0 &&
           atomic_load(&slot[rank].ended) == 0 && atomic_load(&slot[rank].kill_request) == 0;
}

/* The slot says so before the pid is looked at, as the parent makes the pid known before it looks
 * at the slot: one of the two sees the other, and sends the signal. */
static void stop(uint32_t step, int32_t victim)
{
    board_request_stop(rules.board, victim, step);
    int32_t pid = rules_pid(victim);
    if (pid > 0 && schedule == NULL)
        kill(pid, SIGSTOP);
}

/* A victim that cannot be stopped is recorded as such: the step did not do what it says. On the
 * step engine all have a parent, so a victim that cannot be stopped has ended. Its record names no
 * process. */
static void record_stops(uint32_t step)
{
    const struct plan_step *s = &rules.plan->steps[step];
    for (uint32_t i = 0; i < s->victims; i++) {
        bool can = can_go_on(s->victim[i]);
        uint64_t pid = can || schedule == NULL ? rules_noted_pid(s->victim[i]) : 0;
        rules_fault(FAULT_STOPPED, step, s->victim[i], pid, can ? 0 : 255, 0);
    }
}

static void stop_others(uint32_t step)
{
    const struct plan_step *s = &rules.plan->steps[step];
    for (uint32_t i = 0; i < s->victims; i++)
        if (can_go_on(s->victim[i]) && s->victim[i] != rules.rank)
            stop(step, s->victim[i]);
}

void rules_note_continued(void)
{
    for (uint32_t step = 0; step < rules.plan->count; step++) {
        const struct plan_step *s = &rules.plan->steps[step];
        const struct board_step *progress = &rules.board->progress[step];
        if (action_of(s)->keeps != KEEPS_RANKS || rules.rule[step].continued ||
            atomic_load(&progress->released) == 0 || !board_step_done(rules.board, step) ||
            !can_go_on(rules.rank) || atomic_exchange(&rules.rule[step].continued, true))
            continue;
        if (atomic_load(&progress->incarnation) == rules.incarnation)
            rules_fault(FAULT_CONTINUED, step, rules.rank, 0, 0,
                        atomic_load(&progress->released_by));
    }
}

static void begin(uint32_t step, const struct record *r)
{
    (void)r;
    record_stops(step);
    stop_others(step);
}

static void stop_self(uint32_t step)
{
    if (!rules_is_victim(&rules.plan->steps[step], rules.rank) || !can_go_on(rules.rank))
        return;
    stop(step, rules.rank);
    if (schedule != NULL)
        schedule->stop();
    rules_note_continued();
}

const struct injection inject_stop = {.begin = begin, .finish = stop_self};
