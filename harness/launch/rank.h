/* The parent of one rank: `faultline exec` as the launcher starts it. It forks and execs the rank,
 * notes its life and end on the board, sends it the kills that come from outside, and then ends the
 * same way, so that the launcher does what it would do. Must not know: scenarios, verdicts. */
#ifndef LAUNCH_RANK_H
#define LAUNCH_RANK_H

#include "base/error.h"
#include "launch/lookout.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* "ignored": SIGPIPE is, in the ranks, unless they say otherwise. */
#define SIGPIPE_ENVIRONMENT "FAULTLINE_SIGPIPE"

#define EXIT_NOT_STARTED 127 /* as a shell says it; also the dynamic linker */

/* All pointers are borrowed. */
struct rank_job {
    const char *run;                /* run folder, absolute */
    const char *preload;            /* LD_PRELOAD of the rank; an existing one is appended */
    const char *const *environment; /* "NAME=value" for the rank only */
    size_t environment_count;
    char *const *command;          /* NULL-terminated */
    bool capture;                  /* standard output and error go to files in the run folder */
    bool owns;                     /* what the rank leaves behind is ended with it */
    int first;                     /* number of rank 0 of the MPI_COMM_WORLD that the rank is in */
    pid_t watch;                   /* this process ending ends the rank; 0: none */
    const struct lookout *lookout; /* on the whole job; NULL: none. The parent of rank 0 asks it */
};

/* LD_PRELOAD with `list` in front of what there is, but after the runtime of a sanitiser; owned by
 * the caller, NULL without memory. */
char *rank_preload(const char *list);

/* Returns only when the rank could not be started. */
enum error_code rank_parent(const struct rank_job *job, struct error *error);

#endif
