/* See ends.h. */
#include "launch/ends.h"

#include "launch/outside.h"
#include "launch/rank.h"
#include "launch/survivors.h"
#include "plan/action.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define DESCRIBE_BYTES 128

/* "exited with status 3", "was ended by SIGSEGV". */
static void ends_describe(const struct rank_end *end, char *text, size_t bytes)
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

/* In this incarnation. */
static bool done_now(const struct board *board, unsigned step)
{
    return board_step_done(board, step) &&
           atomic_load(&board->progress[step].incarnation) == atomic_load(&board->incarnation);
}

static bool is_to_kill(const struct board *board, const struct plan *plan, unsigned step,
                       int process)
{
    const struct plan_step *s = &plan->steps[step];
    if (action_of(s)->kills == KILLS_ITSELF)
        return atomic_load(&board->progress[step].rank) == process;
    for (uint32_t v = 0; action_of(s)->kills == KILLS_VICTIMS && v < s->victims; v++)
        if (s->victim[v] == process)
            return true;
    return false;
}

int ends_killer(const struct board *board, const struct plan *plan, const struct rank_end *end)
{
    for (unsigned step = 0; was_killed(end) && step < plan->count; step++)
        if (done_now(board, step) && is_to_kill(board, plan, step, end->rank))
            return (int)step;
    return -1;
}

/* The rank, among those that the step is to kill, that died of SIGKILL; -1: none. */
static int killed_by_step(const struct board *board, const struct plan_step *step,
                          const struct board_step *progress, const struct rank_end *ends)
{
    if (action_of(step)->kills == KILLS_ITSELF) {
        int rank = atomic_load(&progress->rank);
        return rank >= 0 && rank < board_processes(board) && was_killed(&ends[rank]) ? rank : -1;
    }
    for (uint32_t v = 0; action_of(step)->kills == KILLS_VICTIMS && v < step->victims; v++) {
        int victim = step->victim[v];
        if (victim >= 0 && victim < board_processes(board) && was_killed(&ends[victim]))
            return victim;
    }
    return -1;
}

int ends_killed_at_start(const struct board *board, const struct plan *plan)
{
    for (int process = 0; process < board_processes(board); process++) {
        const struct board_slot *slot = &board->slot[process];
        const struct rank_end end = {.rank = process,
                                     .known = atomic_load(&slot->ended) != 0,
                                     .wait_status = atomic_load(&slot->wait_status)};
        if (atomic_load(&slot->state) < RANK_INITIALIZED && ends_killer(board, plan, &end) >= 0)
            return process;
    }
    return -1;
}

/* mpiexec starts no further rank after such a death, so that ranks may be missing for it alone. */
static bool lost_at_start(const struct board *board, const struct survivors *survivors, char *text,
                          size_t bytes)
{
    bool needed = survivors != NULL && survivors->start_needs_all;
    int early = needed ? ends_killed_at_start(board, survivors->plan) : -1;
    if (early >= 0)
        snprintf(text, bytes,
                 "rank %d was killed before its MPI_Init had returned; under mpiexec no other rank "
                 "can live on then",
                 early);
    return early >= 0;
}

/* A kill of the plan, done in this incarnation, whose victim died of SIGKILL. */
static bool killed_by_plan(const struct board *board, const struct plan *plan,
                           const struct rank_end *ends, char *text, size_t bytes)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct board_step *progress = &board->progress[i];
        if (!done_now(board, i))
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

static bool exited_with(const struct rank_end *end, int code)
{
    return end->known && WIFEXITED(end->wait_status) && WEXITSTATUS(end->wait_status) == code;
}

/* Ranks that were no ranks of the program and its MPI library. */
static bool strange_ranks(const struct board *board, const struct rank_end *ends, char *text,
                          size_t bytes)
{
    for (int rank = 0; rank < board_processes(board); rank++) {
        const struct board_slot *slot = &board->slot[rank];
        int world_size = atomic_load(&slot->world_size);
        bool absent = atomic_load(&slot->state) == RANK_ABSENT;
        if (rank < board->ranks && world_size != 0 && world_size != board->ranks)
            snprintf(text, bytes,
                     "rank %d saw a world of %d, asked for were %d: the launcher is "
                     "not the one of the program's MPI library",
                     rank, world_size, board->ranks);
        else if (absent && exited_with(&ends[rank], 0))
            snprintf(text, bytes,
                     "rank %d ran unseen: the program is not linked with a shared MPI "
                     "library",
                     rank);
        else if (absent && exited_with(&ends[rank], EXIT_NOT_STARTED))
            snprintf(text, bytes, "rank %d could not be started", rank);
        else
            continue;
        return true;
    }
    return false;
}

