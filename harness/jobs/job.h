/* One run in a process of its own: it owns the job's processes, judges, and leaves run.json,
 * verdict.json and its piece of TAP in the run folder. The process's exit status is the run's. */
#ifndef JOBS_JOB_H
#define JOBS_JOB_H

#include "cli/options.h"
#include "run/run.h"
#include "script/script.h"
#include "stacks/event_list.h"
#include "system/path.h"
#include "system/status.h"

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_DONE };

struct job {
    const struct scenario *scenario; /* borrowed */
    struct scenario bare; /* of a reference: shares everything with the scenario that asked for
                             it, but has no plan and the protocol "null"; never released */
    struct path program;  /* of a reference: which executable that is; else empty */
    bool is_reference;
    const struct job *reference; /* to be done before; NULL: none */
    const char *explored; /* folder of what the step engine is to decide in a run whose transitions
                             are written down; NULL: none. Borrowed */
    char policy[RUN_POLICY_BYTES]; /* of the step engine (engine/core/policy.c); empty: its own */
    const struct run *followed; /* a stored run whose decisions are imposed (replay.h); NULL: none.
                                   Borrowed */
    struct event_list wanted;   /* of a run that follows: where call stacks are to be kept */
    bool twice;                 /* on the step engine it is made twice, and compared (twice.h) */
    bool leaves_memory;   /* when it is done, its folder may be in memory: who started it keeps
                             or removes it (run_folder.h) */
    bool short_of_memory; /* it, or a run beside it: of the pool */
    bool takes_vacuous;   /* of a campaign: a vacuous run is nothing to be looked at */
    int number;           /* of the TAP line; of a reference: from 1 by themselves */
    uint64_t round;       /* which of several runs of the same: on the step engine each has a
                             seed of its own, the first (0) that which is asked for */
    struct path folder;   /* as the user would type it */
    enum job_state state;
    pid_t pid;
    int status;      /* enum exit_status, when done */
    int wait_status; /* of the process, when done */
    bool cut_off;    /* interrupted: it neither passed nor failed. Set by who started it */
    double seconds;
    uint64_t start_ns;
};

/* Makes it the reference of the scenario: the same call under the protocol "null", without plan,
 * expectations, ranks in reserve and helpers of the protocol. Number and folder are the caller's.
 */
void job_refer_to(struct job *job, const struct scenario *scenario);

/* It is one that job_refer_to made for this scenario or one that is called the same way; that the
 * executable is the same is not looked at. */
bool job_refers_to(const struct job *job, const struct scenario *scenario);

/* Forks. `mask` is the signal mask for the job. */
enum error_code job_start(struct job *job, const struct options *options, const sigset_t *mask,
                          struct error *error);

/* A reference is not judged: it has finished, or it is of no use (STATUS_HARNESS). */
enum exit_status status_of_reference(const struct run *run);

/* The run of a job that is done was interrupted by the user before its end. */
bool job_was_cut_off(const struct job *job);

/* The piece of TAP, copied to each of `out` that is not NULL. A job that left none gets one that
 * says how it ended. */
void job_print(const struct job *job, FILE *const *out, size_t out_count);

#endif
