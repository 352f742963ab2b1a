/* What there is to aim at: a run without faults, counted. Everything that a strategy draws from is
 * here, so a strategy never looks at a trace. What depends on timing is left out as far as it can
 * be: how often a call polled, which messages were late or early, in which order ranks did things.
 * Must not know: how runs are made, Lua, MPI. */
#ifndef STRATEGY_SURVEY_H
#define STRATEGY_SURVEY_H

#include "plan/plan.h"
#include "trace/reader.h"

/* What a point is, for who chooses among them. */
enum survey_kind {
    SURVEY_NOTE,     /* with an epoch */
    SURVEY_PHASE,    /* or a result or decision: with a name */
    SURVEY_MESSAGE,  /* of the protocol's own */
    SURVEY_CHANNEL,  /* a send or delivery of any other */
    SURVEY_CALL,     /* how often it is called is known */
    SURVEY_POLL,     /* it is not */
    SURVEY_WILDCARD, /* a receive or probe with a choice */
    SURVEY_STORE,
    SURVEY_KINDS
};

/* Events that look alike: `condition` names them with nth 1, and there were `count` of them. Each
 * names its rank. What there is for each rank:
 *
 *     checkpoint saved commit restored stop-log initiated ready notified    with their epoch
 *     phase result decision                                        with their name
 *     send deliver    a message of the protocol's own, by its name and peer; and every channel, at
 *                     both levels, by peer, tag and comm
 *     recv probe      where the source or tag may be any, by call, tag and comm, at both levels
 *     call            by name, at both levels; without MPI_Init
 *     wait probe      calls that poll, by name, at both levels
 *     open write sync rename unlink    by file */
struct survey_point {
    struct plan_condition condition;
    uint64_t count;      /* 1 where it hangs on timing: of calls that poll */
    uint64_t seen;       /* how many there were in this run, also of what hangs on timing */
    uint64_t before_end; /* how many of them ahead of the rank's MPI_Finalize */
    uint64_t bytes;      /* the least that was asked for, of writes */
    int64_t line;        /* how many checkpoints the rank had taken when the first of these came */
    enum survey_kind kind;
};

/* The message that lets a rank enter a region of a line: of the protocol's own messages that it had
 * after its note before, the one that most often was the last. Who keeps it keeps the rank. */
struct survey_trigger {
    int32_t rank;
    enum plan_region region; /* REGION_LOGGING: its checkpoint; REGION_BEYOND: the end of logging */
    int64_t line;
    int32_t sender;
    uint64_t nth; /* of its messages of that name from that sender */
    char message[PLAN_NAME_BYTES];
};
#define SURVEY_MAX_CUES 256

/* Sends of the program by where sender and receiver stood then against a line. The receiver's place
 * depends on timing: what was seen often will be seen again. */
#define SURVEY_CELL_RANKS 32 /* of larger jobs there are none */
#define SURVEY_CELL_LINES 8  /* the first ones */
#define SURVEY_REGIONS 3
struct survey_cell {
    int32_t sender, receiver;
    int64_t line;
    enum plan_region of_sender, of_receiver; /* not REGION_ANY */
};

struct survey {
    int ranks;
    int restart_ranks;          /* of later incarnations; 0: as many. Set by who has the scenario */
    int64_t lines;              /* the newest line that was committed; 0: none */
    size_t count;               /* owned */
    struct survey_point *point; /* owned; by rank, then by what the condition says */
    size_t wires;               /* the messages of the protocol's own that were seen */
    struct message_pattern wire[PLAN_MAX_WIRES];
    uint64_t late, early; /* messages that the protocol noted as such */
    uint64_t collectives; /* that the program called */
    size_t triggers;
    struct survey_trigger trigger[SURVEY_MAX_CUES];
    uint32_t *sends; /* by cell, see survey_sends; owned; NULL: there are none */
};

/* An empty survey. To be released. */
void survey_init(struct survey *survey);
void survey_release(struct survey *survey);

/* Reads the traces of the finished run in `folder`; `plan` gives the wires. Calls on the checkpoint
 * store are there if the run recorded them. Of messages that only their payload tells apart, which
 * a trace does not hold, each is counted as all of them. ERROR_IO, ERROR_FORMAT, ERROR_VERSION; the
 * survey is empty then. */
enum error_code survey_take(const char *folder, const struct plan *plan, struct survey *survey,
                            struct error *error);

/* The same of traces that are open. */
void survey_of(const struct trace_set *traces, const struct plan *plan, struct survey *survey);

/* Which points. */
struct survey_filter {
    enum survey_kind kind;
    enum level level;      /* of notes, phases and the store LEVEL_APP */
    enum plan_event event; /* EVENT_NONE: any */
};

/* How many points there are of these, and the n-th of them, from 0; NULL: none. */
size_t survey_points(const struct survey *survey, struct survey_filter filter);
const struct survey_point *survey_point(const struct survey *survey, struct survey_filter filter,
                                        size_t n);

/* How many sends there were of a cell; 0 also where the survey keeps none. */
uint32_t survey_sends(const struct survey *survey, struct survey_cell cell);

/* NULL: there is none, as the rank that begins a line has no message that tells it to. */
const struct survey_trigger *survey_trigger(const struct survey *survey, int32_t rank,
                                            enum plan_region region, int64_t line);

/* The same without what comes in MPI_Finalize, where the faults of a plan have stopped: points, how
 * often each was there, and names of messages. Shares the rest with `survey`, which is to outlive
 * it; `early->point` is the caller's to free. */
void survey_before_end(const struct survey *survey, struct survey *early);

/* The protocol passes on what the program sends, to the same rank with the same tag on the same
 * communicator; else no step can tell it what to take, nor what a poll says. */
bool survey_is_passed_on(const struct survey *survey);

/* Some rank notes this event. */
bool survey_has_note(const struct survey *survey, enum plan_event event);

#endif