/* -1: every rank has been started. */
static int rank_not_started(const struct board *board)
{
    for (int rank = 0; rank < board->ranks; rank++)
        if (atomic_load(&board->slot[rank].pid) == 0)
            return rank;
    return -1;
}

bool ends_program_runs(const struct board *board)
{
    for (int rank = 0; rank < board_processes(board); rank++) {
        const struct board_slot *slot = &board->slot[rank];
        if (atomic_load(&slot->pid) != 0 && atomic_load(&slot->ended) == 0 &&
            atomic_load(&slot->state) != RANK_INITIALIZING)
            return true;
    }
    return false;
}

/* Records that ours could not keep: whatever went wrong then, it is not known why. */
static bool lost_records(const struct board *board, char *text, size_t bytes)
{
    for (int rank = 0; rank < board_processes(board); rank++) {
        if (atomic_load(&board->slot[rank].lost) == 0)
            continue;
        size_t used = strlen(text);
        snprintf(text + used, bytes - used, "; but the trace of rank %d is incomplete", rank);
        return true;
    }
    return false;
}

/* --- failures ----------------------------------------------------------------------------------
 */

/* The rank, whose parent saw its end, failed by itself: not because the launcher was gone, nor by a
 * signal from outside. Kills of the plan count, too. */
static bool ends_is_failure(const struct board_slot *slot, const struct rank_end *end)
{
    return atomic_load(&slot->ended) != 0 && atomic_load(&slot->orphaned) == 0 &&
           (end->wait_status != 0 || !end->finalized) && !outside_ended(slot, end);
}

/* What a rank did first of these: it failed, or told the launcher to end the job. */
struct failure {
    uint64_t when_ns; /* CLOCK_MONOTONIC; 0: there is none */
    int rank;
    bool aborted;
};

static void take_earlier(struct failure *first, uint64_t when_ns, int rank, bool aborted)
{
    if (when_ns != 0 && (first->when_ns == 0 || when_ns < first->when_ns))
        *first = (struct failure){when_ns, rank, aborted};
}

/* A process that took no dead one's place, or one's that nobody waits for any more. */
static bool is_not_needed(const struct board_slot *slot, const struct rank_end *end)
{
    return atomic_load(&slot->nobody) != 0 && end->known && end->wait_status == 0;
}

/* The plan has killed some process of this incarnation. */
static bool any_killed(const struct board *board, const struct plan *plan,
                       const struct rank_end *ends)
{
    for (int process = 0; process < board_processes(board); process++)
        if (ends_killer(board, plan, &ends[process]) >= 0)
            return true;
    return false;
}

/* The launcher then takes the others down: only what a rank's own parent saw counts. Where the
 * others go on (survivors is not NULL) the kills of the plan do not count, nor do processes that
 * are no rank and leave; nor, where the job starts again, who exits after such a kill. */
static struct failure first_failure(const struct board *board, const struct survivors *survivors,
                                    const struct rank_end *ends)
{
    struct failure first = {0};
    const struct plan *plan = survivors != NULL ? survivors->plan : NULL;
    bool leaves = plan != NULL && survivors->may_leave && any_killed(board, plan, ends);
    for (int rank = 0; rank < board_processes(board); rank++) {
        const struct board_slot *slot = &board->slot[rank];
        bool meant = plan != NULL && (ends_killer(board, plan, &ends[rank]) >= 0 ||
                                      is_not_needed(slot, &ends[rank]) ||
                                      (leaves && WIFEXITED(ends[rank].wait_status)));
        if (!meant && ends_is_failure(slot, &ends[rank]))
            take_earlier(&first, atomic_load(&slot->ended_ns), rank, false);
        take_earlier(&first, atomic_load(&slot->aborted_ns), rank, true);
    }
    return first;
}

