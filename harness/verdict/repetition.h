/* A stored run and one that has followed it: the same, or where not. For whoever repeats runs:
 *
 *     struct recorded recorded;                     a stored run: its scenario, plan, decisions
 *     recorded_open(FOLDER, &recorded, &error);
 *     ...                                           a run that follows it (run_follow), in OUT
 *     replay_compare(&recorded, OUT, &replayed, &error);
 *     recorded_release(&recorded);
 */
#ifndef VERDICT_REPETITION_H
#define VERDICT_REPETITION_H

#include "decisions/decisions.h"
#include "run/run.h"
#include "verdict/fingerprint.h"

#define REPLAYED_TEXT_BYTES 768
#define REPLAY_WARNINGS 4

/* A stored run that is to be followed. `run` and what it points to is as it was stored. */
struct recorded {
    struct run run;
    struct scenario_list owner; /* of the scenario */
    struct path decisions;
    struct decisions_identity identity;
    struct fingerprint fingerprint;
    bool has_choices; /* the step engine has run it */
};

/* ERROR_USAGE: the folder is none of a run, or has no decisions (they are kept of runs that did not
 * pass, and with --keep); ERROR_FORMAT, ERROR_VERSION: its files are damaged, or of another
 * version. Released with recorded_release in any case. */
enum error_code recorded_open(const char *folder, struct recorded *recorded, struct error *error);
void recorded_release(struct recorded *recorded);

/* What is not what it was then, a sentence each: Faultline, the protocol, the program; of the MPI
 * library only after a replay (replayed.other_mpi). Returns how many there are. */
unsigned recorded_changes(const struct recorded *recorded,
                          char text[REPLAY_WARNINGS][REPLAYED_TEXT_BYTES]);

/* Those that follow it are run by this engine, "mpiexec" or "step"; NULL: by its own. */
void recorded_set_engine(struct recorded *recorded, const char *engine);

enum replay_end {
    REPLAY_SAME,     /* the same decisions, the same fingerprint */
    REPLAY_DIVERGED, /* a rank came to something else than then; text: where, and what */
    REPLAY_OTHER, /* the same decisions, another verdict: something is decided that nobody sees */
    REPLAY_VOID,  /* it was not run: the launcher, the machine, an interruption */
};

struct replayed {
    enum replay_end end;
    bool other_mpi;                 /* the ranks had another MPI library than then */
    int longer_store;               /* bytes of the store's path, if it had less then; else 0 */
    char text[REPLAYED_TEXT_BYTES]; /* why; empty: REPLAY_SAME */
};

/* What became of the job that ran in `folder`. Errors: what cannot be read. */
enum error_code replay_compare(const struct recorded *recorded, const char *folder,
                               struct replayed *replayed, struct error *error);

/* "replayed 20/20", "replayed 17/20, 95 % interval 0.64 to 0.95". */
#define REPLAY_RATE_BYTES 96
void replay_rate_text(unsigned same, unsigned tries, char text[REPLAY_RATE_BYTES]);

#endif
