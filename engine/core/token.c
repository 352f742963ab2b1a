/* Who runs next: the token and its way from hand to hand. See core.h. */
#include "engine/core/core.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_NS 1000 /* that a wire call takes */
/* When nobody can run, time moves by this, then by twice as much, ... until something changes. */
#define IDLE_FIRST_NS 1000u
#define IDLE_MOST_NS 100000000u
/* Polls in vain, nothing else done by anybody, after which the job is taken to have stalled. */
#define STALL_POLLS 50000u

const struct engine_network *engine_network;
bool engine_lingers;

static void futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void call_launcher(void)
{
    uint64_t one = 1;
    ssize_t written = write(engine->events, &one, sizeof one);
    (void)written; /* it is full: then the launcher process is called already */
}

/* --- who can run ------------------------------------------------------------------------------ */

/* Ends that the launcher process has seen, and nobody else knew of. */
static void take_in_ends(void)
{
    for (int i = 0; i < engine->processes; i++) {
        struct process *p = &engine->process[i];
        if (p->gone == 0 || p->state == PROCESS_LEFT || p->state == PROCESS_DEAD)
            continue;
        if (p->finalized && p->wait_status == 0)
            p->state = PROCESS_LEFT;
        else
            engine_died(i);
    }
}

static bool can_run(const struct process *p)
{
    return p->state == PROCESS_READY ||
           ((p->state == PROCESS_BLOCKED || p->state == PROCESS_POLLING) && p->woken) ||
           (p->state == PROCESS_ASLEEP && p->wake_ns <= engine->now_ns);
}

/* Those that can run, in order of their numbers. */
static unsigned list_ready(int *list)
{
    unsigned count = 0;
    for (int i = 0; i < engine->processes; i++)
        if (can_run(&engine->process[i]))
            list[count++] = i;
    return count;
}

/* Nobody can run: those who poll are told no again, one after the other, and time moves. */
static int find_idle(void)
{
    int poller = ENGINE_NOBODY, sleeper = ENGINE_NOBODY;
    for (int k = 1; k <= engine->processes; k++) {
        int i = (int)((engine->idle_polls + (uint64_t)k) % (uint64_t)engine->processes);
        const struct process *p = &engine->process[i];
        if (p->state == PROCESS_POLLING && poller == ENGINE_NOBODY)
            poller = i;
        if (p->state == PROCESS_ASLEEP &&
            (sleeper == ENGINE_NOBODY || p->wake_ns < engine->process[sleeper].wake_ns))
            sleeper = i;
    }
    uint64_t step = engine->idle_ns == 0 ? IDLE_FIRST_NS : engine->idle_ns * 2;
    engine->idle_ns = step < IDLE_MOST_NS ? step : IDLE_MOST_NS;
    uint64_t then = engine->now_ns + engine->idle_ns;
    bool sleeps = sleeper != ENGINE_NOBODY;
    if (sleeps && (poller == ENGINE_NOBODY || engine->process[sleeper].wake_ns <= then)) {
        engine->now_ns = engine->process[sleeper].wake_ns;
        return sleeper;
    }
    if (poller != ENGINE_NOBODY) {
        engine->now_ns = then;
        engine->idle_polls++;
    }
    return poller;
}

/* The launcher process ends what is left. */
static bool turns_are_over(void)
{
    return engine->aborted || engine->refused[0] != '\0' || atomic_load(&engine->turns_left) == 1;
}

static int nobody(enum engine_stuck why)
{
    atomic_store(&engine->stuck, why);
    return ENGINE_NOBODY;
}

/* The next holder of the token; ENGINE_NOBODY: nobody can go on. */
static int choose(void)
{
    int ready[ENGINE_MAX_PROCESSES];
    for (;;) {
        take_in_ends();
        if (turns_are_over())
            return ENGINE_NOBODY;
        unsigned count = list_ready(ready);
        unsigned arriving = engine_network != NULL ? engine_network->deliverable() : 0;
        if (count + arriving == 0)
            break;
        unsigned chosen = engine_decide(DECIDE_NEXT, count + arriving);
        if (chosen < count)
            return ready[chosen];
        engine_network->deliver(chosen - count);
    }
    if (engine->idle_polls > STALL_POLLS)
        return nobody(STUCK_STALL);
    int next = find_idle();
    return next != ENGINE_NOBODY ? next : nobody(STUCK_DEADLOCK);
}

