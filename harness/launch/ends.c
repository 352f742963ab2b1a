/* See ends.h. */
#include "launch/ends.h"

#include "plan/action.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define DESCRIBE_BYTES 128
#define EXIT_NOT_STARTED 127 /* by `faultline exec`, and by the dynamic linker */

void ends_collect(const struct board *board, int incarnation, struct rank_end *ends)
{
    for (int rank = 0; rank < board->ranks; rank++) {
        const struct board_slot *slot = &board->slot[rank];
        ends[rank].rank = rank;
        ends[rank].incarnation = incarnation;
        ends[rank].finalized = atomic_load(&slot->state) == RANK_FINALIZED;
        if (atomic_load(&slot->ended) != 0) {
            ends[rank].known = true;
            ends[rank].wait_status = atomic_load(&slot->wait_status);
        }
    }
}

void ends_describe(const struct rank_end *end, char *text, size_t bytes)
{
    if (!end->known)
        snprintf(text, bytes, "ended unseen");
    else if (WIFSIGNALED(end->wait_status))
        snprintf(text, bytes, "was ended by SIG%s", sigabbrev_np(WTERMSIG(end->wait_status)));
    else if (WEXITSTATUS(end->wait_status) == 0 && !end->finalized)
        snprintf(text, bytes, "exited with status 0 without MPI_Finalize");
    else
        snprintf(text, bytes, "exited with status %d", WEXITSTATUS(end->wait_status));
}

static bool was_killed(const struct rank_end *end)
{
    return end->known && WIFSIGNALED(end->wait_status) && WTERMSIG(end->wait_status) == SIGKILL;
}

/* The rank, among those that the step is to kill, that died of SIGKILL; -1: none. */
static int killed_by_step(const struct board *board, const struct plan_step *step,
                          const struct board_step *progress, const struct rank_end *ends)
{
    if (action_of(step)->kills == KILLS_ITSELF) {
        int rank = atomic_load(&progress->rank);
        return rank >= 0 && rank < board->ranks && was_killed(&ends[rank]) ? rank : -1;
    }
    for (uint32_t v = 0; action_of(step)->kills == KILLS_VICTIMS && v < step->victims; v++) {
        int victim = step->victim[v];
        if (victim >= 0 && victim < board->ranks && was_killed(&ends[victim]))
            return victim;
    }
    return -1;
}

/* A kill of the plan, done in this incarnation, whose victim died of SIGKILL. */
static bool killed_by_plan(const struct board *board, const struct plan *plan,
                           const struct rank_end *ends, char *text, size_t bytes)
{
    int incarnation = atomic_load(&board->incarnation);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct board_step *progress = &board->progress[i];
        if (!board_step_done(board, i) || atomic_load(&progress->incarnation) != incarnation)
            continue;
        int victim = killed_by_step(board, &plan->steps[i], progress, ends);
        if (victim < 0)
            continue;
        snprintf(text, bytes, "rank %d was killed by step %u of the plan", victim, i + 1);
        return true;
    }
    return false;
}

bool ends_storage_failed(const struct board *board, const struct plan *plan, char *text,
                         size_t bytes)
{
    int incarnation = atomic_load(&board->incarnation);
    for (unsigned i = 0; i < plan->count; i++) {
        enum plan_action action = plan->steps[i].action;
        const struct board_step *progress = &board->progress[i];
        if (!actions[action].may_end_job || !board_step_done(board, i) ||
            atomic_load(&progress->incarnation) != incarnation)
            continue;
        snprintf(text, bytes, "the job gave up after step %u of the plan (%s %s, rank %d)", i + 1,
                 plan_action_text(action), plan_event_text(plan->steps[i].when.event),
                 atomic_load(&progress->rank));
        return true;
    }
    return false;
}

