/* How the token is passed between processes, and what its holder may do. See core.h. */
#include "engine/core/parts.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t (*engine_looks_in)(void);
enum death_notice (*engine_death_notice)(int process, int dead);

static struct process *self(void)
{
    return &engine->process[engine_self];
}

/* --- threads ---------------------------------------------------------------------------------- */

static _Thread_local __attribute__((tls_model("initial-exec"))) bool has_called; /* MPI */
static bool waits; /* some thread of this process, for the token */

bool engine_runs_thread(void)
{
    return engine_self == ENGINE_NOBODY || (has_called && !waits);
}

/* --- the token -------------------------------------------------------------------------------- */

static void futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

void engine_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The program may have closed the descriptor, and opened something of its own by that number. */
static bool is_event(int descriptor)
{
    char path[32], what[32] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(path, what, sizeof what - 1);
    return length > 0 && strcmp(what, "anon_inode:[eventfd]") == 0;
}

void engine_call_launcher(void)
{
    uint64_t one = 1;
    if (!is_event(engine->events))
        return; /* the launcher process looks by itself now and then */
    ssize_t written = write(engine->events, &one, sizeof one);
    (void)written; /* it is full: then the launcher process is called already */
}

/* --- from hand to hand ------------------------------------------------------------------------ */

static void give_to(int next)
{
    atomic_store(&engine->holder, next);
    if (next == ENGINE_NOBODY) {
        engine_call_launcher();
        return;
    }
    struct process *p = &engine->process[next];
    p->state = PROCESS_READY;
    if (atomic_exchange(&p->token, TOKEN_HERE) == TOKEN_AWAITED)
        engine_futex_wake(&p->token);
}

static void await_token(void)
{
    uint32_t elsewhere = TOKEN_ELSEWHERE;
    atomic_compare_exchange_strong(&self()->token, &elsewhere, TOKEN_AWAITED);
    while (atomic_load(&self()->token) != TOKEN_HERE)
        futex_wait(&self()->token, TOKEN_AWAITED);
}

/* A rank that is to be killed here waits for it, and holds the token until it is dead. */
static void meet_end(enum process_state state)
{
    bool at_once = state != PROCESS_READY || engine->transitions != NULL;
    if (!self()->awaits_kill || (!at_once && engine_decide(DECIDE_DEATH, 2) == 0))
        return;
    atomic_store(&self()->doomed, 1);
    engine_call_launcher();
    for (;;)
        pause();
}

void hand_over(enum process_state state)
{
    meet_end(state);
    self()->state = state;
    int next = choose_next();
    if (next == engine_self) {
        self()->state = PROCESS_READY;
        return;
    }
    waits = true;
    atomic_store(&self()->token, TOKEN_ELSEWHERE);
    give_to(next);
    await_token();
    waits = false;
}

void engine_pass_on(void)
{
    atomic_store(&engine->stuck, STUCK_NOT);
    give_to(choose_next());
}

void engine_join(int process)
{
    engine_self = process;
    has_called = true;
    await_token();
    engine_touch(TOUCH_AFTER, object_name(OBJECT_SPAWNED, (uint64_t)process, 0, 0));
}

/* --- what a process does ---------------------------------------------------------------------- */

static void hear_of_deaths(bool surely)
{
    struct process *p = self();
    if (engine->transitions == NULL && engine->goes_on && p->deaths_known < engine->deaths &&
        (surely || engine_decide(DECIDE_DEATH, 2) == 1))
        p->deaths_known = engine->deaths;
}

void engine_forget(void)
{
    engine_self = ENGINE_NOBODY;
}

static void turn(void)
{
    if (engine_self == ENGINE_NOBODY) {
        fprintf(stderr, "faultline: a child that a rank has forked calls MPI: it is ended\n");
        _exit(EXIT_FAILURE);
    }
    has_called = true;
    engine->now_ns += CALL_NS;
    if (engine->turns_left > 1)
        engine->turns_left--;
    hand_over(PROCESS_READY);
}

void engine_turn_to_poll(void)
{
    turn();
    transition_polls(true);
}

void engine_turn(void)
{
    engine->turns++;
    for (int i = 0; i < engine->processes; i++)
        engine->process[i].woken |= engine->process[i].lingers;
    turn();
    transition_polls(false);
    hear_of_deaths(false);
}

static void block(void)
{
    if (!self()->woken)
        hand_over(PROCESS_BLOCKED);
    self()->woken = false;
    hear_of_deaths(true);
}

