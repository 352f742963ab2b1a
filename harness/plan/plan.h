/* The plan: what a run is to suffer, as plain data. A scenario builds one; the driver writes it to
 * `plan` in the run folder as text, one step a line; libfaultline.so reads it. No Lua here, no MPI,
 * libc only. The text form is made for people too and is complete: parse(print(plan)) == plan.
 *
 * A step is *armed* when the step it comes `after` is done: by default the one before it, the first
 * at the start of the run. It is *done* when its condition has come true and what it does has been
 * done to somebody; for a hold or stop that is when the message is held or the rank stopped, not
 * when it is let go. Steps go on across incarnations. A condition counts the events that come
 * after the arming; a step without a condition is done as soon as it is armed, by whichever rank
 * sees it first.
 *
 * A hold or stop is *released* when its `release` condition comes true (armed when the hold is
 * done), when `release_ms` have gone by, when a release step says so, when all ranks are in
 * MPI_Finalize, or when the driver finds that the job cannot go on otherwise (board->unstick).
 *
 * The faults stop (board->quiet) when a step QUIET says so, or the driver, when the run's time for
 * them is over. From then on nothing is held, stopped, delayed, chosen, or refused by the store;
 * what was, is let go; a step that is not done stays so. Then the job has as much time again. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_MAX_STEPS 256
#define PLAN_MAX_VICTIMS 64
#define PLAN_NAME_BYTES 64
#define PLAN_MAX_ERRNO 4095
#define PLAN_MAX_MS 3600000  /* of a hold, delay, stop or jitter */
#define PLAN_WIRE_BYTES 1024 /* the longest line of a wire, its end included */

/* What a rank can be seen doing. name in scenarios and plan text; what it is. */
#define PLAN_CALL_EVENTS(X)                                                                        \
    X(NONE, "none")                                                                                \
    X(SEND, "send")             /* a send is started (any mode, Start of a persistent one) */      \
    X(RECV, "recv")             /* a receive is posted */                                          \
    X(DELIVER, "deliver")       /* a received message is handed over (only position "after") */    \
    X(WAIT, "wait")             /* any of the Wait and Test calls */                               \
    X(PROBE, "probe")           /* any of the probe calls */                                       \
    X(COLLECTIVE, "collective") /* any collective, blocking or not */                              \
    X(CALL, "call")             /* any MPI call; give `call` to say which */
/* Calls on files of the checkpoint store; `file` */
#define PLAN_STORE_EVENTS(X)                                                                       \
    X(OPEN, "open")                                                                                \
    X(WRITE, "write")   /* write, pwrite, writev, ... */                                           \
    X(SYNC, "sync")     /* fsync, fdatasync, of a file or a folder */                              \
    X(RENAME, "rename") /* `file` is the new name */                                               \
    X(UNLINK, "unlink")

/* Between the two: what is noted through faultline.h, by the names of the notes. */
enum plan_event {
#define X(name, text) EVENT_##name,
#define NOTE(NAME, ...) EVENT_##NAME,
    PLAN_CALL_EVENTS(X)
#include "trace/notes.def"
        PLAN_STORE_EVENTS(X)
#undef X
            EVENT_COUNT
};

/* What a step does: a row each in actions.def. */
enum plan_action {
#define ACTION(NAME, ...) ACTION_##NAME,
#include "plan/actions.def"
    ACTION_COUNT
};

/* Where in the call: before it is passed on, after it returned, or (kill only) from outside while
 * the rank is inside it. */
enum plan_position { POSITION_BEFORE = 0, POSITION_AFTER = 1, POSITION_INSIDE = 2 };

/* PLAN_ANY in an int field: not asked for. */
#define PLAN_ANY INT32_MIN

/* Position of a rank against a recovery line [C3 definition 2], by its notes. Beyond: also
 * after recovery from it. */
enum plan_region { REGION_ANY = 0, REGION_BEFORE = 1, REGION_LOGGING = 2, REGION_BEYOND = 3 };

