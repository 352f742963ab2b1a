/* See rules.h. */
#include "injectors/rules.h"

#include "injectors/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INSIDE_POLL_NS 1000000 /* between two looks at the clock while waiting for the kill */

/* At what point of a record's life the rules are looked at. */
enum moment { MOMENT_BEFORE, MOMENT_AFTER, MOMENT_INSTANT };

bool rules_watching;
bool rules_steering;

static const struct plan *plan;
static struct board *board;
static int own_rank;
static int own_incarnation;
static uint32_t last_step;                     /* the last one that can be this rank's + 1 */
static enum call_id step_call[PLAN_MAX_STEPS]; /* CALL_NONE: any, or (impossible) no such call */
static bool impossible[PLAN_MAX_STEPS];
static struct record *_Atomic inside; /* the call in which this rank is to be killed */
static uint32_t inside_step;

/* --- what a step asks for -------------------------------------------------------------------- */
static bool is_poll_or_wait(unsigned call)
{
    switch (call_role(call)) {
    case ROLE_WAIT:
    case ROLE_WAITALL:
    case ROLE_WAITANY:
    case ROLE_WAITSOME:
    case ROLE_TEST:
    case ROLE_TESTALL:
    case ROLE_TESTANY:
    case ROLE_TESTSOME:
        return true;
    default:
        return false;
    }
}

/* Sendrecv has two records: its send is published first, its receive completed last. */
static bool stands_for_call(const struct record *r, unsigned kind, enum moment moment)
{
    switch (call_role(r->call)) {
    case ROLE_SENDRECV:
    case ROLE_SENDRECV_REPLACE:
    case ROLE_ISENDRECV:
    case ROLE_ISENDRECV_REPLACE:
        return kind == (moment == MOMENT_BEFORE ? RECORD_SEND : RECORD_RECV);
    default:
        return r->call != CALL_NONE && moment != MOMENT_INSTANT;
    }
}

/* Data has been handed over: a blocking receive that returned, or a receive that completed. */
static bool delivers(const struct record *r, unsigned kind, enum moment moment)
{
    if (moment == MOMENT_BEFORE || r->peer < 0 || r->error != 0 ||
        (r->flags & (FLAG_NEGATIVE | FLAG_CANCELLED | FLAG_FREED)) != 0)
        return false;
    if (kind == RECORD_COMPLETE)
        return r->comm != 0; /* completions of sends name no communicator */
    if (kind != RECORD_RECV)
        return false;
    switch (call_role(r->call)) {
    case ROLE_RECV:
    case ROLE_MRECV:
    case ROLE_SENDRECV:
    case ROLE_SENDRECV_REPLACE:
        return true;
    default:
        return false;
    }
}

static bool is_note(const struct record *r, unsigned kind, enum note_kind note)
{
    return kind == RECORD_NOTE && r->tag == (int32_t)note;
}

static bool is_event(enum plan_event event, const struct record *r, unsigned kind,
                     enum moment moment)
{
    switch (event) {
    case EVENT_SEND:
        return kind == RECORD_SEND;
    case EVENT_RECV:
        return kind == RECORD_RECV;
    case EVENT_DELIVER:
        return delivers(r, kind, moment);
    case EVENT_WAIT:
        return is_poll_or_wait(r->call) && moment != MOMENT_INSTANT;
    case EVENT_PROBE:
        return kind == RECORD_PROBE;
    case EVENT_COLLECTIVE:
        return kind == RECORD_COLLECTIVE;
    case EVENT_CALL:
        return stands_for_call(r, kind, moment);
    case EVENT_CHECKPOINT:
        return is_note(r, kind, NOTE_CHECKPOINT);
    case EVENT_SAVED:
        return is_note(r, kind, NOTE_SAVED);
    case EVENT_COMMIT:
        return is_note(r, kind, NOTE_COMMIT);
    case EVENT_RESTORED:
        return is_note(r, kind, NOTE_RESTORED);
    case EVENT_STOP_LOG:
        return is_note(r, kind, NOTE_STOP_LOG);
    case EVENT_PHASE:
        return is_note(r, kind, NOTE_PHASE);
    case EVENT_RESULT:
        return is_note(r, kind, NOTE_RESULT);
    default:
        break;
    }
    return false;
}