bool look(engine_ready *ready, void *data)
{
    self()->looks = true;
    bool is_ready = ready(data);
    self()->looks = false;
    return is_ready;
}

/* Of a run that is explored: going on is a transition of its own. */
static void wait_in_two_steps(engine_ready *ready, void *data, bool one_of_several)
{
    while (!look(ready, data))
        block();
    hand_over(PROCESS_READY);
    transition_polls(one_of_several);
    transition_went_on(true);
    ready(data); /* touches what it is ready by */
    transition_went_on(false);
}

static void (*when_waited)(void);

void engine_when_waited(void (*call)(void))
{
    when_waited = call;
}

uint64_t (*engine_meanwhile)(void);

/* engine_meanwhile may give the token away, so ready is asked again before the process blocks. */
static void wait_at_once(engine_ready *ready, void *data)
{
    uint64_t looks_in = engine_meanwhile != NULL ? ENGINE_WHENEVER : ENGINE_NEVER;
    while (!ready(data))
        if (looks_in == ENGINE_NEVER)
            block();
        else if ((looks_in = engine_meanwhile()) != ENGINE_NEVER)
            engine_linger(looks_in);
}

static void wait_for(engine_ready *ready, void *data, bool one_of_several)
{
    if (engine->transitions != NULL)
        wait_in_two_steps(ready, data, one_of_several);
    else
        wait_at_once(ready, data);
    if (when_waited)
        when_waited();
}

void engine_wait(engine_ready *ready, void *data)
{
    wait_for(ready, data, false);
}

void engine_wait_for_one(engine_ready *ready, void *data)
{
    wait_for(ready, data, true);
}

/* When virtual time has moved by so much. It does not go round. */
static uint64_t in_ns(uint64_t ns)
{
    uint64_t left = engine->now_ns < TIME_MOST_NS ? TIME_MOST_NS - engine->now_ns : 0;
    return engine->now_ns + (ns < left ? ns : left);
}

static bool poll_on(uint64_t looks_in)
{
    struct process *p = self();
    p->lingers = looks_in == ENGINE_WHENEVER;
    p->wake_ns = p->lingers || looks_in == ENGINE_NEVER ? 0 : in_ns(looks_in);
    if (!p->woken)
        hand_over(PROCESS_POLLING);
    transition_polls(true);
    bool changed = p->woken;
    p->woken = p->lingers = false;
    p->wake_ns = 0;
    if (changed)
        p->polls = 0;
    hear_of_deaths(true);
    return changed;
}

static bool poll_drawn(engine_ready *ready, void *data)
{
    while (!ready(data))
        if (self()->polls++ == 0 ||
            !poll_on(engine_looks_in != NULL ? engine_looks_in() : ENGINE_NEVER))
            return false;
    return true;
}

bool engine_poll(uint64_t question, engine_ready *ready, void *data)
{
    bool is_explored = engine->transitions != NULL && engine_looks_in == NULL;
    bool is_ready = is_explored ? poll_explored(question, ready, data) : poll_drawn(ready, data);
    if (!is_ready)
        self()->sleeps = 0;
    return is_ready;
}

/* Not in a run that is explored: who polls there does not run before another one has done
 * something, so schedules would be left out. */
void engine_call_ends(bool failed)
{
    if (engine_self == ENGINE_NOBODY)
        return;
    struct process *p = self();
    p->failures = failed ? p->failures + 1 : 0;
    if (p->failures > FAILURES_MOST && engine->transitions == NULL)
        poll_on(ENGINE_NEVER);
}

void engine_linger(uint64_t looks_in)
{
    self()->only_waits = true;
    poll_on(looks_in);
    self()->only_waits = false;
}

/* By the system call: libc's function is replaced by the one that sleeps in virtual time. */
static void sleep_really(uint64_t ns)
{
    struct timespec time = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    syscall(SYS_nanosleep, &time, NULL);
}

void engine_sleep(uint64_t ns)
{
    struct process *p = self();
    p->only_sleeps = p->sleeps++ >= SLEEPS_BETWEEN_POLLS;
    if (rests_in_turn()) {
        engine->now_ns = in_ns(ns);
        return;
    }
    p->wake_ns = in_ns(ns > CALL_NS ? ns : CALL_NS);
    p->really_ns = 0;
    hand_over(PROCESS_ASLEEP);
    p->wake_ns = 0;
    if (p->really_ns > 0)
        sleep_really(p->really_ns);
}

