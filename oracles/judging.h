/* What the claim families share while a run is judged: what is asked for, and where findings go.
 * Each family is a struct oracle; see README.md for how to add one. */
#ifndef ORACLES_JUDGING_H
#define ORACLES_JUDGING_H

#include "oracles/matching/causal.h"
#include "oracles/matching/meetings.h"
#include "oracles/matching/pass.h"
#include "oracles/oracle.h"

enum claim_id {
#define CLAIM(NAME, ...) CLAIM_##NAME,
#include "oracles/claims.def"
    CLAIM_COUNT
};

/* The last EVIDENCE_FOR_KILLS of them only for what kills. */
#define EVIDENCE_KEPT 65536
#define EVIDENCE_FOR_KILLS 1024

struct judging {
    const struct trace_set *traces;
    const struct run_facts *facts;
    struct judgement *judgement;
    bool asked[CLAIM_COUNT];
    struct claim_result result[CLAIM_COUNT];
    unsigned kept[CLAIM_COUNT]; /* findings */
    struct reading reading;
    /* Filled while the wire is read. */
    bool needs_causality; /* something that is asked for does: links and causal are read */
    struct links links;
    struct meetings *meetings; /* by incarnation; NULL: nothing that is asked for needs them */
    struct causal *causal;     /* by incarnation; made once the traces have proved to be sound */
    struct stream_seen *seen;  /* by trace, in the order of the set */
    size_t evidence_count;
    struct evidence *evidence; /* at most EVIDENCE_KEPT */
    bool evidence_lost;        /* there was more */
    bool faulted;              /* a fault was installed, or there was more than one incarnation */
    bool history_told;         /* a finding says that effective histories are not known */
    /* More has died than is promised to be survived. */
    struct unsupported {
        enum unsupported_kind {
            UNSUPPORTED_NOTHING,
            UNSUPPORTED_AT_A_TIME, /* more ranks are down than the protocol promises: m_lives.c */
            UNSUPPORTED_REPLICAS,  /* the rank had two processes, and no other: p_replicas.c */
            UNSUPPORTED_IN_ALL,    /* ... than the program promises, and it says so: a_exact.c */
        } kind;
        uint64_t ticks; /* of the death that was too much */
        int rank;       /* whose */
        uint64_t promised;
    } unsupported;
    /* What families keep from one incarnation to the next. */
    struct table told;         /* of H.*, what was said: see passage_tells */
    struct c_run *c3;          /* NULL: not judged */
    struct d_run *collectives; /* the same */
};

/* One claim family, or a part of one: oracle_<name> of each ORACLE(name) in claims.def. Each
 * function judges the claims it is for, as far as they are asked for; any may be NULL. */
struct oracle {
    /* Adds its listeners to the pass over the wire of an incarnation. Findings are dropped again
     * where the traces then prove not to be sound. */
    void (*wire)(struct judging *judging, struct pass *pass);
    /* ... to the pass over the application's effective histories. The incarnations come in their
     * order; with newest_first the newest is passed before all others. */
    void (*application)(struct judging *judging, struct pass *pass);
    /* After the passes; of what is sound whatever the traces are, between them. */
    void (*judge)(struct judging *judging);
    /* Needs the histories to be sound: left out, as unknown, when the traces cannot be trusted. */
    bool needs_sound_traces;
    bool newest_first;
};

#define ORACLE(name) extern const struct oracle oracle_##name;
#include "oracles/claims.def"

/* It says that a rank, `victim`, dies next. */
bool evidence_kills(const struct judging *judging, const struct evidence *evidence);
/* The same of any evidence of the incarnation, which a fault may so have ended before all its ranks
 * have begun. */
bool evidence_kills_in(const struct judging *judging, int incarnation);
/* The plan has kept messages in the incarnation that it has not let go, or stopped ranks that do
 * not go on. */
bool evidence_keeps(const struct judging *judging, int incarnation);
/* By the end of the incarnation the plan has let storage fail, or lose what was not synced; or it
 * is not known. */
bool evidence_disturbs_store(const struct judging *judging, int incarnation);

/* It comes to no end: no rank can go on, or all that can only poll in vain. */
bool run_is_stuck(const struct run_facts *facts);

/* The claim's situation arose `count` more times. */
void judging_saw(struct judging *judging, enum claim_id claim, uint64_t count);

/* A finding to be filled, or NULL when the claim was not asked for or enough of its findings are
 * kept; it is counted and weighs all the same. */
struct finding *judging_find(struct judging *judging, enum claim_id claim, enum verdict verdict);

/* What comes from there on is none of what was promised. Of several the first counts. */
void judging_unsupported(struct judging *judging, const struct unsupported *unsupported);

/* The claim could not be judged; no finding of its own (another claim's says why). */
void judging_unknown(struct judging *judging, enum claim_id claim);

/* Both take NULL for a finding that is not kept. Lines and events beyond the bounds are left out;
 * an event that is there already is not added again. */
void finding_say(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void finding_show(struct finding *finding, struct event_ref event);

/* With which event the claim was broken, where it is not the last one of the witness; or only at
 * the end of the run. Both take NULL. */
void finding_decide(struct finding *finding, struct event_ref event);
void finding_decide_at_end(struct finding *finding);

/* Any claim whose id begins with `prefix` is asked for: "C.". */
bool judging_asked(const struct judging *judging, const char *prefix);

/* A line was restored that nobody took: one finding says so, and all claims that cannot be judged
 * are unknown, `claim` among them. False if all histories are known. */
bool histories_report_unknown(struct judging *judging, const struct histories *histories,
                              enum claim_id claim);

#define MESSAGE_TEXT_BYTES 112
/* "m(0→2, tag 7, #5)", with its communicator if that is not the world; number 0: without. Returns
 * buffer. */
const char *message_text(int source, int destination, uint32_t comm, int32_t tag, uint64_t number,
                         char buffer[MESSAGE_TEXT_BYTES]);

#endif
