/* Oracles: a recorded run judged against claims. Nothing here needs MPI, a driver, or the run to be
 * anywhere but on disk. */
#ifndef ORACLES_ORACLE_H
#define ORACLES_ORACLE_H

#include "base/error.h"
#include "plan/plan.h"
#include "trace/event.h"
#include "trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of precedence, weakest first: the verdict of a run is the greatest. */
#define VERDICTS(X)                                                                                \
    X(PASS, "pass")                                                                                \
    X(VACUOUS, "vacuous") /* the claim's situation never arose, or a fault was not installed */    \
    X(UNKNOWN, "unknown") /* the oracle could not decide; `why` says why */                        \
    X(HARNESS_ERROR, "harness-error") /* ours */                                                   \
    X(VIOLATION, "violation")

enum verdict {
#define X(name, text) VERDICT_##name,
    VERDICTS(X)
#undef X
        VERDICT_COUNT
};
/* "pass", "violation", ...: static. */
const char *verdict_text(enum verdict verdict);
/* VERDICT_COUNT for a text that is none, and for NULL. */
enum verdict verdict_from_text(const char *text);

/* A claim that Faultline can judge: a row of claims.def, listed by `faultline claims`. */
struct claim {
    const char *id;     /* "H.orphan"; the family is what stands before the dot */
    const char *text;   /* one sentence */
    const char *source; /* paper and section, or "Faultline" */
    const char *needs;  /* what a run must contain for the claim not to be vacuous */
    bool always;        /* judged in every run, asked for or not: it has no situation */
    enum claim_asks {
        ASKS_NOTHING,
        ASKS_REFERENCE, /* a run without faults, to compare one with faults with */
        ASKS_STORE,     /* calls on the checkpoint store to be recorded */
    } asks;
    enum claim_history {
        HISTORY_NONE,
        HISTORY_MESSAGES, /* judged by histories.c, on the messages and collectives of histories */
        HISTORY_LINES,    /* ... on those that cross a line */
    } history;
    bool seldom; /* most programs never do what it is about: who promises to cover its family does
                    not promise it */
};

extern const struct claim claims[];
extern const size_t claim_count;

/* NULL if there is none. */
const struct claim *claim_find(const char *id);

/* Is `id` the claim's id, or its family ("H" of "H.orphan")? */
bool claim_is_named(const struct claim *claim, const char *id);

/* Do the ids ask for the claim? One that begins with "-" takes back what those before it ask for:
 * "H", "-H.line" is all of H but H.line. */
bool claim_is_asked(const struct claim *claim, const char *const *ids, size_t count);
bool claim_is_taken_back(const struct claim *claim, const char *const *ids, size_t count);

/* OK if each of `ids` names a claim or a family, each that takes something back comes after one
 * that asks for it, and something is left to be judged; else ERROR_USAGE, with the nearest name. */
enum error_code claims_check(const char *const *ids, size_t count, struct error *error);

/* Does a claim that `id` names so ask for it? */
bool claims_ask(const char *id, enum claim_asks what);

/* OK if `id` names a claim or a family; else ERROR_USAGE with the nearest name. */
enum error_code claim_check_name(const char *id, struct error *error);

#define FINDING_WHY_LINES 4
#define FINDING_WHY_BYTES 320
#define FINDING_WITNESSES 16
#define FINDINGS_KEPT 8 /* per claim; more are only counted */

/* When it came about: the event after which it cannot be undone. */
enum decided {
    DECIDED_BY_WITNESS, /* with the event of the witness that is over last */
    DECIDED_BY_EVENT,   /* with `decided_by` */
    DECIDED_AT_END,     /* of the run */
};

/* One thing found. Facts first, then the argument, each why line a sentence. */
struct finding {
    const struct claim *claim;
    enum verdict verdict; /* not PASS */
    unsigned why_count;
    char why[FINDING_WHY_LINES][FINDING_WHY_BYTES];
    unsigned witness_count;
    struct event_ref witness[FINDING_WITNESSES];
    enum decided decided;
    struct event_ref decided_by;
    bool follows; /* from the first finding; not known to the oracles */
};

/* Per claim asked for. */
struct claim_result {
    const struct claim *claim;
    enum verdict verdict;
    uint64_t situations; /* how often what the claim speaks of arose; 0 makes it vacuous */
    uint64_t violations; /* all, not only those kept */
};

/* A FAULT record. */
struct evidence {
    struct event_ref event;
    unsigned kind; /* enum fault_kind */
    int32_t step;
    int32_t victim; /* or whom else `peer` of the record names */
    uint64_t value; /* `bytes` of the record */
    unsigned error;
    unsigned reason; /* enum board_release, of what was let go */
};

struct judgement {
    enum verdict verdict;
    size_t result_count;
    struct claim_result *results; /* owned */
    size_t finding_count;
    struct finding *findings; /* owned; worst first */
    uint64_t records;         /* read */
    size_t evidence_count;
    struct evidence *evidence; /* of every fault, up to a bound; by incarnation, then time; owned */
};

/* Releases what the judgement owns. Harmless on one that is all zero. */
void judgement_release(struct judgement *judgement);

/* How a rank's process ended. */
struct rank_end {
    int rank;
    int incarnation;
    bool known;      /* wait_status is valid */
    int wait_status; /* as waitpid */
    bool finalized;  /* MPI_Finalize returned */
    bool aborted;    /* it told the launcher to end the job: MPI_Abort, a fatal MPI error */
    bool by_itself;  /* it died of a signal that the program sent to its own process */
    bool first;      /* of the ranks of the incarnation that ended badly or aborted the job */
};

