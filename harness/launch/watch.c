/* See watch.h. */
#include "launch/watch.h"

#include "base/regular_file.h"
#include "board/progress.h"
#include "oracles/oracle.h"
#include "stacks/stacks.h"
#include "system/path.h"
#include "system/process.h"
#include "trace/reader.h"

#include <stdio.h>
#include <string.h>

#define LOOKS_BEFORE_ANALYSIS 4
/* When the traces do not show that nothing can go on, but nothing does: looks after which what is
 * held is let go. */
#define LOOKS_BEFORE_UNSTICK 40
/* The same while a rank has not come through MPI_Init, where it may wait for one that is stopped.
 */
#define LOOKS_AT_START 160
/* The same where a process has died, or left without MPI_Finalize: as long the MPI library may take
 * to inform the others, and the launcher to end them. */
#define LOOKS_BEFORE_DETECTION 200
/* A rank that polls had as many chances to see something: before what is held is let go, and before
 * the job has stalled. */
#define POLLS_IN_VAIN 100
#define POLLS_OF_A_STALL 1000

void watch_init(struct watch *watch, int ranks, bool engine_decides)
{
    memset(watch, 0, sizeof *watch);
    watch->ranks = ranks;
    watch->engine_decides = engine_decides;
    watch->analyse_at = LOOKS_BEFORE_ANALYSIS;
}

static bool is_alive(const struct board_slot *slot)
{
    return atomic_load(&slot->pid) != 0 && atomic_load(&slot->ended) == 0;
}

/* What the ranks do, all together. */
struct board_summary {
    int live, dead;      /* a process that has finished is neither */
    bool moves;          /* one is neither blocked, stopped nor polling in vain, nor in MPI_Init */
    bool starts;         /* one is in MPI_Init or before */
    bool changed;        /* since the look before */
    bool polls;          /* one is not blocked, but may be polling in vain */
    bool steered;        /* something is held or stopped, or waits for a choice of the plan */
    uint64_t polls_each; /* polls in vain, at least, of each of those that poll */
};

static void summarise_board(const struct board_slot *slot, struct watched *watched,
                            struct board_summary *summary)
{
    uint64_t call = atomic_load(&slot->blocking_call);
    bool stopped = board_is_stopped(slot);
    uint64_t polled_at = call == 0 && !stopped ? atomic_load(&slot->polled_at) : 0;
    uint64_t polls = atomic_load(&slot->polls);
    bool changed =
        watched->call != call || watched->stopped != stopped || watched->polled_at != polled_at;
    if (changed)
        *watched = (struct watched){call, polled_at, polls, stopped};
    summary->changed |= changed;
    bool starts = call == 0 && !stopped && atomic_load(&slot->state) < RANK_INITIALIZED;
    summary->starts |= starts;
    summary->moves |= call == 0 && !stopped && polled_at == 0 && !starts;
    summary->polls |= polled_at != 0;
    if (polled_at != 0 && polls - watched->polls < summary->polls_each)
        summary->polls_each = polls - watched->polls;
    summary->steered |= stopped || atomic_load(&slot->held) > 0 || atomic_load(&slot->choosing) > 0;
}

static struct board_summary summary(struct watch *watch, const struct board *board)
{
    struct board_summary all = {.polls_each = UINT64_MAX};
    for (int rank = 0; rank < watch->ranks; rank++) {
        const struct board_slot *slot = &board->slot[rank];
        all.moves |= atomic_load(&slot->pid) == 0; /* it is being started */
        all.dead += atomic_load(&slot->ended) != 0 && (atomic_load(&slot->wait_status) != 0 ||
                                                       atomic_load(&slot->state) != RANK_FINALIZED);
        if (!is_alive(slot))
            continue;
        all.live++;
        summarise_board(slot, &watch->rank[rank], &all);
    }
    return all;
}

static void describe(const struct hang *hang, char *text, size_t bytes)
{
    size_t count = hang->cycle > 0 ? hang->cycle : hang->count;
    size_t used = (size_t)snprintf(text, bytes,
                                   "every live rank is blocked and nothing is in "
                                   "flight");
    for (size_t i = 0; i < count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "; %s", hang->waits[i].text);
    if (hang->why != NULL && used < bytes)
        snprintf(text + used, bytes - used, "; %s", hang->why);
}

static bool analyse(const struct board *board, int ranks, const char *run_folder, char *text,
                    size_t bytes)
{
    static bool alive[BOARD_MAX_RANKS];
    struct trace_set traces;
    struct hang hang = {0};
    for (int rank = 0; rank < ranks; rank++)
        alive[rank] = is_alive(&board->slot[rank]) && !board_is_stopped(&board->slot[rank]);
    if (trace_set_open_run(run_folder, &traces, NULL) == OK)
        hang_analyse(&traces, alive, ranks, &hang);
    bool deadlocked = hang.deadlocked;
    if (deadlocked)
        describe(&hang, text, bytes);
    hang_release(&hang);
    trace_set_release(&traces);
    return deadlocked;
}

