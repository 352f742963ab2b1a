/* What a step does: evidence, then the arming of the next, then kills. See rules.h. */
#include "injectors/replay/replay.h"
#include "injectors/rules/rules_parts.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define INSIDE_POLL_NS 1000000 /* between two looks at the clock while waiting for the kill */

static struct record *_Atomic inside; /* the call in which this rank is to be killed */
static uint32_t inside_step;

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
/* 0: no process that could be killed. */
static int32_t pid_of(int32_t rank)
{
    if (rank < 0 || rank >= rules.board->ranks || atomic_load(&rules.board->slot[rank].ended) != 0)
        return 0;
    return atomic_load(&rules.board->slot[rank].pid);
}

static bool is_rank(int32_t rank)
{
    return rank >= 0 && rank < rules.board->ranks;
}

static void lose(uint32_t step, int32_t rank)
{
    if (!is_rank(rank))
        return;
    rules_fault(FAULT_LOST, step, rank, rules.plan->steps[step].lose, 0, 0);
    atomic_store(&rules.board->slot[rank].lose, step + 1);
}

/* What the deaths of the step take along. */
static void record_losses(uint32_t step)
{
    const struct plan_step *s = &rules.plan->steps[step];
    if (s->lose == LOSE_NODE) {
        for (int32_t rank = 0; rank < rules.board->ranks; rank++)
            lose(step, rank);
    } else if (s->lose == LOSE_RANK && s->action == ACTION_TEAR) {
        lose(step, rules.rank);
    } else if (s->lose == LOSE_RANK) {
        for (uint32_t i = 0; i < s->victims; i++)
            lose(step, s->victim[i]);
    }
}

static void record_victims(uint32_t step, enum fault_kind fault)
{
    const struct plan_step *s = &rules.plan->steps[step];
    for (uint32_t i = 0; i < s->victims; i++)
        rules_fault(fault, step, s->victim[i], (uint64_t)pid_of(s->victim[i]), 0, 0);
}

/* --- stops ------------------------------------------------------------------------------------ */
/* Nobody would ever let a rank go on that has no parent of ours; all have one or none has. */
static bool can_go_on(int32_t rank)
{
    return is_rank(rank) && atomic_load(&rules.board->slot[rules.rank].parent_pid) != 0 &&
           atomic_load(&rules.board->slot[rank].ended) == 0;
}

/* The slot says so before the pid is looked at, as the parent makes the pid known before it looks
 * at the slot: one of the two sees the other, and sends the signal. */
static void stop(uint32_t step, int32_t victim)
{
    board_request_stop(rules.board, victim, step);
    int32_t pid = pid_of(victim);
    if (pid > 0)
        kill(pid, SIGSTOP);
}

/* Those that cannot be stopped are told as such: the step did not do what it says. */
static void record_stops(uint32_t step)
{
    const struct plan_step *s = &rules.plan->steps[step];
    for (uint32_t i = 0; i < s->victims; i++)
        rules_fault(FAULT_STOPPED, step, s->victim[i], (uint64_t)pid_of(s->victim[i]),
                    can_go_on(s->victim[i]) ? 0 : 255, 0);
}

static void stop_others(uint32_t step)
{
    const struct plan_step *s = &rules.plan->steps[step];
    for (uint32_t i = 0; i < s->victims; i++)
        if (can_go_on(s->victim[i]) && s->victim[i] != rules.rank)
            stop(step, s->victim[i]);
}

bool rules_is_victim(const struct plan_step *step, int32_t rank)
{
    for (uint32_t i = 0; i < step->victims; i++)
        if (step->victim[i] == rank)
            return true;
    return false;
}

void rules_note_continued(void)
{
    for (uint32_t step = 0; step < rules.plan->count; step++) {
        const struct plan_step *s = &rules.plan->steps[step];
        const struct board_step *progress = &rules.board->progress[step];
        if (s->action != ACTION_STOP || rules.rule[step].continued ||
            atomic_load(&progress->released) == 0 || !board_step_done(rules.board, step) ||
            !can_go_on(rules.rank) || atomic_exchange(&rules.rule[step].continued, true))
            continue;
        if (atomic_load(&progress->incarnation) == rules.incarnation)
            rules_fault(FAULT_CONTINUED, step, rules.rank, 0, 0,
                        atomic_load(&progress->released_by));
    }
}