/* What must be true of a rank, besides the event: its published state on the board. */
#define PLAN_MAX_STATES 4
struct plan_state {
    int32_t rank;                  /* PLAN_ANY: the rank of the event */
    uint8_t region;                /* enum plan_region; REGION_ANY: not asked for */
    int64_t line;                  /* of region; 1 or more */
    char blocked[PLAN_NAME_BYTES]; /* inside this MPI call, which may block; empty: not asked */
};

struct plan_condition {
    enum plan_event event; /* EVENT_NONE: no condition */
    int32_t rank;          /* whose event; PLAN_ANY: any rank's */
    int32_t incarnation;   /* PLAN_ANY: any */
    int32_t peer;          /* world rank */
    int32_t tag;
    uint32_t comm; /* id; 0: any */
    int64_t epoch; /* `value` of a note (its line); -1: any */
    uint64_t nth;  /* the n-th such event since the step was armed, from 1 */
    uint8_t level; /* enum level: LEVEL_APP (default) or LEVEL_WIRE (with `message` too) */
    uint8_t position;
    char call[PLAN_NAME_BYTES]; /* "MPI_Isend"; empty: any. As called by name at that level, no P */
    char name[PLAN_NAME_BYTES]; /* name of a phase, result or decision; empty: any */
    char message[PLAN_NAME_BYTES]; /* a message the protocol's wire.lua names; empty: any */
    char within[PLAN_NAME_BYTES];  /* the call stack holds this function; empty: any */
    char file[PLAN_NAME_BYTES];    /* shell pattern, path below the store; empty: any */
    /* All must hold at the event. With EVENT_NONE they are the condition: true as soon as they all
     * hold, whoever sees it. */
    uint32_t states;
    struct plan_state state[PLAN_MAX_STATES];
};

/* What a death does to files in the checkpoint store that were not synced. */
enum plan_lose {
    LOSE_NOTHING = 0, /* the page cache outlives a process */
    LOSE_RANK = 1, /* what the victims wrote and did not sync is lost: each on a node of its own */
    LOSE_NODE = 2, /* what anybody wrote and did not sync is lost: the victims' node had it all */
    LOSE_STORAGE = 3, /* all that the victims' nodes keep, synced or not; needs a node map */
    LOSE_FILES = 4,   /* of a FAULT_LOST alone: files by their names, as `lose_files` says */
};

#define NODE_OF_VICTIM "%" /* in lose_files, where there is a node map */

/* Values of `after` that are no step. */
#define PLAN_AFTER_PREVIOUS PLAN_ANY
#define PLAN_AFTER_START (-1)

struct plan_step {
    enum plan_action action;
    int32_t after; /* index of a step before this one, or one of the above */
    struct plan_condition when;
    struct plan_condition release; /* of HOLD and STOP; EVENT_NONE without states: there is none */
    uint32_t release_ms;           /* 0: no limit */
    bool attempt;    /* that the release never comes true is what the scenario shows: I.installed
                        takes a hold that was let go only because the job could not go on */
    bool tags_apart; /* of HOLD: messages with other tags may pass those held. Right only where the
                        receiver never asks for MPI_ANY_TAG on that communicator; I.legal checks */
    uint8_t lose;    /* enum plan_lose */
    char lose_files[PLAN_NAME_BYTES]; /* of KILL: shell pattern; files of the store that the deaths
                                         take along, synced or not, where NODE_OF_VICTIM stands for
                                         the number of the victim's node; empty: none */
    int32_t target;                   /* of RELEASE: index of the step */
    int32_t choice;
    int32_t choice_tag; /* PLAN_ANY: any */
    uint64_t count;     /* default 1 */
    uint64_t seed;
    uint32_t victims; /* of KILL and STOP: entries used in victim[] */
    int32_t victim[PLAN_MAX_VICTIMS];
    uint32_t orders; /* entries used in order[]; of HOLD numbers 1..count, each once */
    int32_t order[PLAN_MAX_VICTIMS];
};

/* How a protocol's own messages look on the wire: see `message` above. Written into the plan file,
 * after the steps, as lines that begin with "wire". */