/* A receive or probe asks for a peer and tag first, and finds one later. */
static bool still_asks(const struct record *r, unsigned kind, enum plan_event event)
{
    if (kind == RECORD_RECV)
        return event != EVENT_DELIVER;
    if (kind == RECORD_PROBE)
        return atomic_load_explicit(&r->leave, memory_order_relaxed) == 0 ||
               (r->flags & FLAG_NEGATIVE) != 0;
    return false;
}

static bool is_position(const struct plan_condition *when, enum moment moment)
{
    if (moment == MOMENT_INSTANT || when->event == EVENT_DELIVER)
        return true;
    return (when->position == POSITION_AFTER) == (moment == MOMENT_AFTER);
}

static bool has_fields(const struct plan_condition *when, const struct record *r, unsigned kind,
                       const char *name)
{
    bool asked = still_asks(r, kind, when->event);
    if (when->peer != PLAN_ANY && when->peer != (asked ? r->want_peer : r->peer))
        return false;
    if (kind == RECORD_NOTE)
        return (when->epoch < 0 || (uint64_t)when->epoch == r->bytes) &&
               (when->name[0] == '\0' || (name != NULL && strcmp(when->name, name) == 0));
    if (when->tag != PLAN_ANY && when->tag != (asked ? r->want_tag : r->tag))
        return false;
    return (when->comm == 0 || when->comm == r->comm) && when->level == r->level;
}

static bool concerns_us(const struct plan_condition *when)
{
    return when->event != EVENT_NONE && (when->rank == PLAN_ANY || when->rank == own_rank) &&
           (when->incarnation == PLAN_ANY || when->incarnation == own_incarnation);
}

static bool matches(uint32_t step, const struct record *r, enum moment moment, const char *name)
{
    const struct plan_condition *when = &plan->steps[step].when;
    unsigned kind = atomic_load_explicit(&r->kind, memory_order_relaxed);
    return concerns_us(when) && !impossible[step] &&
           (step_call[step] == CALL_NONE || (unsigned)step_call[step] == r->call) &&
           is_position(when, moment) && is_event(when->event, r, kind, moment) &&
           has_fields(when, r, kind, name);
}

/* --- what a step does ------------------------------------------------------------------------ */
static void record_fault(enum fault_kind fault, uint32_t step, int peer, uint64_t value, int error)
{
    struct record *r = record_reserve(LEVEL_SELF, RECORD_FAULT, CALL_NONE);
    r->comm = (uint32_t)fault;
    r->tag = (int32_t)step;
    r->peer = peer;
    r->bytes = value;
    record_instant(r, error);
}

/* 0: no process that could be killed. */
static int32_t pid_of(int32_t rank)
{
    if (rank < 0 || rank >= board->ranks || atomic_load(&board->slot[rank].ended) != 0)
        return 0;
    return atomic_load(&board->slot[rank].pid);
}

static bool is_inside(uint32_t step, const struct record *r)
{
    return plan->steps[step].when.position == POSITION_INSIDE && r != NULL;
}

static void record_step(uint32_t step, const struct record *r)
{
    const struct plan_step *s = &plan->steps[step];
    if (s->action == ACTION_AWAIT)
        record_fault(FAULT_AWAITED, step, PEER_NONE, 0, 0);
    enum fault_kind fault = is_inside(step, r) ? FAULT_KILL_INSIDE : FAULT_KILL;
    for (uint32_t i = 0; i < s->victims; i++)
        record_fault(fault, step, s->victim[i], (uint64_t)pid_of(s->victim[i]), 0);
}