static void stop_self(uint32_t step)
{
    stop(step, rules.rank);
    rules_note_continued();
}

/* --- kills ------------------------------------------------------------------------------------ */
/* It does nothing more from here on; its parent keeps where it stands, and kills it. A victim whose
 * process does not exist yet is left to its parent too, which looks for a request as soon as it has
 * made the process. The pid is on the board before that, so none is missed. */
static void kill_other(int32_t victim, uint32_t step)
{
    int32_t pid = pid_of(victim);
    bool has_parent = is_rank(victim) && atomic_load(&rules.board->slot[victim].parent_pid) != 0;
    if (pid > 0)
        kill(pid, has_parent ? SIGSTOP : SIGKILL);
    if ((pid <= 0 || has_parent) && is_rank(victim) &&
        atomic_load(&rules.board->slot[victim].ended) == 0)
        board_request_kill(rules.board, victim, step);
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
        } else if (victim == rules.rank) {
            self = true;
        } else {
            kill_other(victim, step);
        }
    }
    return self;
}

bool rules_is_doomed(void)
{
    return atomic_load(&inside) != NULL;
}

void rules_returned(struct record *r)
{
    if (replay_imposing) {
        replay_returned(r);
        return;
    }
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

/* --- steps ------------------------------------------------------------------------------------ */
/* Before the step counts as done. */
static void record_step(uint32_t step, const struct record *r)
{
    const struct plan_step *s = &rules.plan->steps[step];
    switch (s->action) {
    case ACTION_KILL:
        record_victims(step, s->when.position == POSITION_INSIDE && r != NULL ? FAULT_KILL_INSIDE
                                                                              : FAULT_KILL);
        break;
    case ACTION_STOP:
        record_stops(step);
        stop_others(step);
        break;
    case ACTION_RELEASE:
        rules_fault(FAULT_AWAITED, step, PEER_NONE, 0, 0, 0);
        progress_let_go(rules.board, (unsigned)s->target, RELEASED_BY_STEP);
        break;
    case ACTION_AWAIT:
    case ACTION_JITTER:
        rules_fault(FAULT_AWAITED, step, PEER_NONE, 0, 0, 0);
        break;
    case ACTION_QUIET:
        rules_fault(FAULT_AWAITED, step, PEER_NONE, 0, 0, 0);
        progress_quiet(rules.board, RELEASED_BY_STEP);
        break;
    default:
        break;
    }
    record_losses(step);
}

/* Steps that wait for nothing and come after step `done`. */
static void add_followers(struct performance *performance, uint32_t done)
{
    for (uint32_t step = 0; step < rules.plan->count; step++)
        if (plan_after(rules.plan, step) == (int32_t)done && !board_step_done(rules.board, step) &&
            plan_condition_is_empty(&rules.plan->steps[step].when) &&
            progress_claim(rules.board, step))
            performance->step[performance->count++] = step;
}

void rules_perform(struct performance *performance)
{
    for (unsigned i = 0; i < performance->count; i++) {
        record_step(performance->step[i], i < performance->found ? performance->record : NULL);
        add_followers(performance, performance->step[i]);
    }
    for (unsigned i = 0; i < performance->count; i++)
        progress_finish(rules.board, performance->step[i], rules.rank, rules.incarnation);
    bool self = false;
    for (unsigned i = 0; i < performance->count; i++) {
        uint32_t step = performance->step[i];
        if (rules.plan->steps[step].action == ACTION_KILL)
            self |= kill_victims(step, i < performance->found ? performance->record : NULL);
    }
    if (self)
        rules_die();
    for (unsigned i = 0; i < performance->count; i++) {
        const struct plan_step *s = &rules.plan->steps[performance->step[i]];
        if (s->action == ACTION_STOP && rules_is_victim(s, rules.rank) && can_go_on(rules.rank))
            stop_self(performance->step[i]);
    }
}

void rules_impose(uint32_t step, bool from_outside)
{
    record_step(step, from_outside ? runtime_trace.record : NULL);
    progress_finish(rules.board, step, rules.rank, rules.incarnation);
}

bool rules_impose_kill(uint32_t step)
{
    return kill_victims(step, NULL);
}

void rules_finish(uint32_t step)
{
    if (replay_imposing) {
        rules_impose(step, false);
        return;
    }
    struct performance performance = {.count = 1, .step = {step}, .record = NULL, .found = 1};
    rules_perform(&performance);
}