static void give_to(int next)
{
    atomic_store(&engine->holder, next);
    if (next == ENGINE_NOBODY) {
        call_launcher();
        return;
    }
    struct process *p = &engine->process[next];
    p->state = PROCESS_READY;
    atomic_store(&p->token, 1);
    futex_wake(&p->token);
}

static void await_token(void)
{
    struct process *p = &engine->process[engine_self];
    while (atomic_load(&p->token) == 0)
        futex_wait(&p->token, 0);
}

/* To whoever is next, and back. */
static void hand_over(enum process_state state)
{
    struct process *p = &engine->process[engine_self];
    p->state = state;
    int next = choose();
    if (next == engine_self) {
        p->state = PROCESS_READY;
        return;
    }
    atomic_store(&p->token, 0);
    give_to(next);
    await_token();
}

void engine_pass_on(void)
{
    atomic_store(&engine->stuck, STUCK_NOT);
    give_to(choose());
}

void engine_join(int process)
{
    engine_self = process;
    await_token();
}

/* --- what a process does ---------------------------------------------------------------------- */

static void hear_of_deaths(bool surely)
{
    struct process *p = &engine->process[engine_self];
    if (engine->goes_on && p->deaths_known < engine->deaths &&
        (surely || engine_decide(DECIDE_DEATH, 2) == 1))
        p->deaths_known = engine->deaths;
}

void engine_turn_to_poll(void)
{
    engine->now_ns += CALL_NS;
    if (engine->turns_left > 1)
        engine->turns_left--;
    hand_over(PROCESS_READY);
}

void engine_turn(void)
{
    engine->process[engine_self].polls = 0;
    engine->idle_polls = 0;
    engine->idle_ns = 0;
    for (int i = 0; i < engine->processes; i++)
        engine->process[i].woken |= engine->process[i].lingers;
    engine_turn_to_poll();
    hear_of_deaths(false);
}

void engine_block(void)
{
    struct process *p = &engine->process[engine_self];
    if (!p->woken)
        hand_over(PROCESS_BLOCKED);
    p->woken = false;
    hear_of_deaths(true);
}

static bool poll_on(bool lingers)
{
    struct process *p = &engine->process[engine_self];
    p->lingers = lingers;
    if (!p->woken)
        hand_over(PROCESS_POLLING);
    bool changed = p->woken;
    p->woken = p->lingers = false;
    if (changed)
        p->polls = 0;
    hear_of_deaths(true);
    return changed;
}

bool engine_poll_again(void)
{
    struct process *p = &engine->process[engine_self];
    return p->polls++ != 0 && poll_on(engine_lingers);
}

void engine_linger(void)
{
    poll_on(true);
}

void engine_sleep(uint64_t ns)
{
    struct process *p = &engine->process[engine_self];
    p->wake_ns = engine->now_ns + ns;
    hand_over(PROCESS_ASLEEP);
    p->wake_ns = 0;
}

void engine_wake(int process)
{
    engine->process[process].woken = true;
    engine->process[process].polls = 0;
    engine->idle_polls = 0;
    engine->idle_ns = 0;
}

void engine_wake_all(void)
{
    for (int i = 0; i < engine->processes; i++)
        engine_wake(i);
}

void engine_died(int process)
{
    struct process *p = &engine->process[process];
    if (p->state == PROCESS_DEAD)
        return;
    p->state = PROCESS_DEAD;
    engine->dead[engine->deaths++] = process;
    engine_wake_all();
}

bool engine_knows_dead(int process)
{
    uint64_t known = engine->process[engine_self].deaths_known;
    for (uint64_t i = 0; i < known; i++)
        if (engine->dead[i] == process)
            return true;
    return false;
}

void engine_abort(int code)
{
    engine->aborted = true;
    fflush(NULL);
    _exit(code & 0xff ? code & 0xff : EXIT_FAILURE);
}

void engine_refuse(const char *call, const char *why)
{
    snprintf(engine->refused, sizeof engine->refused, "%s: %s", call, why);
    fprintf(stderr, "faultline: the step engine does not do %s: %s\n", call, why);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

/* --- time ------------------------------------------------------------------------------------- */

uint64_t engine_now_ns(void)
{
    return engine->now_ns += 20;
}