#define PLAN_MAX_WIRES 64
struct message_pattern {
    char name[PLAN_NAME_BYTES];
    /* Which communicator, level wire: comm_parent is 1 (world) and comm_nth n says the n-th (from
     * 1) that was made from MPI_COMM_WORLD with all its ranks in their order; or nth 0 and the id
     * itself. id 0: any. */
    uint32_t comm;
    uint32_t comm_nth;
    int32_t tag;       /* PLAN_ANY: any */
    int32_t key_at;    /* byte offset in the packed payload of a field that must equal key; -1: none
                        */
    uint8_t key_bytes; /* 1, 2, 4 or 8, in the machine's order */
    uint64_t key;
    int32_t epoch_at; /* byte offset of the line's number; -1: not given */
    uint8_t epoch_bytes;
    bool carries; /* the protocol sends the program's messages inside such ones: what a step keeps
                     at level app is then one of them, whatever communicator and tag it has */
};

/* steps[] is owned by the plan. */
struct plan {
    size_t count;
    struct plan_step *steps;
    size_t wires;
    struct message_pattern wire[PLAN_MAX_WIRES];
};

/* An empty plan. To be released. */
void plan_init(struct plan *plan);
void plan_release(struct plan *plan);

/* A step with nothing asked for: PLAN_ANY / -1 / nth 1 / LEVEL_APP / before; target -1. */
struct plan_step plan_step_default(enum plan_action action);

/* Any communicator and tag, no key of 4 bytes, no epoch of 8. */
struct message_pattern message_pattern_default(void);

/* Appends a copy. ERROR_LIMIT beyond PLAN_MAX_STEPS, ERROR_MEMORY. The plan is unchanged then. */
enum error_code plan_add(struct plan *plan, const struct plan_step *step, struct error *error);

/* The same for a wire; also ERROR_FORMAT: its name is there already. */
enum error_code plan_add_wire(struct plan *plan, const struct message_pattern *wire,
                              struct error *error);

/* What only the whole plan shows: `after` and `target` name steps before, `message` a wire.
 * ERROR_FORMAT names the step, from 1. plan_read does it by itself. */
enum error_code plan_check(const struct plan *plan, struct error *error);

/* Index of the step that arms this one; PLAN_AFTER_START: it is armed from the start. */
int32_t plan_after(const struct plan *plan, size_t step);

/* Neither an event nor a state is asked for. */
bool plan_condition_is_empty(const struct plan_condition *condition);

/* One line without newline, always terminated, cut if it does not fit; returns the length needed.
 * Fields at their default are left out: "kill victims=1 event=send rank=1 nth=5". */
size_t plan_step_print(const struct plan_step *step, char *buffer, size_t bytes);

/* Inverse. Errors name the field and the accepted values. Steps are numbered from 1 in text, a
 * `message` implies level wire, and what an action may not or must have is checked. */
enum error_code plan_step_parse(const char *line, struct plan_step *step, struct error *error);

/* "wire name=stopLogging comm=world#1 tag=3 key_at=0 key=7 epoch_at=8". */
size_t message_pattern_print(const struct message_pattern *wire, char *buffer, size_t bytes);
enum error_code message_pattern_parse(const char *line, struct message_pattern *wire,
                                      struct error *error);

/* Whole files. Lines that are empty or start with '#' are skipped. Errors name path and line.
 * plan_write is atomic (temporary file and rename). */
enum error_code plan_read(const char *path, struct plan *plan, struct error *error);
enum error_code plan_write(const char *path, const struct plan *plan, struct error *error);

/* Number for a name in the lists above; the COUNT of that list if there is none. */
enum plan_event plan_event_from_text(const char *text);
enum plan_action plan_action_from_text(const char *text);
const char *plan_event_text(enum plan_event event);
const char *plan_action_text(enum plan_action action);

/* What a call on the checkpoint store (enum storage_call of trace/record.h) is to a condition;
 * EVENT_NONE: nothing. */
enum plan_event plan_event_of_storage(unsigned call);

/* The event that a note (enum note_kind) is, and the note that an event is; NONE: none. */
enum plan_event plan_event_of_note(unsigned note);
unsigned plan_note_of_event(enum plan_event event);

#endif
