/* Chooses which process gets the token next. See core.h. */
#include "engine/core/parts.h"

/* When nobody can run, time moves by this, then by twice as much, ... until something changes. */
#define IDLE_FIRST_NS 1000u
#define IDLE_MOST_NS 100000000u
/* Polls in vain, nothing else done by anybody, after which the job is taken to have stalled; and as
 * many more for each process as one has made in lives before: a protocol that repeats what a rank
 * did may have its polls say no as often as they did then. */
#define STALL_POLLS 50000u
/* The same where only Faultline itself waits, for what the plan keeps: of each process. */
#define LINGER_POLLS 1000u
/* After so many polls in vain, nothing else done by anybody, each process polls IDLE_IN_TURN times
 * before it is the next one's turn, and one poll is enough between two sleeps: that the job has
 * stalled is found with few switches between processes. By then minutes of virtual time have
 * passed: a wait with a time limit is over. */
#define IDLE_LONG 4096u
#define IDLE_IN_TURN 64u
/* Processes that do not poll between their sleeps have slept so often, with nothing done between
 * that another process could see: somebody waits for what comes from outside the job. From then on
 * a sleep takes as long as it says. */
#define SLEEPS_AT_ONCE 1000u

const struct engine_network *engine_network;
bool (*engine_is_stopped)(int process);

/* Notes the processes whose end only the launcher process has seen. */
static void take_in_ends(void)
{
    for (int i = 0; i < engine->processes; i++) {
        struct process *p = &engine->process[i];
        if (p->gone == 0 || p->state == PROCESS_LEFT || p->state == PROCESS_DEAD)
            continue;
        if (p->finalized && p->wait_status == 0)
            engine_left(i);
        else
            engine_died(i);
    }
}

static bool waits_for_time(const struct process *p)
{
    return p->state == PROCESS_ASLEEP || (p->state == PROCESS_POLLING && p->wake_ns != 0);
}

static bool wants_to_run(const struct process *p)
{
    return p->state == PROCESS_READY ||
           ((p->state == PROCESS_BLOCKED || p->state == PROCESS_POLLING) && p->woken) ||
           (waits_for_time(p) && p->wake_ns <= engine->now_ns);
}

/* Of a run that is explored: who is to find out whether it can go on; that is no choice. */
static int find_looker(void)
{
    for (int i = 0; i < engine->processes; i++)
        if (engine->process[i].state == PROCESS_BLOCKED && engine->process[i].woken)
            return i;
    return ENGINE_NOBODY;
}

static bool is_stopped(int process)
{
    return engine_is_stopped != NULL && engine_is_stopped(process);
}

/* It can run now or later, whatever the others do. */
static bool will_run(const struct process *p)
{
    return wants_to_run(p) || p->state == PROCESS_POLLING || p->state == PROCESS_ASLEEP;
}

/* Those that can run, in order of their numbers. *stopped: some would, now or later, if the plan
 * let them. */
static unsigned list_ready(int *list, bool *stopped)
{
    unsigned count = 0;
    *stopped = false;
    for (int i = 0; i < engine->processes; i++) {
        if (!will_run(&engine->process[i]))
            continue;
        if (is_stopped(i))
            *stopped = true;
        else if (wants_to_run(&engine->process[i]))
            list[count++] = i;
    }
    return count;
}

/* --- nobody can run --------------------------------------------------------------------------- */

/* It may do something when it wakes: what others ask for in vain meanwhile is no sign of a stall.
 */
static bool somebody_only_sleeps(void)
{
    for (int i = 0; i < engine->processes; i++)
        if (engine->process[i].state == PROCESS_ASLEEP && engine->process[i].only_sleeps &&
            !is_stopped(i))
            return true;
    return false;
}

static bool waits_for_outside(void)
{
    return engine->sleeps > SLEEPS_AT_ONCE && somebody_only_sleeps();
}

bool rests_in_turn(void)
{
    return engine->transitions == NULL && engine->idle_polls >= IDLE_LONG &&
           !engine->process[engine_self].only_sleeps && engine->idle_polls % IDLE_IN_TURN != 0 &&
           !somebody_only_sleeps();
}

uint64_t engine_most_polls(void)
{
    uint64_t most = 0;
    for (int i = 0; i < engine->processes; i++)
        if (engine->process[i].idle_polls > most)
            most = engine->process[i].idle_polls;
    return most;
}

/* `poller` polls once more; ENGINE_NOBODY: the plan has stopped all that could go on. The poll
 * between two sleeps of a process that only sleeps takes no time: time moves with its sleeps, which
 * may have to take as long as they say. */
static void pass_idle_time(int poller)
{
    bool between_sleeps = engine->slept && somebody_only_sleeps();
    engine->slept = false;
    engine->idle_polls++;
    if (poller != ENGINE_NOBODY)
        engine->process[poller].idle_polls++;
    if (between_sleeps)
        return;
    uint64_t step = engine->idle_ns == 0 ? IDLE_FIRST_NS : engine->idle_ns * 2;
    engine->idle_ns = step < IDLE_MOST_NS ? step : IDLE_MOST_NS;
    engine->now_ns += engine->idle_ns;
}

static bool is_busy(const struct process *p)
{
    return p->state == PROCESS_ASLEEP || (p->state == PROCESS_POLLING && !p->only_waits);
}

/* A program that polls, or sleeps, may do so for long; where nothing but Faultline waits there is
 * no hurry. */
static bool has_stalled(void)
{
    uint64_t most = LINGER_POLLS * (uint64_t)engine->processes;
    for (int i = 0; i < engine->processes; i++)
        if (is_busy(&engine->process[i]))
            most = STALL_POLLS + engine->polls_again * (uint64_t)engine->processes;
    return engine->idle_polls > most && !somebody_only_sleeps();
}