static _Noreturn void kill_self(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* A victim whose process does not exist yet is left to its parent, which looks for a request as
 * soon as it has made the process. The pid is on the board before that, so none is missed. */
static void kill_other(int32_t victim, uint32_t step)
{
    int32_t pid = pid_of(victim);
    if (pid > 0)
        kill(pid, SIGKILL);
    else if (victim >= 0 && victim < board->ranks && atomic_load(&board->slot[victim].ended) == 0)
        board_request_kill(board, victim, step);
}

/* Returns whether this rank itself is to die now. `r`: the call being entered, for kills inside. */
static bool kill_victims(uint32_t step, struct record *r)
{
    const struct plan_step *s = &plan->steps[step];
    bool self = false;
    for (uint32_t i = 0; i < s->victims; i++) {
        int32_t victim = s->victim[i];
        if (is_inside(step, r)) {
            if (victim == own_rank) {
                inside_step = step;
                atomic_store(&inside, r);
            }
            board_request_kill(board, victim, step);
        } else if (victim == own_rank) {
            self = true;
        } else {
            kill_other(victim, step);
        }
    }
    return self;
}

/* Step `first` and those behind it that wait for nothing. All evidence is written and the next step
 * armed before anybody dies: the death of one may be the end of all. */
static void perform(uint32_t first, struct record *r)
{
    uint32_t end = first;
    do
        record_step(end, end == first ? r : NULL);
    while (++end < plan->count && plan->steps[end].when.event == EVENT_NONE);
    for (uint32_t step = first; step < end; step++) {
        atomic_store(&board->progress[step].rank, own_rank);
        atomic_store(&board->progress[step].incarnation, own_incarnation);
        atomic_store(&board->progress[step].done_ns, clock_monotonic_ns());
    }
    atomic_store(&board->step, end);
    bool self = false;
    for (uint32_t step = first; step < end; step++)
        self |= kill_victims(step, step == first ? r : NULL);
    if (self)
        kill_self();
}

static void look(struct record *r, enum moment moment, const char *name)
{
    uint32_t step = atomic_load_explicit(&board->step, memory_order_relaxed);
    if (step >= last_step) {
        rules_watching = atomic_load(&inside) != NULL;
        return;
    }
    if (!matches(step, r, moment, name))
        return;
    if (atomic_fetch_add(&board->count[step], 1) + 1 != plan->steps[step].when.nth)
        return;
    perform(step, moment == MOMENT_BEFORE ? r : NULL);
}

/* --- the door -------------------------------------------------------------------------------- */
void rules_open(const struct plan *the_plan, struct board *the_board, int rank, int incarnation,
                const char *run_folder)
{
    (void)run_folder;
    plan = the_plan;
    board = the_board;
    own_rank = rank;
    own_incarnation = incarnation;
    last_step = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct plan_condition *when = &plan->steps[i].when;
        step_call[i] = when->call[0] == '\0' ? CALL_NONE : call_from_name(when->call);
        impossible[i] = when->call[0] != '\0' && step_call[i] == CALL_NONE;
        if (concerns_us(when))
            last_step = i + 1;
    }
    rules_watching = last_step > atomic_load(&board->step);
}

void rules_close(void)
{
    rules_watching = false;
}

void rules_start(void)
{
    if (plan == NULL || plan->count == 0 || plan->steps[0].when.event != EVENT_NONE ||
        atomic_load(&board->step) != 0)
        return;
    if (atomic_fetch_add(&board->count[0], 1) == 0)
        perform(0, NULL);
}

void rules_before(struct record *r)
{
    look(r, MOMENT_BEFORE, NULL);
}

void rules_after(struct record *r)
{
    look(r, MOMENT_AFTER, NULL);
}

void rules_instant(struct record *r, const char *name)
{
    if (r->level != LEVEL_SELF ||
        atomic_load_explicit(&r->kind, memory_order_relaxed) == RECORD_NOTE)
        look(r, MOMENT_INSTANT, name);
}

void rules_returned(struct record *r)
{
    if (atomic_load_explicit(&inside, memory_order_relaxed) != r)
        return;
    uint64_t end = clock_monotonic_ns() + RULES_INSIDE_WAIT_MS * UINT64_C(1000000);
    while (clock_monotonic_ns() < end)
        nanosleep(&(struct timespec){0, INSIDE_POLL_NS}, NULL);
    atomic_store(&inside, NULL);
    record_fault(FAULT_KILL_INSIDE, inside_step, own_rank, 0, 255);
    fprintf(stderr,
            "faultline: rank %d was to be killed inside %s (step %u of the plan), but no "
            "kill came within %d ms after the call returned\n",
            own_rank, call_name(r->call), inside_step, RULES_INSIDE_WAIT_MS);
}
