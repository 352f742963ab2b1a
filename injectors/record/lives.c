/* See lives.h. Under mpiexec this process is informed of a death when the parent of the dead
 * process has seen it and the plan does not withhold it; on the step engine when the engine says
 * so. */
#include "injectors/record/lives.h"

#include "board/progress.h"
#include "injectors/record/runtime.h"
#include "injectors/record/schedule.h"

#include <stddef.h>
#include <time.h>

#define PAUSE_NS 500000
#define JOB_IS_OVER (-1) /* FAULTLINE_JOB_IS_OVER */

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int faultline_told_dead(int *processes, int most);
EXPORTED int faultline_wait_told(int known);

void (*lives_progress)(void);

static struct {
    struct board *board; /* NULL: nobody is informed of anything */
    const struct plan *plan;
    int self;
    bool is_informed[BOARD_MAX_RANKS];
    int learnt[BOARD_MAX_RANKS]; /* in order */
    int count;
    int noted;        /* of these, how many the program knows and the trace notes */
    bool withheld;    /* the plan withholds a death: the driver sees that */
    uint32_t unstick; /* of the board, when that began */
} lives;

void lives_open(struct board *board, const struct plan *plan, int self)
{
    lives.board = board;
    lives.plan = plan;
    lives.self = self;
}

void lives_close(void)
{
    lives.board = NULL;
}

void lives_pause(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (lives_progress != NULL)
        lives_progress();
    nanosleep(&pause, NULL);
}

bool lives_is_dead(int process)
{
    if (schedule != NULL)
        return schedule->is_dead(process);
    const struct board_slot *slot = &lives.board->slot[process];
    return atomic_load(&slot->ended) != 0 &&
           (atomic_load(&slot->wait_status) != 0 || atomic_load(&slot->state) != RANK_FINALIZED);
}

static bool is_withheld(int dead)
{
    return progress_death_notice(lives.board, lives.plan, lives.self, dead) == NOTICE_IS_WITHHELD;
}

static bool knows_dead(int process)
{
    if (schedule != NULL)
        return schedule->knows_dead(process);
    return lives_is_dead(process) && !is_withheld(process);
}

/* When the job cannot go on otherwise the driver says so, and what is withheld is let go. */
static void look_at_withheld(void)
{
    bool any = false;
    for (int i = 0; schedule == NULL && i < board_processes(lives.board); i++) {
        if (lives.is_informed[i] || !lives_is_dead(i) || !is_withheld(i))
            continue;
        if (lives.withheld && atomic_load(&lives.board->unstick) != lives.unstick)
            progress_give_notice(lives.board, lives.plan, i, RELEASED_BY_UNSTICK);
        else
            any = true;
    }
    if (any == lives.withheld)
        return;
    lives.withheld = any;
    lives.unstick = atomic_load(&lives.board->unstick);
    if (any)
        atomic_fetch_add(&runtime_slot->choosing, 1);
    else
        atomic_fetch_sub(&runtime_slot->choosing, 1);
}

/* Takes in all deaths of which this process is to be informed now. */
static void hear(void)
{
    look_at_withheld();
    for (int i = 0; i < board_processes(lives.board); i++)
        if (!lives.is_informed[i] && knows_dead(i)) {
            lives.is_informed[i] = true;
            lives.learnt[lives.count++] = i;
        }
}

bool lives_is_informed(int process)
{
    hear();
    return lives.is_informed[process];
}

/* Has heard of more than so many. */
static bool has_news(void *known)
{
    hear();
    return lives.count > *(const int *)known;
}

/* A process that is dead, of which this one is not informed yet, may still be missed. */
static bool is_over(void)
{
    for (int i = 0; i < board_processes(lives.board); i++) {
        const struct board_slot *slot = &lives.board->slot[i];
        if (i != lives.self && atomic_load(&slot->leaving) == 0 &&
            atomic_load(&slot->nobody) == 0 && !lives.is_informed[i])
            return false;
    }
    return runtime_is_nobody;
}

static bool need_not_wait(void *known)
{
    return has_news(known) || is_over();
}

static bool is_inert(void)
{
    return lives.board == NULL || runtime_recording == 0;
}

/* What the program asks is answered by all that has been heard. */
static void note_learned(void)
{
    for (; lives.noted < lives.count; lives.noted++)
        note_write_learned(lives.learnt[lives.noted]);
}

static bool is_steered(void)
{
    return runtime_steering && steer_round != NULL;
}

static void look_steered(void)
{
    thread_state.wire_depth++;
    steer_look();
    thread_state.wire_depth--;
}

static void wait_steered(int known)
{
    unsigned round = 0;
    thread_state.wire_depth++;
    while (!need_not_wait(&known)) {
        steer_round(&round);
        if (schedule == NULL)
            lives_pause();
    }
    thread_state.wire_depth--;
}

int faultline_told_dead(int *processes, int most)
{
    int known = lives.count;
    if (is_inert())
        return 0;
    if (is_steered())
        look_steered();
    if (schedule != NULL)
        schedule->poll(has_news, &known);
    else
        hear();
    note_learned();
    for (int i = 0; i < most && i < lives.count; i++)
        processes[i] = lives.learnt[i];
    return lives.count;
}

int faultline_wait_told(int known)
{
    if (is_inert())
        return JOB_IS_OVER;
    if (is_steered())
        wait_steered(known);
    else if (schedule != NULL)
        schedule->wait(need_not_wait, &known);
    while (!need_not_wait(&known)) {
        runtime_polled_in_vain();
        lives_pause();
    }
    note_learned();
    return lives.count > known ? lives.count : JOB_IS_OVER;
}
