/* The ranks of the step engine are forked from one process, in which the program has run up to its
 * first MPI call and the MPI library has been initialized once, for itself alone. */
#ifndef ENGINE_ZYGOTE_ZYGOTE_H
#define ENGINE_ZYGOTE_ZYGOTE_H

#include <stdbool.h>

#define ENGINE_ENVIRONMENT "FAULTLINE_ENGINE" /* "step": ranks are run by the engine */
/* The process that the driver has started, by number: children of it, before its first MPI call,
 * are no zygotes. */
#define ENGINE_PROCESS_ENVIRONMENT "FAULTLINE_ENGINE_PROCESS"
#define ENGINE_SEED_ENVIRONMENT "FAULTLINE_ENGINE_SEED" /* what decisions are drawn from */
#define ENGINE_GIVEN_ENVIRONMENT                                                                   \
    "FAULTLINE_ENGINE_GIVEN" /* run folder whose decisions are followed first */
/* A number from 1: the run is explored, and so often a poll is answered at once
 * (engine/core/transition.h); who sleeps lies beside what is given. */
#define ENGINE_EXPLORE_ENVIRONMENT "FAULTLINE_ENGINE_EXPLORE"
/* Set: what is not synced may be lost in a run that is explored. */
#define ENGINE_LOSES_ENVIRONMENT "FAULTLINE_ENGINE_LOSES"
#define ENGINE_POLICY_ENVIRONMENT "FAULTLINE_ENGINE_POLICY" /* see engine/core/policy.c */
#define ENGINE_CHOICES_FILE "choices" /* in the run folder: the decisions that were taken */

/* Settings of UCX and hwloc, below MPICH, with which the process is started. No network is looked
 * for, no device of this machine, and no plugins or modules: that takes half off MPI_Init, and
 * spares each fork of a rank the tables of some twenty libraries. (/dev/null is no folder, so no
 * plugin is found there.) What the user has set stays; the ranks do not see what we have set. */
static const char *const zygote_settings[][2] = {{"UCX_TLS", "self"},
                                                 {"UCX_MODULES", "none"},
                                                 {"HWLOC_COMPONENTS", "-linuxio"},
                                                 {"HWLOC_PLUGINS_PATH", "/dev/null"}};
#define ZYGOTE_SETTINGS (sizeof zygote_settings / sizeof zygote_settings[0])

/* This process is asked to be a zygote. */
bool zygote_is_asked_for(void);

/* Initializes the MPI library, forks the ranks of the run, looks after them and ends as they do.
 * Returns in each rank, with its environment and output, when it is given the token for the first
 * time. `library` is the MPI library's own until then. */
void zygote_become_rank(void);

/* The same where the program ends without an MPI call: the MPI library is left alone. */
void zygote_end_as_rank(void);

/* This process is the one that the driver has started. */
bool zygote_is_program(void);

#endif
