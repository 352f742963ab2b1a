/* What the taps and the store do for the plan: who holds what, what was chosen and answered, and
 * when a message may go. See rules.h. */
#include "injectors/record/schedule.h"
#include "injectors/rules/rules_parts.h"
#include "stacks/snapshot.h"

#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct plan_step *rules_step(uint32_t step)
{
    return &rules.plan->steps[step];
}

/* --- matches on their way to the call --------------------------------------------------------- */
bool rules_offer(uint32_t step, const struct record *r)
{
    bool upper = r->level == LEVEL_APP;
    uint32_t *place = upper ? &thread_state.pending : &thread_state.steered;
    if (*place != 0 || !progress_reserve(rules.board, step, action_times(rules_step(step))))
        return false;
    *place = step + 1;
    if (upper)
        thread_state.pending_call = r;
    return true;
}

static bool is_predefined(uint32_t comm)
{
    return comm == COMM_WORLD_ID || comm == COMM_SELF_ID;
}

bool rules_may_stand_for(uint32_t wire_comm, uint32_t app_comm)
{
    return is_predefined(app_comm) || is_predefined(wire_comm) ? wire_comm == app_comm : true;
}

static bool does_the_same(const struct plan_step *step, const struct record *r)
{
    const struct injection *injection = injection_of(step);
    return injection->is_the_same != NULL &&
           injection->is_the_same(step, thread_state.pending_call, r);
}

void rules_offer_meets(const struct record *r)
{
    uint32_t pending = thread_state.pending;
    if (pending == 0 || thread_state.steered != 0 || r->level != LEVEL_WIRE ||
        !does_the_same(rules_step(pending - 1), r))
        return;
    thread_state.steered = pending;
    thread_state.pending = 0;
}

void rules_reoffer(uint32_t step)
{
    thread_state.pending = step + 1;
}

/* A protocol may have got what the plan asks for and have given the program something else. */
static void judge_given(const struct record *r)
{
    struct record *evidence = thread_state.given;
    unsigned kind = atomic_load_explicit(&r->kind, memory_order_relaxed);
    if (evidence == NULL || kind == RECORD_SEND) /* the first half of an exchange */
        return;
    const struct plan_step *step = rules_step((uint32_t)evidence->tag);
    if (r->error == 0 && !injection_of(step)->was_given(step, evidence, r))
        evidence->error = 255;
    thread_state.given = NULL;
}

void rules_offer_ends(const struct record *r)
{
    uint32_t *place = r->level == LEVEL_APP ? &thread_state.pending : &thread_state.steered;
    if (r->level == LEVEL_SELF)
        return;
    if (r->level == LEVEL_APP)
        judge_given(r);
    if (*place != 0)
        progress_give_back(rules.board, *place - 1);
    *place = 0;
}

void rules_give_back(uint32_t step)
{
    progress_give_back(rules.board, step);
}

/* --- holds ------------------------------------------------------------------------------------ */
/* One more was taken; returns its number, from 1. */
static uint32_t take(uint32_t step)
{
    struct board_step *progress = &rules.board->progress[step];
    if (atomic_load(&progress->taken) == 0)
        atomic_store(&progress->unstick, atomic_load(&rules.board->unstick));
    return atomic_fetch_add(&progress->taken, 1) + 1;
}

uint32_t rules_held(uint32_t step, const struct record *send)
{
    uint32_t number = take(step);
    rules_fault(FAULT_HELD, step, send->peer, rules_number(send), 0, number);
    atomic_fetch_add(&runtime_slot->held, 1);
    if (watcher->held != NULL)
        watcher->held(step, number, send);
    if (number == rules_step(step)->count)
        watcher->finished(step);
    return number;
}

