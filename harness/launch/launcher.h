/* What starts the ranks of an incarnation. Everything that holds for one kind of launcher alone
 * stands in its own file; all others ask through this table. What is the same for every kind (the
 * board, the time limit, looking for deadlocks, output files, call stacks, how ranks ended) is
 * launch.c's. */
#ifndef LAUNCH_LAUNCHER_H
#define LAUNCH_LAUNCHER_H

#include "launch/order.h"
#include "system/path.h"
#include "system/process.h"

/* A launcher at work on one incarnation. */
struct launched {
    pid_t pid;       /* of the process that all ranks descend from; 0: it was not started */
    int line;        /* a socket to it, where it is not a child of this process; 0: it is one */
    bool ended;      /* that process has ended; set by whoever reaps */
    bool left;       /* and did so before stop was called */
    int wait_status; /* of that process; valid when it has ended */
};

/* In the forked child, with its signals and output in order: becomes what is to run.
 * Returns only if that failed. */
typedef void launcher_become(const struct launch_order *order, pid_t driver);

struct launcher {
    /* For words: the command, what makes it, and a Debian package that has it. */
    const char *name, *product, *package;
    const char *variable; /* environment variable that names another command */
    const char *mark;     /* stands in what the right product answers to --version */
    bool hides_deaths;    /* ranks can live on when one dies: their parents keep it from this one */
    /* It says itself when no rank can go on (board->stuck), and lets go what the plan keeps:
     * nothing of that may depend on how long a rank takes in real time. */
    bool decides;
    /* What each rank takes of SHARED_MEMORY in MPI_Init, bytes. */
    uint64_t shared_bytes_of_rank;
    /* When a rank dies the others can go on, and processes that they spawn are recorded. */
    bool survivors;

    /* Where the command is, absolute. ERROR_LAUNCH: there is none. */
    enum error_code (*find)(const struct launcher *self, struct path *command, struct error *error);
    /* Starts all ranks of *order. *launched is all zero; pid is set as soon as there is one. */
    enum error_code (*start)(const struct launcher *self, const struct launch_order *order,
                             struct launched *launched, struct error *error);
    launcher_become *become; /* what launcher_fork forks; NULL where start is another */
    /* Is the incarnation over, with no rank left that could go on? Never waits. */
    bool (*poll)(struct launched *launched);
    /* Ends all that start has started, also a start that failed; nothing of the incarnation lives
     * afterwards. `reaped` is called for each process of it that this process reaps. */
    void (*stop)(struct launched *launched, process_reaped *reaped, void *context);
    /* Adds to text (bytes long) how the launcher itself ended. After stop. */
    void (*explain)(const struct launched *launched, const struct launch_order *order, char *text,
                    size_t bytes);
};

extern const struct launcher launcher_hydra, launcher_hydra_ulfm, launcher_mpirun, launcher_prterun,
    launcher_step;

/* Of an engine: "step", or NULL for that of the MPI library which this command was built with. */
const struct launcher *launcher_of(const char *engine);

/* --- for launchers ---------------------------------------------------------------------------- */

/* Becomes order->launcher, which is to start the parent of each rank. `options`: its own, NULL or
 * NULL-terminated, fewer than 32. Returns only if that failed. */
void launcher_start_parents(const struct launch_order *order, pid_t driver,
                            const char *const *options);

/* Find of a launcher that is a command: what self->variable names, or self->name. */
enum error_code launcher_find(const struct launcher *self, struct path *command,
                              struct error *error);

/* Start, poll, stop and explain of a launcher that is one process with all others below it, in a
 * driver that has no other children. */
enum error_code launcher_fork(const struct launcher *self, const struct launch_order *order,
                              struct launched *launched, struct error *error);
bool launcher_has_ended(struct launched *launched);
void launcher_end_all(struct launched *launched, process_reaped *reaped, void *context);
void launcher_explain(const struct launched *launched, const struct launch_order *order, char *text,
                      size_t bytes);

#endif
