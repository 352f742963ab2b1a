/* The plan: what a run is to suffer, as plain data. A scenario builds one; the driver writes it to
 * `plan` in the run folder as text, one step a line; libfaultline.so reads it. No Lua here, no MPI,
 * libc only. The text form is made for people too and is complete: parse(print(plan)) == plan.
 *
 * Steps are done one after the other, across incarnations: step i is armed when step i-1 is done
 * (board->step); the first is armed at the start. A step with a condition waits until it holds, a
 * step without one is done at once by whichever rank armed it. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_MAX_STEPS 256
#define PLAN_MAX_VICTIMS 64
#define PLAN_NAME_BYTES 64

/* What a rank can be seen doing. name in scenarios and plan text; what it is. */
#define PLAN_EVENTS(X)                                                                             \
    X(NONE, "none")                                                                                \
    X(SEND, "send")             /* a send is started (any mode, Start of a persistent one) */      \
    X(RECV, "recv")             /* a receive is posted */                                          \
    X(DELIVER, "deliver")       /* a received message is handed over (only position "after") */    \
    X(WAIT, "wait")             /* any of the Wait and Test calls */                               \
    X(PROBE, "probe")           /* any of the probe calls */                                       \
    X(COLLECTIVE, "collective") /* any collective, blocking or not */                              \
    X(CALL, "call")             /* any MPI call; give `call` to say which */                       \
    X(CHECKPOINT, "checkpoint") /* the following: told through faultline.h */                      \
    X(SAVED, "saved")                                                                              \
    X(COMMIT, "commit")                                                                            \
    X(RESTORED, "restored")                                                                        \
    X(STOP_LOG, "stop-log")                                                                        \
    X(PHASE, "phase") /* give `name` to say which */                                               \
    X(RESULT, "result")

enum plan_event {
#define X(name, text) EVENT_##name,
    PLAN_EVENTS(X)
#undef X
        EVENT_COUNT
};

#define PLAN_ACTIONS(X)                                                                            \
    X(AWAIT, "await") /* only wait for the condition */                                            \
    X(KILL, "kill")   /* SIGKILL to every victim */

enum plan_action {
#define X(name, text) ACTION_##name,
    PLAN_ACTIONS(X)
#undef X
        ACTION_COUNT
};

/* Where in the call: before it is passed on, after it returned, or (kill only) from outside while
 * the rank is inside it. */
enum plan_position { POSITION_BEFORE = 0, POSITION_AFTER = 1, POSITION_INSIDE = 2 };

/* PLAN_ANY in an int field: not asked for. */
#define PLAN_ANY INT32_MIN

struct plan_condition {
    enum plan_event event; /* EVENT_NONE: no condition */
    int32_t rank;          /* whose event; PLAN_ANY: any rank's */
    int32_t incarnation;   /* PLAN_ANY: any */
    int32_t peer;          /* world rank */
    int32_t tag;
    uint32_t comm; /* id; 0: any */
    int64_t epoch; /* `value` of a note (its line); -1: any */
    uint64_t nth;  /* the n-th such event since the step was armed, from 1 */
    uint8_t level; /* enum level: LEVEL_APP (default) or LEVEL_WIRE */
    uint8_t position;
    char call[PLAN_NAME_BYTES]; /* "MPI_Isend"; empty: any. As called by name at that level, no P */
    char name[PLAN_NAME_BYTES]; /* name of a phase or result; empty: any */
};

struct plan_step {
    enum plan_action action;
    struct plan_condition when;
    uint32_t victims; /* of KILL: entries used in victim[], 1..PLAN_MAX_VICTIMS */
    int32_t victim[PLAN_MAX_VICTIMS];
};

/* steps[] is owned by the plan. */
struct plan {
    size_t count;
    struct plan_step *steps;
};

void plan_init(struct plan *plan);
void plan_release(struct plan *plan);

/* A step with nothing asked for: PLAN_ANY / -1 / nth 1 / LEVEL_APP / before. */
struct plan_step plan_step_default(enum plan_action action);

/* Appends a copy. ERROR_LIMIT beyond PLAN_MAX_STEPS, ERROR_MEMORY. The plan is unchanged then. */
enum error_code plan_add(struct plan *plan, const struct plan_step *step, struct error *error);

/* One line without newline, always terminated, cut if it does not fit; returns the length needed.
 * Fields at their default are left out: "kill victims=1 event=send rank=1 nth=5". */
size_t plan_step_print(const struct plan_step *step, char *buffer, size_t bytes);

/* Inverse. Errors name the field and the accepted values. */
enum error_code plan_step_parse(const char *line, struct plan_step *step, struct error *error);

/* Whole files. Lines that are empty or start with '#' are skipped. Errors name path and line.
 * plan_write is atomic (temporary file and rename). */
enum error_code plan_read(const char *path, struct plan *plan, struct error *error);
enum error_code plan_write(const char *path, const struct plan *plan, struct error *error);

/* Number for a name in the lists above; the COUNT of that list if there is none. */
enum plan_event plan_event_from_text(const char *text);
enum plan_action plan_action_from_text(const char *text);
const char *plan_event_text(enum plan_event event);
const char *plan_action_text(enum plan_action action);

#endif