/* A declared result of the run without faults. */
struct reference_result {
    int rank;
    char name[64];
    bool near; /* a number, for A.exact: its bits in `hash` and those of its tolerance in
                * `bytes`; else bytes, for H.result */
    uint64_t bytes;
    uint64_t hash;
};

#define PRINTED_TEXT_BYTES 128

/* What a rank has printed, compared with what it prints without faults. */
struct printed {
    int rank;
    enum printed_state {
        PRINTED_SAME,
        PRINTED_OTHER,
        PRINTED_UNKNOWN, /* it cannot be compared: `text` says why */
    } state;
    /* Of a difference: the lines, from 1, that should be the same; 0: there is none. */
    uint64_t line, reference_line;
    char text[PRINTED_TEXT_BYTES]; /* as much of them as shows it; what is ignored is cut out */
    char reference_text[PRINTED_TEXT_BYTES];
};

/* How far a step of the plan came. */
struct step_fact {
    bool done;
    int rank;        /* who did it; -1 unless done */
    int incarnation; /* in which; -1 unless done */
    uint64_t taken;  /* messages held, answers given */
    int released_by; /* enum board_release: why what it held or stopped was let go */
};

/* Messages of a channel that the program sends and never receives; ranks of MPI_COMM_WORLD. */
struct unreceived {
    uint32_t comm;
    int32_t source;
    int32_t destination;
    int32_t tag;
    uint64_t messages;
};

/* How a run ended, as the driver saw it. */
#define RUN_ENDS(X)                                                                                \
    X(FINISHED, "finished")       /* every rank of the last incarnation finalized and exited 0 */  \
    X(FAILED, "failed")           /* a rank died or exited non-zero, not by a fault of the plan */ \
    X(DEADLOCK, "deadlock")       /* every live rank blocked, nothing in flight */                 \
    X(TIME_LIMIT, "time-limit")   /* still running at the hard limit */                            \
    X(INTERRUPTED, "interrupted") /* by the user */                                                \
    X(REFUSED, "refused")         /* the program asked for what the step engine does not do */     \
    X(VOID, "void") /* the launcher died by itself or ranks are missing: run it again */

/* What the text of a TIME_LIMIT says where the ranks that were not blocked only asked, again and
 * again, for what did not come. */
#define RUN_POLLED "every live rank has only polled in vain"
/* ... and where the engine that runs them knows that none can go on. */
#define RUN_STUCK "no rank can go on"

enum run_end {
#define X(name, text) RUN_##name,
    RUN_ENDS(X)
#undef X
        RUN_END_COUNT
};

/* What the driver knows and the traces do not say; stored in run.json. All pointers are borrowed.
 */
struct run_facts {
    int ranks;
    int restart_ranks; /* of all incarnations but the first; 0: as many */
    int incarnations;
    bool survivors; /* a death does not end an incarnation: the others live on */
    enum run_end end;
    const char *end_text; /* one sentence for people; never NULL */
    double limit_s;       /* at a time limit it had been running for at least that; 0: not known */
    const struct plan *plan;       /* NULL: no faults were asked for */
    const struct step_fact *steps; /* one per step of the plan; NULL: none was done */
    size_t rank_end_count;
    const struct rank_end *rank_ends;
    size_t reference_count; /* 0: no reference run was made; H.result is then vacuous */
    const struct reference_result *references;
    size_t printed_count; /* 0: what the ranks print is not compared */
    const struct printed *printed;
    bool unreceived_known; /* of the run without faults; false: none was made, or it cannot tell */
    size_t unreceived_count; /* 0: it leaves no message unreceived */
    const struct unreceived *unreceived;
};

/* Judges `ids` (claims and families: "H", "B.empty"); those of families I and H.progress always as
 * well. ERROR_USAGE names an id that does not exist and the nearest that does. *judgement is owned
 * by the caller: judgement_release, also after an error. */
enum error_code judge(const struct trace_set *traces, const struct run_facts *facts,
                      const char *const *ids, size_t id_count, struct judgement *judgement,
                      struct error *error);

/* What the messages of a finished run without faults leave unreceived, for run_facts. *known is
 * false where that cannot be told. *list is owned by the caller (free). `traces` holds one at
 * least.
 */
void unreceived_find(const struct trace_set *traces, bool *known, struct unreceived **list,
                     size_t *list_count);

/* Wait-for analysis of traces of a job that is still running or was ended: which ranks can never go
 * on. Looks at the wire level of the newest incarnation: who is inside a call that may block, what
 * it waits for, which messages are under way. `alive[rank]` says whose process lives. */
struct wait_for {
    int rank;
    struct event_ref call; /* the call it is inside of */
    unsigned target_count; /* ranks it waits for; any one would do if `any` */
    int target[16];
    bool any;
    uint32_t comm;  /* of the collective that it is inside of; 0: of none */
    char text[256]; /* "rank 2 waits in MPI_Recv for a message from rank 0, tag 7" */
};

struct hang {
    bool deadlocked;        /* every live rank is blocked and nothing is in flight */
    size_t count;           /* blocked ranks */
    struct wait_for *waits; /* owned: hang_release; ordered so that a cycle comes first */
    size_t cycle;    /* how many of them, from the first, form a cycle; 0: none (a dead end) */
    const char *why; /* a sentence, where two wait for one another in collectives on different
                        communicators; NULL; static */
};

/* Who waits for whom at the end of the traces. alive[rank], of `ranks`: its process was there then;
 * the others wait for nobody. *hang is owned by the caller: hang_release. */
void hang_analyse(const struct trace_set *traces, const bool *alive, int ranks, struct hang *hang);
void hang_release(struct hang *hang);

#endif
