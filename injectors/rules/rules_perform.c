/* What a step does. See rules.h. Several steps can be due at one event, and a step without a
 * condition of its own is due at once when the step before it is done, so that the list of steps
 * grows while it is gone through (add_followers):
 *
 *     step 0: when rank 1 sends, kill rank 2     step 1: after step 0, kill rank 1
 *
 * Both are performed at the send, by rank 1. For all steps of the list together:
 *   1. evidence is written to the trace, and injections that change the call begin;
 *   2. the steps count as done on the board, so that the steps that wait for them may happen;
 *   3. ranks are killed; the own rank last;
 *   4. what has to be done after that, if this rank still lives.
 *
 * Evidence and board come before the kills, because a rank that kills itself cannot write them
 * afterwards. A death without evidence would look like one that the protocol brought about. */
#include "injectors/record/schedule.h"
#include "injectors/rules/rules_parts.h"

uint64_t rules_number(const struct record *r)
{
    if (r < runtime_trace.record || r >= runtime_trace.record + atomic_load(&runtime_trace.limit))
        return 0;
    return (uint64_t)(r - runtime_trace.record) + 1;
}

/* Not through record_instant: a fault is no event of the plan. */
struct record *rules_fault(enum fault_kind fault, uint32_t step, int peer, uint64_t value,
                           int error, uint32_t request)
{
    struct record *r = record_reserve(LEVEL_SELF, RECORD_FAULT, CALL_NONE);
    r->comm = (uint32_t)fault;
    r->tag = (int32_t)step;
    r->peer = peer;
    r->bytes = value;
    r->request = request;
    record_instant(r, error);
    return r;
}

/* --- victims ---------------------------------------------------------------------------------- */
int32_t rules_pid(int32_t rank)
{
    if (rank < 0 || rank >= rules.board->slots || atomic_load(&rules.board->slot[rank].ended) != 0)
        return 0;
    return atomic_load(&rules.board->slot[rank].pid);
}

uint64_t rules_noted_pid(int32_t rank)
{
    if (schedule != NULL)
        return schedule->is_there(rank) ? (uint64_t)rank + 1 : 0;
    return (uint64_t)rules_pid(rank);
}

bool rules_is_rank(int32_t rank)
{
    return rank >= 0 && rank < rules.board->slots;
}

static void lose(uint32_t step, int32_t rank)
{
    unsigned what = rules.plan->steps[step].lose;
    if (!rules_is_rank(rank))
        return;
    rules_fault(FAULT_LOST, step, rank, what != LOSE_NOTHING ? what : LOSE_FILES, 0, 0);
    atomic_store(&rules.board->slot[rank].lose, step + 1);
}

/* What the deaths of the step take along. */
static void record_losses(uint32_t step)
{
    const struct plan_step *s = &rules.plan->steps[step];
    if (s->lose == LOSE_NODE) {
        for (int32_t rank = 0; rank < board_processes(rules.board); rank++)
            lose(step, rank);
    } else if (s->lose != LOSE_NOTHING && action_of(s)->kills == KILLS_ITSELF) {
        lose(step, rules.rank);
    } else if (s->lose != LOSE_NOTHING || s->lose_files[0] != '\0') {
        for (uint32_t i = 0; i < s->victims; i++)
            lose(step, s->victim[i]);
    }
}

bool rules_is_victim(const struct plan_step *step, int32_t rank)
{
    for (uint32_t i = 0; i < step->victims; i++)
        if (step->victim[i] == rank)
            return true;
    return false;
}

/* --- steps ------------------------------------------------------------------------------------ */
/* Before the step counts as done. */
static void record_step(uint32_t step, const struct record *r)
{
    const struct plan_step *s = &rules.plan->steps[step];
    if (action_of(s)->evidence == FAULT_AWAITED)
        rules_fault(FAULT_AWAITED, step, PEER_NONE, 0, 0, 0);
    if (injection_of(s)->begin != NULL)
        injection_of(s)->begin(step, r);
    record_losses(step);
}

/* Steps that wait for nothing and come after step `done`. */
static void add_followers(struct due_steps *due, uint32_t done)
{
    for (uint32_t step = 0; step < rules.plan->count; step++)
        if (plan_after(rules.plan, step) == (int32_t)done && !board_step_done(rules.board, step) &&
            plan_condition_is_empty(&rules.plan->steps[step].when) &&
            progress_claim(rules.board, step))
            due->step[due->count++] = step;
}

void rules_perform(struct due_steps *due)
{
    for (unsigned i = 0; i < due->count; i++) {
        record_step(due->step[i], i < due->found ? due->record : NULL);
        add_followers(due, due->step[i]);
    }
    for (unsigned i = 0; i < due->count; i++)
        progress_finish(rules.board, due->step[i], rules.rank, rules.incarnation);
    bool self = false;
    for (unsigned i = 0; i < due->count; i++) {
        uint32_t step = due->step[i];
        const struct injection *injection = injection_of(&rules.plan->steps[step]);
        if (injection->strike != NULL)
            self |= injection->strike(step, i < due->found ? due->record : NULL);
    }
    if (self)
        rules_die();
    for (unsigned i = 0; i < due->count; i++) {
        const struct injection *injection = injection_of(&rules.plan->steps[due->step[i]]);
        if (injection->finish != NULL)
            injection->finish(due->step[i]);
    }
}

void rules_impose(uint32_t step, bool from_outside)
{
    record_step(step, from_outside ? runtime_trace.record : NULL);
    progress_finish(rules.board, step, rules.rank, rules.incarnation);
}
