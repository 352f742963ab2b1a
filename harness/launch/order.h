/* What a launcher is to start, the same for every kind of launcher. */
#ifndef LAUNCH_ORDER_H
#define LAUNCH_ORDER_H

#include "launch/launch.h"

#define ORDER_SETTINGS 13 /* variables of ours */

struct launch_order {
    int ranks;
    bool survivors;       /* when a rank dies the others go on */
    uint64_t seed;        /* of what the step engine decides */
    const char *folder;   /* of the run, absolute; borrowed */
    const char *shown;    /* the same as the user would type it; borrowed */
    const char *launcher; /* the launcher's command, absolute; borrowed */
    const char *parent;   /* the command that is the parent of a rank, absolute; borrowed */
    const sigset_t *mask; /* signals that are blocked in what is started; borrowed */
    struct path preload;  /* LD_PRELOAD of the ranks */
    /* "NAME=value" for the ranks; of two with one name the last holds, so settings come last. */
    size_t environment_count;
    const char *environment[ORDER_SETTINGS + 2 * SCENARIO_MAX_ENVIRONMENT];
    const char *command[SCENARIO_MAX_ARGUMENTS + 2]; /* program, arguments, NULL; borrowed */
    size_t setting_count;
    char *setting[ORDER_SETTINGS]; /* owned */
};

/* Of the board's incarnation, the first where there is no board. Borrows from *launch. ERROR_LIMIT.
 * order_release in either case. */
enum error_code order_make(const struct launch *launch, struct launch_order *order,
                           struct error *error);
void order_release(struct launch_order *order);

/* Unsets in this process what a surrounding run or `exec` may have left: it means that one. */
void order_forget_outer_run(void);

/* The job of a batch system (Slurm, PBS, LSF) that this process is part of: a launcher which sees
 * it has the batch system start its ranks, on whatever hosts and out of the driver's reach. */
void order_forget_batch_job(void);
/* "NAME=value" is one of these. */
bool order_is_of_outer_run(const char *entry);

#endif