static bool sleeps_before(int a, int b)
{
    return b == ENGINE_NOBODY || engine->process[a].wake_ns < engine->process[b].wake_ns;
}

/* Nobody has anything to do. Processes that poll run in turn, and find nothing once more, until the
 * time for which a process waits is near. Then that process runs. Before the next such time one
 * that polls runs again: it may do what the others wait for. */
static int find_idle(bool *polls_again)
{
    int poller = ENGINE_NOBODY, sleeper = ENGINE_NOBODY;
    uint64_t turn = engine->idle_polls;
    if (engine->idle_polls >= IDLE_LONG)
        turn /= IDLE_IN_TURN;
    for (int k = 1; k <= engine->processes; k++) {
        int i = (int)((turn + (uint64_t)k) % (uint64_t)engine->processes);
        const struct process *p = &engine->process[i];
        if ((p->state != PROCESS_POLLING && p->state != PROCESS_ASLEEP) || is_stopped(i))
            continue;
        if (waits_for_time(p) && sleeps_before(i, sleeper))
            sleeper = i;
        if (p->state == PROCESS_ASLEEP || (p->only_waits && waits_for_time(p)))
            continue;
        if (poller == ENGINE_NOBODY)
            poller = i;
    }
    bool is_near = sleeper != ENGINE_NOBODY && !engine->slept &&
                   (engine->process[sleeper].wake_ns <= engine->now_ns + engine->idle_ns ||
                    engine->idle_polls >= IDLE_LONG || waits_for_outside());
    *polls_again = sleeper == ENGINE_NOBODY || (poller != ENGINE_NOBODY && !is_near);
    return *polls_again ? poller : sleeper;
}

/* No other process can run: virtual time moves to the time at which this one wakes. Where that is
 * to take as long in real time the process itself waits: this one may be the launcher process,
 * which must answer the driver. */
static void wake_sleeper(int sleeper)
{
    struct process *p = &engine->process[sleeper];
    uint64_t now = engine->now_ns;
    engine->slept = true;
    if (p->wake_ns <= now)
        return;
    engine->now_ns = p->wake_ns;
    if (p->state == PROCESS_ASLEEP && p->only_sleeps)
        engine->sleeps++;
    if (p->state == PROCESS_ASLEEP && waits_for_outside())
        p->really_ns = p->wake_ns - now;
}

static int nobody(enum board_stuck why)
{
    atomic_store(&engine->stuck, why);
    return ENGINE_NOBODY;
}

/* --- the choice ------------------------------------------------------------------------------- */

/* The launcher process ends what is left. */
static bool turns_are_over(void)
{
    return engine->aborted || engine->refused[0] != '\0' || atomic_load(&engine->turns_left) == 1;
}

static unsigned count_messages(void)
{
    return engine_network != NULL ? engine_network->deliverable() : 0;
}

static void arrive(unsigned which)
{
    unsigned messages = count_messages();
    if (which < messages)
        engine_network->deliver(which);
    else
        news_deliver(which - messages);
}

/* Of the processes that can run, and after them the messages and news that can arrive. False: of a
 * run that is explored all are known. */
static bool choose_among(const int *ready, unsigned count, unsigned arriving, unsigned *chosen)
{
    static uint64_t actor[2 * ENGINE_MAX_PROCESSES];
    if (arriving > ENGINE_MAX_PROCESSES)
        arriving = ENGINE_MAX_PROCESSES;
    if (engine->transitions == NULL && engine->policy.kind == POLICY_RANDOM) {
        *chosen = engine_decide(DECIDE_NEXT, count + arriving);
        return true;
    }
    for (unsigned i = 0; i < count; i++)
        actor[i] = (uint64_t)ready[i];
    unsigned messages = count_messages();
    for (unsigned i = 0; i < arriving; i++)
        actor[count + i] = i < messages ? engine_network->lane(i) : news_actor(i - messages);
    if (engine->transitions != NULL)
        return transition_choose(actor, count + arriving, chosen);
    *chosen = engine_choose(actor, count + arriving);
    return true;
}

int choose_next(void)
{
    int ready[ENGINE_MAX_PROCESSES];
    unsigned chosen;
    for (;;) {
        bool stopped;
        take_in_ends();
        asked_settle();
        if (turns_are_over())
            return ENGINE_NOBODY;
        int looker = engine->transitions != NULL ? find_looker() : ENGINE_NOBODY;
        if (looker != ENGINE_NOBODY)
            return looker;
        unsigned count = list_ready(ready, &stopped);
        unsigned arriving = count_messages() + news_pending();
        if (count + arriving > 0) {
            if (!choose_among(ready, count, arriving, &chosen)) {
                engine->turns_left = 1;
                return ENGINE_NOBODY;
            }
            if (chosen < count)
                return ready[chosen];
            arrive(chosen - count);
            continue;
        }
        if (engine->turns_left != 0) { /* nobody wants those that are left */
            engine->turns_left = 1;
            return ENGINE_NOBODY;
        }
        bool polls_again;
        int idle = find_idle(&polls_again);
        if (idle == ENGINE_NOBODY && !stopped)
            return nobody(STUCK_DEADLOCK);
        if (has_stalled())
            return nobody(STUCK_STALL);
        if (polls_again)
            pass_idle_time(idle);
        else
            wake_sleeper(idle);
        if (idle != ENGINE_NOBODY && engine->transitions != NULL)
            choose_among(&idle, 1, 0, &chosen);
        if (idle != ENGINE_NOBODY)
            return idle;
    }
}

void note_progress(void)
{
    engine->idle_polls = engine->sleeps = 0;
    engine->idle_ns = 0;
    engine->slept = false;
}
