/* SIGKILL to every victim. */
#include "injectors/record/schedule.h"
#include "injectors/rules/rules_parts.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#define INSIDE_POLL_NS 1000000 /* between two looks at the clock while waiting for the kill */

static struct record *_Atomic inside; /* the call in which this rank is to be killed */
static uint32_t inside_step;

static void record_victims(uint32_t step, const struct record *r)
{
    const struct plan_step *s = &rules.plan->steps[step];
    bool from_outside = s->when.position == POSITION_INSIDE && r != NULL;
    for (uint32_t i = 0; i < s->victims; i++)
        rules_fault(from_outside ? FAULT_KILL_INSIDE : FAULT_KILL, step, s->victim[i],
                    rules_noted_pid(s->victim[i]), 0, 0);
}

/* Stops the victim, so that it does nothing more until its parent has kept where it stands and
 * kills it; without a parent it is killed at once. false: nothing was done, since the victim is
 * doing something together with others, and has to finish that. */
static bool kill_if_alone(int32_t victim, int32_t pid, bool has_parent)
{
    if (has_parent && !board_takes_kill(&rules.board->slot[victim]))
        return false;
    if (pid > 0 && schedule == NULL)
        kill(pid, has_parent ? SIGSTOP : SIGKILL);
    return true;
}

/* A victim whose process does not exist yet is left to its parent, which looks for a request as
 * soon as it has made the process. The pid is on the board before that, so no request is missed. */
static void kill_other(int32_t victim, uint32_t step)
{
    int32_t pid = rules_pid(victim);
    bool has_parent =
        rules_is_rank(victim) && atomic_load(&rules.board->slot[victim].parent_pid) != 0;
    bool done = kill_if_alone(victim, pid, has_parent);
    if ((pid <= 0 || has_parent) && rules_is_rank(victim) &&
        atomic_load(&rules.board->slot[victim].ended) == 0)
        board_request_kill(rules.board, victim, step);
    if (!done) /* it may have finished before it could see the request */
        kill_if_alone(victim, pid, has_parent);
    if (schedule != NULL)
        schedule->kill(victim);
}

/* Returns whether this rank itself is to die now. `r`: the call being entered, for kills inside. */
static bool kill_victims(uint32_t step, struct record *r)
{
    const struct plan_step *s = &rules.plan->steps[step];
    bool from_outside = s->when.position == POSITION_INSIDE && r != NULL;
    bool self = false;
    for (uint32_t i = 0; i < s->victims; i++) {
        int32_t victim = s->victim[i];
        if (from_outside) {
            if (victim == rules.rank) {
                inside_step = step;
                atomic_store(&inside, r);
            }
            board_request_kill(rules.board, victim, step);
            if (schedule != NULL)
                schedule->kill(victim);
        } else if (victim == rules.rank) {
            self = true;
        } else {
            kill_other(victim, step);
        }
    }
    return self;
}

bool rules_impose_kill(uint32_t step)
{
    return kill_victims(step, NULL);
}

bool rules_is_doomed(void)
{
    return atomic_load(&inside) != NULL;
}

void rules_returned(struct record *r)
{
    if (atomic_load_explicit(&inside, memory_order_relaxed) != r)
        return;
    uint64_t end = clock_monotonic_ns() + RULES_INSIDE_WAIT_MS * UINT64_C(1000000);
    while (clock_monotonic_ns() < end)
        nanosleep(&(struct timespec){0, INSIDE_POLL_NS}, NULL);
    atomic_store(&inside, NULL);
    rules_fault(FAULT_KILL_INSIDE, inside_step, rules.rank, 0, 255, 0);
    fprintf(stderr,
            "faultline: rank %d was to be killed inside %s (step %u of the plan), but no "
            "kill came within %d ms after the call returned\n",
            rules.rank, call_name(r->call), inside_step + 1, RULES_INSIDE_WAIT_MS);
}

const struct injection inject_kill = {.begin = record_victims, .strike = kill_victims};