void ends_collect(const struct board *board, const struct survivors *survivors,
                  struct rank_end *ends)
{
    int incarnation = atomic_load(&board->incarnation);
    for (int rank = 0; rank < board_processes(board); rank++) {
        const struct board_slot *slot = &board->slot[rank];
        ends[rank].rank = rank;
        ends[rank].incarnation = incarnation;
        ends[rank].finalized = atomic_load(&slot->state) == RANK_FINALIZED;
        if (atomic_load(&slot->ended) != 0) {
            ends[rank].known = true;
            ends[rank].wait_status = atomic_load(&slot->wait_status);
        }
        ends[rank].aborted = atomic_load(&slot->aborted_ns) != 0;
        ends[rank].by_itself = ends[rank].known && WIFSIGNALED(ends[rank].wait_status) &&
                               atomic_load(&slot->sent_itself) == WTERMSIG(ends[rank].wait_status);
        ends[rank].first = false;
    }
    struct failure first = first_failure(board, survivors, ends);
    if (first.when_ns != 0)
        ends[first.rank].first = true;
}

static void describe_failure(const struct failure *failure, const struct rank_end *ends, char *text,
                             size_t bytes)
{
    char how[DESCRIBE_BYTES];
    ends_describe(&ends[failure->rank], how, sizeof how);
    if (failure->aborted)
        snprintf(text, bytes, "rank %d aborted the job (MPI_Abort, or an MPI error that is fatal)",
                 failure->rank);
    else
        snprintf(text, bytes, "rank %d %s, not by a fault of the plan", failure->rank, how);
}

/* No rank of the program has any part in what becomes of the library's own MPI_Init. */
static enum launch_end judge_failure(const struct board *board, const struct failure *failure,
                                     const struct rank_end *ends, char *text, size_t bytes)
{
    describe_failure(failure, ends, text, bytes);
    size_t used = strlen(text);
    if (atomic_load(&board->slot[failure->rank].state) == RANK_INITIALIZING) {
        snprintf(text + used, bytes - used,
                 ", inside MPI_Init of the MPI library: what that needs is the launcher and the "
                 "machine");
        return LAUNCH_VOID;
    }
    return lost_records(board, text, bytes) ? LAUNCH_VOID : LAUNCH_FAILED;
}

static bool all_finished(const struct board *board, const struct rank_end *ends)
{
    for (int rank = 0; rank < board_processes(board); rank++)
        if (!ends[rank].known || ends[rank].wait_status != 0 || !ends[rank].finalized)
            return false;
    return true;
}

uint64_t ends_failed_ns(const struct board *board, const struct rank_end *ends)
{
    return first_failure(board, NULL, ends).when_ns;
}

enum launch_end ends_classify(const struct board *board, const struct plan *plan,
                              const struct survivors *survivors, const struct rank_end *ends,
                              char *text, size_t bytes)
{
    struct failure failure = first_failure(board, survivors, ends);
    int missing = rank_not_started(board);
    if (outside_disturbed(board, ends, failure.when_ns, text, bytes))
        return LAUNCH_VOID;
    if (survivors == NULL && killed_by_plan(board, plan, ends, text, bytes))
        return LAUNCH_KILLED;
    if (lost_at_start(board, survivors, text, bytes) || strange_ranks(board, ends, text, bytes))
        return LAUNCH_VOID;
    if (all_finished(board, ends)) {
        snprintf(text, bytes, "every rank finished");
        return LAUNCH_FINISHED;
    }
    if (outside_signalled(board, failure.when_ns, text, bytes))
        return LAUNCH_VOID;
    if (failure.when_ns != 0)
        return judge_failure(board, &failure, ends, text, bytes);
    if (missing < 0 && survivors != NULL)
        return survivors_classify(survivors, board, ends, text, bytes);
    if (missing >= 0)
        snprintf(text, bytes, "rank %d was never started", missing);
    else
        snprintf(text, bytes, "the launcher ended while ranks were running, and none had failed");
    return LAUNCH_VOID;
}
