/* One run of one scenario: what was asked, and what was seen. Launches, watches, restarts after the
 * plan's kills, and leaves nothing behind. Must not know: verdicts, TAP, other runs. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "oracles/oracle.h"
#include "script/script.h"
#include "stacks/event_list.h"
#include "system/path.h"

#include <signal.h>

#define RUN_TEXT_BYTES 1024
#define RUN_DEFAULT_TIMEOUT_S 60.0
#define RUN_POLICY_BYTES 384 /* with GUIDED_BRANCHES branches */
#define RUN_DEFAULT_TRACE_MB 4000

struct run {
    /* Asked for. */
    const struct scenario *scenario; /* borrowed */
    int number;                      /* from 1, of the TAP line and the folder */
    uint64_t seed;
    double timeout_s;   /* for the faults, all incarnations together; then once more without them */
    int trace_mb;       /* most that traces and output of all incarnations may take; 0: no bound */
    bool capture;       /* false: the ranks' output is shown as it comes */
    bool recorded;      /* by `exec`: nobody looked after it, and there are only its traces */
    bool reference;     /* this is the run without faults that others are compared with */
    struct path folder; /* absolute */
    struct path shown;  /* the same as the user would type it */
    struct path store;  /* of the checkpoint store, as the ranks are given it */
    struct path files;  /* of the files of the scenario, likewise; empty: it has none */
    int store_bytes;    /* how long that is; before: as it is to be, 0: as it comes */
    char followed[PATH_MAX];       /* file of the decisions that are imposed; empty: none */
    char given[PATH_MAX];          /* folder of the run whose decisions the step engine is given in
                                      place of that; empty: none */
    enum run_end followed_end;     /* how the run ended that is followed */
    char policy[RUN_POLICY_BYTES]; /* how the step engine decides; empty: at random */
    int explored; /* the step engine writes its transitions down, and answers a poll so often at
                   * once; 0: it does not */
    struct event_list wanted; /* of a run that follows: events at which call stacks are kept */

    /* Seen. */
    enum run_end end;
    char end_text[RUN_TEXT_BYTES];
    int incarnations;
    struct step_fact steps[PLAN_MAX_STEPS]; /* one per step of the plan */
    double seconds;
    size_t rank_end_count;
    struct rank_end *rank_ends; /* owned */

    /* Of the run without faults; none when the claims do not ask for it. */
    size_t reference_count;
    struct reference_result *references; /* owned */
    bool unreceived_known;               /* what the run without faults leaves unreceived */
    size_t unreceived_count;
    struct unreceived *unreceived; /* owned */
    bool reference_failed;         /* they were to be had, and are not */
    char
        reference_text[PATH_MAX + RUN_TEXT_BYTES]; /* why there are none, or where they come from */
};

/* A run of `scenario`, which is borrowed and must live on. To be released. */
void run_init(struct run *run, const struct scenario *scenario);
void run_release(struct run *run);

/* As run_init, of an empty scenario, which *owner holds: returned to be filled. */
struct scenario *run_init_owned(struct run *run, struct scenario_list *owner);

/* *run, not yet executed, is to follow the decisions of the stored run `recorded`, with its limits,
 * and is compared with the same run without faults. Where both are the step engine's it is given
 * what that decided, and does the same by itself; else the decisions are imposed on the ranks. */
void run_follow(struct run *run, const struct run *recorded);

/* The step engine has run it, and left what it decided. */
bool run_has_choices(const struct run *run);

/* A run on which the decisions of another are imposed has so many times the limit of others: its
 * ranks wait for each other where they did not then. */
#define FOLLOWED_PATIENCE 4

/* Makes the folder, runs the job to its end, and fills what was seen. The calling process must be
 * one that has no other children: all descendants are ended. On an error the run is VOID with the
 * error's text, and nothing runs any more. */
enum error_code run_execute(struct run *run, struct error *error);

/* The results that the ranks declared in their last incarnation, from the traces of `folder`; the
 * newest for each rank and name. *results is owned by the caller. */
enum error_code run_results(const char *folder, struct reference_result **results, size_t *count,
                            struct error *error);

/* What the finished run without faults in `folder` leaves unreceived, into *run. */
enum error_code run_take_unreceived(struct run *run, const char *folder, struct error *error);

/* The facts for the oracles; pointers are borrowed from *run. */
struct run_facts run_facts_of(const struct run *run);

/* run.json of the run folder: written, and read again. *owner holds the scenario that *run then
 * borrows; both are the caller's to release, also after an error. */
enum error_code run_store(const struct run *run, struct error *error);
enum error_code run_load(const char *folder, struct run *run, struct scenario_list *owner,
                         struct error *error);

/* There are traces, and no run.json: what `exec` leaves. */
bool run_is_recorded(const char *folder);

/* The same of such a folder, from its traces alone; the claims are H. */
enum error_code run_load_recorded(const char *folder, struct run *run, struct scenario_list *owner,
                                  struct error *error);

#endif