enum board_release rules_may_go(uint32_t step, uint32_t number)
{
    const struct plan_step *s = rules_step(step);
    enum board_release why = progress_released(rules.board, rules.plan, step);
    if (why == RELEASED_NOT || why == RELEASED_BY_UNSTICK || why == RELEASED_BY_END ||
        s->orders == 0 || rules_quiet())
        return why;
    struct board_step *progress = &rules.board->progress[step];
    uint32_t turn = atomic_load(&progress->turn);
    if (turn < s->orders && s->order[turn] == (int32_t)number)
        return why;
    /* The one before it may never be matched: its receiver asks for this one first. */
    return atomic_load(&rules.board->unstick) != atomic_load(&progress->unstick)
               ? RELEASED_BY_UNSTICK
               : RELEASED_NOT;
}

void rules_let_go(uint32_t step, const struct record *send, enum board_release why)
{
    rules_fault(FAULT_RELEASED, step, send->peer, rules_number(send), 0, (uint32_t)why);
    atomic_fetch_sub(&runtime_slot->held, 1);
    if (why == RELEASED_BY_END)
        progress_let_go(rules.board, step, why);
}

void rules_passed(uint32_t step)
{
    atomic_fetch_add(&rules.board->progress[step].turn, 1);
}

/* --- choices and answers ---------------------------------------------------------------------- */
/* A poll gets its place in the trace only when it is over: rules_polled then says where. */
static void record_done(uint32_t step, enum fault_kind fault, const struct record *call, int what,
                        bool could)
{
    struct record *evidence =
        rules_fault(fault, step, what, rules_number(call), could ? 0 : 255, 0);
    thread_state.answered = call == &thread_state.poll[LEVEL_WIRE] ? evidence : NULL;
    if (rules_step(step)->when.level == LEVEL_APP && atomic_load(&call->leave) == 0)
        thread_state.given = evidence;
    if (take(step) == action_times(rules_step(step)))
        watcher->finished(step);
}

void rules_chosen(uint32_t step, const struct record *call, int peer, bool could)
{
    record_done(step, FAULT_CHOSEN, call, peer, could);
}

void rules_answered(uint32_t step, const struct record *call, int answer, bool could)
{
    record_done(step, FAULT_ANSWERED, call, answer, could);
}

void rules_polled(struct record *stored)
{
    if (stored->level == LEVEL_WIRE && thread_state.answered != NULL) {
        thread_state.answered->bytes = rules_number(stored);
        thread_state.answered = NULL;
    }
}

void rules_wait_begin(void)
{
    atomic_fetch_add(&runtime_slot->choosing, 1);
}

void rules_wait_end(void)
{
    atomic_fetch_sub(&runtime_slot->choosing, 1);
}

uint32_t rules_unstick(void)
{
    return atomic_load(&rules.board->unstick);
}

bool rules_quiet(void)
{
    return atomic_load(&rules.board->quiet) != 0;
}

const struct plan_step *rules_jitter(void)
{
    if (rules_quiet())
        return NULL;
    for (size_t i = rules.plan->count; i > 0; i--)
        if (action_of(&rules.plan->steps[i - 1])->lasts &&
            board_step_done(rules.board, (unsigned)i - 1))
            return &rules.plan->steps[i - 1];
    return NULL;
}

/* --- the store -------------------------------------------------------------------------------- */
void rules_stored(uint32_t step, uint64_t value, int error)
{
    rules_fault(FAULT_STORAGE, step, rules.rank, value, error, 0);
    take(step);
    watcher->finished(step);
}

_Noreturn void rules_die(void)
{
    char path[PATH_MAX];
    if (schedule != NULL)
        schedule->dies();
    if (watcher->dies != NULL)
        watcher->dies();
    if (rules.run_folder != NULL &&
        snapshot_path(path, sizeof path, rules.run_folder, rules.rank, rules.incarnation, "killed"))
        snapshot_take(path);
    board_note_signal(rules.board, (int32_t)getpid(), SIGKILL);
    syscall(SYS_kill, getpid(), SIGKILL); /* by libc's function it would be the program's doing */
    for (;;)
        pause();
}
