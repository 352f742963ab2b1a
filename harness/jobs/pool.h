/* Jobs that run at once: started, waited for, interrupted. What a verb that makes many runs stands
 * on. Must not know: which jobs there are, in what order they are printed, or why they are run. */
#ifndef JOBS_POOL_H
#define JOBS_POOL_H

#include "cli/options.h"
#include "jobs/job.h"

#include <signal.h>

#define POOL_MAX_JOBS OPTIONS_MAX_JOBS /* at once */

/* A pool that is all 0 was never opened, and may be closed. */
struct pool {
    const struct options *options;  /* borrowed; its `jobs` is the room */
    struct job *job[POOL_MAX_JOBS]; /* that run, or are done and not yet waited for; borrowed */
    int running;                    /* entries used in job[] */
    int interrupted; /* signal that asks for the end; 0: none. The first was passed on to the jobs,
                        a second ends everything at once */
    bool open;
    int signals;   /* signalfd, while open */
    sigset_t mask; /* as it was before */
};

/* Blocks SIGCHLD and what interrupts, and takes in what the jobs may orphan: the calling process
 * has no other children. ERROR_LAUNCH. */
enum error_code pool_open(struct pool *pool, const struct options *options, struct error *error);

/* Ends what still runs. The signal mask is what it was. */
void pool_close(struct pool *pool);

/* There is room for one more, and nobody has interrupted. */
bool pool_has_room(const struct pool *pool);

/* The job is lent to the pool until it is done. On the step engine its folder is made in memory
 * (run_folder.h); it is brought to the disk when the job is done, unless the job `leaves_memory`.
 * ERROR_LAUNCH: it was not started. */
enum error_code pool_start(struct pool *pool, struct job *job, struct error *error);

/* The next job that is done (state, status, wait_status and seconds are filled), or NULL: nothing
 * runs, timeout_ms (-1: no limit) went by, or a signal came. */
struct job *pool_wait(struct pool *pool, int timeout_ms);

/* Of a pool in which nothing runs: waits for timeout_ms, or for a signal. */
void pool_pause(struct pool *pool, int timeout_ms);

#endif