void engine_wake(int process)
{
    struct process *p = &engine->process[process];
    if (engine->transitions == NULL || p->state == PROCESS_BLOCKED || p->lingers)
        p->woken = true;
    p->polls = 0;
    if (process != engine_self)
        note_progress();
}

void engine_wake_from_own(int process)
{
    struct process *p = &engine->process[process];
    if (p->state == PROCESS_BLOCKED || (engine->transitions == NULL && p->state == PROCESS_POLLING))
        p->woken = true;
}

void engine_took(void)
{
    asked_forget(self());
}

void engine_did(void)
{
    self()->polls = 0;
    asked_forget(self());
    note_progress();
}

void engine_wake_all(void)
{
    for (int i = 0; i < engine->processes; i++)
        engine_wake(i);
}

/* --- ends ------------------------------------------------------------------------------------- */

void engine_await_kill(void)
{
    self()->awaits_kill = true;
}

static void note_end(struct process *p, enum process_state state)
{
    p->state = state;
    p->ended_ns = engine->now_ns;
}

void engine_left(int process)
{
    note_end(&engine->process[process], PROCESS_LEFT);
}

uint64_t engine_death_of(int process)
{
    return object_name(OBJECT_DEATH, (uint64_t)process, 0, 0);
}

/* In a run that is explored: a process that polls sees nothing of a death before it is informed. */
static void spread_death(int dead)
{
    engine_touch(TOUCH_WRITE, engine_death_of(dead));
    engine_spread(engine_death_of(dead), NULL, 0);
}

void engine_died(int process)
{
    struct process *p = &engine->process[process];
    if (p->state == PROCESS_DEAD)
        return;
    note_end(p, PROCESS_DEAD);
    engine->dead[engine->deaths++] = process;
    engine->polls_again = engine_most_polls();
    if (engine->goes_on && engine->transitions != NULL)
        spread_death(process);
    if (!engine->goes_on || engine->aborted)
        engine_touch(TOUCH_WRITE, object_name(OBJECT_JOB, 0, 0, 0));
    if (!engine->goes_on && engine->turns_left == 0)
        engine->turns_left = 1 + engine_decide(DECIDE_END, ENGINE_MOST_TURNS_LEFT);
    engine_wake_all();
}

bool engine_knows_dead(int process)
{
    enum death_notice notice =
        engine_death_notice != NULL ? engine_death_notice(engine_self, process) : NOTICE_IS_OPEN;
    if (notice != NOTICE_IS_OPEN)
        return notice == NOTICE_IS_DUE && engine_is_dead(process);
    if (engine->transitions != NULL)
        return engine_was_informed(engine_death_of(process));
    uint64_t known = self()->deaths_known;
    for (uint64_t i = 0; i < known; i++)
        if (engine->dead[i] == process)
            return true;
    return false;
}

int engine_spawn(int count)
{
    int first = engine->processes;
    engine->processes += count;
    engine_touch(TOUCH_WRITE, object_name(OBJECT_SPAWNED, ENGINE_MAX_PROCESSES, 0, 0));
    for (int i = first; i < engine->processes; i++)
        engine_touch(TOUCH_WRITE, object_name(OBJECT_SPAWNED, (uint64_t)i, 0, 0));
    engine_call_launcher();
    for (uint32_t seen; (seen = atomic_load(&engine->forked)) < (uint32_t)engine->processes;)
        futex_wait(&engine->forked, seen);
    return first;
}

void engine_abort(int code)
{
    engine->aborted = true;
    fflush(NULL);
    _exit((code & 0xff) != 0 ? code & 0xff : EXIT_FAILURE);
}

void engine_not_explored(const char *call)
{
    if (engine->transitions != NULL)
        engine_refuse(call, "in a run that is explored");
}

void engine_refuse(const char *call, const char *why)
{
    snprintf(engine->refused, sizeof engine->refused, "the step engine does not do %s: %s", call,
             why);
    fprintf(stderr, "faultline: %s\n", engine->refused);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

/* --- time ------------------------------------------------------------------------------------- */

uint64_t engine_now_ns(void)
{
    return engine->now_ns;
}

uint64_t engine_tick_ns(void)
{
    engine_pass_time(TICK_NS);
    return engine->now_ns;
}

void engine_pass_time(uint64_t ns)
{
    if (engine_runs_thread())
        engine->now_ns += ns;
}
