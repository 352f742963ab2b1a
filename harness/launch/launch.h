/* One incarnation of a job: the launcher is started, watched, and ended with all that came of it.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include "board/board.h"
#include "oracles/oracle.h"
#include "script/script.h"
#include "system/path.h"

#include <signal.h>

/* How one incarnation ended. */
enum launch_end {
    LAUNCH_FINISHED, /* every rank finalized and exited 0 */
    LAUNCH_KILLED,   /* a rank died by a kill of the plan: the next incarnation's turn */
    LAUNCH_FAILED,   /* a rank failed by itself */
    LAUNCH_VOID,     /* the launcher failed, ranks are missing, or it was disturbed from outside */
    LAUNCH_DEADLOCK,
    LAUNCH_TIME_LIMIT,
    LAUNCH_INTERRUPTED,
    LAUNCH_REFUSED, /* a rank asked for what the engine or the MPI library does not do */
};

/* What is the same for all incarnations of a run. */
struct launch {
    /* What is asked for; all borrowed. */
    const struct scenario *scenario;
    const char *folder;        /* of the run, absolute */
    const char *shown;         /* the same as the user would type it */
    const char *store;         /* path of the checkpoint store, as the ranks are given it */
    const char *files;         /* of the files of the scenario; empty: it has none */
    const char *followed;      /* file of the decisions that are imposed; "": none */
    const char *policy;        /* how the step engine decides; NULL, "": at random */
    int explored;              /* as of struct run */
    const char *given;         /* folder of what the step engine is to decide; "": it draws */
    enum run_end followed_end; /* how the run ended that is followed */
    bool capture;              /* false: the ranks' output is shown as it comes */
    uint64_t seed;             /* of the run */
    double timeout_s;          /* what the user allows, */
    double patience_s;         /* and what is really waited for: a run that follows has more */
    int trace_mb;              /* what the traces and output of the run may take; 0: no bound */

    /* What it is done with. */
    struct board *board;
    const struct launcher *launcher;
    struct path launcher_path; /* what its find gave */
    struct path rank_parent, preload_library, protocol, program;
    uint64_t deadline_ns; /* CLOCK_MONOTONIC: of the faults, then of the job without them */
    bool quiet;           /* the faults have stopped, or there are none */
    int signals;          /* signalfd: SIGCHLD and what interrupts */
    sigset_t mask;        /* for what is started */
};

/* What it is done with, by launch->scenario and launch->launcher: the paths. */
enum error_code launch_find_files(struct launch *launch, struct error *error);

/* Runs one incarnation to its end; nothing of it lives afterwards. ends[0 .. ranks) is filled for
 * every rank; text (bytes long) says in one sentence how it ended. */
enum error_code launch_incarnation(struct launch *launch, struct rank_end *ends,
                                   enum launch_end *end, char *text, size_t bytes,
                                   struct error *error);

#endif