/* Ranks that still are where they were when the traces were read: what was read is what is. */
static bool unchanged(struct watch *watch, const struct board *board)
{
    return !summary(watch, board).changed;
}

static void restart_looks(struct watch *watch)
{
    watch->same = 0;
    watch->analyse_at = LOOKS_BEFORE_ANALYSIS;
    for (int rank = 0; rank < watch->ranks; rank++)
        watch->rank[rank].polled_at = 0; /* so that polls are counted anew */
}

/* The longest that time alone may still keep anything: no look before its end shows anything. */
static unsigned looks_of_delays(const struct board *board, const struct plan *plan)
{
    uint32_t longest_ms = 0;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (step->release_ms > longest_ms && board_step_done(board, i) &&
            atomic_load(&board->progress[i].released) == 0)
            longest_ms = step->release_ms;
    }
    return longest_ms / WATCH_PERIOD_MS;
}

/* Looks that show nothing yet: of all that takes its time, the longest. */
static unsigned looks_to_wait(const struct board *board, const struct plan *plan,
                              const struct board_summary *now)
{
    unsigned looks = now->steered ? looks_of_delays(board, plan) : 0;
    bool undetected = now->dead > 0 && looks < LOOKS_BEFORE_DETECTION;
    return undetected ? LOOKS_BEFORE_DETECTION : looks;
}

bool watch_look(struct watch *watch, struct board *board, const struct plan *plan,
                const char *run_folder, char *text, size_t bytes)
{
    if (watch->ranks >= board->ranks)
        watch->ranks = board_processes(board); /* some may have come since the look before */
    struct board_summary now = summary(watch, board);
    if (atomic_load(&board->stuck) != 0)
        return analyse(board, watch->ranks, run_folder, text, bytes);
    if (watch->steered && !now.steered)
        restart_looks(watch); /* what was let go has to be noticed first */
    watch->steered = now.steered;
    bool idle = now.live > 0 && !now.moves && !now.changed && (now.steered || !now.starts);
    watch->in_vain = idle && now.polls && !now.steered;
    watch->polls = now.polls_each;
    if (!idle) {
        watch->same = 0;
        watch->analyse_at = LOOKS_BEFORE_ANALYSIS;
        return false;
    }
    watch->same++;
    if (watch->engine_decides)
        return false;
    bool stuck = false;
    unsigned delays = looks_to_wait(board, plan, &now);
    if (watch->same <= delays)
        return false;
    if (!now.polls && !now.starts && watch->same >= watch->analyse_at) {
        /* Reading a long trace costs: a job that is merely slow is looked at ever more rarely. */
        watch->analyse_at *= 2;
        stuck = analyse(board, watch->ranks, run_folder, text, bytes) && unchanged(watch, board);
    }
    if (!now.steered)
        return stuck;
    unsigned enough = delays + (now.starts ? LOOKS_AT_START : LOOKS_BEFORE_UNSTICK);
    if (stuck || (watch->same >= enough && now.polls_each >= POLLS_IN_VAIN)) {
        progress_unstick(board);
        restart_looks(watch);
    }
    return false;
}

bool watch_has_stalled(const struct watch *watch, const struct board *board, double seconds)
{
    if (!watch->in_vain || watch->polls < POLLS_OF_A_STALL ||
        watch->same * (WATCH_PERIOD_MS / 1e3) < seconds)
        return false;
    for (int rank = 0; rank < watch->ranks; rank++)
        if (is_alive(&board->slot[rank]) &&
            process_has_busy_threads(atomic_load(&board->slot[rank].pid)))
            return false;
    return true;
}

void watch_write_stacks(const struct board *board, const char *run_folder)
{
    pid_t pids[BOARD_MAX_RANKS];
    int ranks[BOARD_MAX_RANKS];
    size_t count = 0;
    for (int rank = 0; rank < board_processes(board); rank++) {
        if (!is_alive(&board->slot[rank]))
            continue;
        pids[count] = atomic_load(&board->slot[rank].pid);
        ranks[count++] = rank;
    }
    struct path path;
    FILE *out = path_format(&path, NULL, "%s/stacks.txt", run_folder) == OK
                    ? regular_create(path.text, NULL)
                    : NULL;
    if (out == NULL)
        return;
    struct error error = {0};
    if (stacks_write(pids, ranks, count, out, &error) != OK)
        fprintf(out, "no call stacks: %s\n", error.text);
    fclose(out);
}