static bool missing_ranks(const struct board *board, const struct rank_end *ends, char *text,
                          size_t bytes)
{
    for (int rank = 0; rank < board->ranks; rank++) {
        const struct board_slot *slot = &board->slot[rank];
        int world_size = atomic_load(&slot->world_size);
        if (atomic_load(&slot->pid) == 0)
            snprintf(text, bytes, "rank %d was never started", rank);
        else if (world_size != 0 && world_size != board->ranks)
            snprintf(text, bytes,
                     "rank %d saw a world of %d, asked for were %d: the launcher is "
                     "not the one of the program's MPI library",
                     rank, world_size, board->ranks);
        else if (atomic_load(&slot->state) == RANK_ABSENT && ends[rank].known &&
                 WIFEXITED(ends[rank].wait_status) && WEXITSTATUS(ends[rank].wait_status) == 0)
            snprintf(text, bytes,
                     "rank %d ran unseen: the program is not linked with a shared MPI "
                     "library",
                     rank);
        else if (atomic_load(&slot->state) == RANK_ABSENT && ends[rank].known &&
                 WIFEXITED(ends[rank].wait_status) &&
                 WEXITSTATUS(ends[rank].wait_status) == EXIT_NOT_STARTED)
            snprintf(text, bytes, "rank %d could not be started", rank);
        else
            continue;
        return true;
    }
    return false;
}

/* Records that ours could not keep: whatever went wrong then, it is not known why. */
static bool lost_records(const struct board *board, char *text, size_t bytes)
{
    for (int rank = 0; rank < board->ranks; rank++) {
        if (atomic_load(&board->slot[rank].lost) == 0)
            continue;
        size_t used = strlen(text);
        snprintf(text + used, bytes - used, "; but the trace of rank %d is incomplete", rank);
        return true;
    }
    return false;
}

/* When one rank fails the launcher takes the others down, and what they were saying to it breaks
 * off: the one whose end tells most comes first. */
static int how_telling(const struct board *board, const struct rank_end *end)
{
    if (!end->known)
        return 0;
    if (was_killed(end)) /* by whom? only its own parent saw it before the launcher cleaned up */
        return atomic_load(&board->slot[end->rank].ended) != 0 ? 1 : 0;
    if (WIFSIGNALED(end->wait_status)) {
        int number = WTERMSIG(end->wait_status);
        return number == SIGPIPE || number == SIGTERM ? 3 : 5;
    }
    if (WEXITSTATUS(end->wait_status) != 0)
        return 4;
    return end->finalized ? 0 : 2;
}

static bool failed_rank(const struct board *board, const struct rank_end *ends, char *text,
                        size_t bytes)
{
    int worst = -1, most = 0;
    for (int rank = 0; rank < board->ranks; rank++) {
        int telling = how_telling(board, &ends[rank]);
        if (telling > most) {
            most = telling;
            worst = rank;
        }
    }
    if (worst < 0)
        return false;
    char how[DESCRIBE_BYTES];
    ends_describe(&ends[worst], how, sizeof how);
    snprintf(text, bytes, "rank %d %s, not by a fault of the plan", worst, how);
    return true;
}

static bool all_finished(const struct board *board, const struct rank_end *ends)
{
    for (int rank = 0; rank < board->ranks; rank++)
        if (!ends[rank].known || ends[rank].wait_status != 0 || !ends[rank].finalized)
            return false;
    return true;
}

enum launch_end ends_classify(const struct board *board, const struct plan *plan,
                              const struct rank_end *ends, char *text, size_t bytes)
{
    if (killed_by_plan(board, plan, ends, text, bytes))
        return LAUNCH_KILLED;
    if (all_finished(board, ends) && !missing_ranks(board, ends, text, bytes)) {
        snprintf(text, bytes, "every rank finished");
        return LAUNCH_FINISHED;
    }
    if (missing_ranks(board, ends, text, bytes))
        return LAUNCH_VOID;
    if (failed_rank(board, ends, text, bytes))
        return lost_records(board, text, bytes) ? LAUNCH_VOID : LAUNCH_FAILED;
    snprintf(text, bytes, "the launcher ended by itself while ranks were running");
    return LAUNCH_LOST;
}
