/* What the files of family C share: C3, point to point. A run is judged incarnation by incarnation,
 * from what its ranks noted of recovery lines and from the records of both taps. */
#ifndef ORACLES_C3_C_FAMILY_H
#define ORACLES_C3_C_FAMILY_H

#include "oracles/judging.h"

/* An early message of an incarnation, against a line. */
struct early {
    uint64_t line;
    uint32_t comm;
    int32_t tag;
    int source;
    int destination;
    struct event_ref sent; /* the original, in the incarnation that took the line */
    struct event_ref delivered;
    uint64_t bytes;
    uint64_t hash;
    bool no_hash;
};

/* What is kept from one incarnation to the next. */
struct c_run {
    size_t early_count, early_room;
    struct early *early; /* by incarnation, as they were found; owned */
    bool *complete;      /* by incarnation: every message of it could be matched; owned */
    uint64_t *possible;  /* by incarnation: what c_possible_commit says; owned */
    bool lives_on;       /* some ranks did: nothing more is judged */
};

/* An early message of the line restored, as the sender comes to send it again. */
struct resend {
    struct early early;
    uint64_t ordinal; /* the how-many-eth send of its channel after the line */
    uint64_t seen;
};

/* One incarnation, and the effective histories as of it. */
struct c_pass {
    struct judging *judging;
    struct c_run *run;
    const struct pass *pass;
    int incarnation;
    const struct lines *lines;
    const struct histories *histories;
    struct message_notes *notes;
    size_t resend_count, resend_room;
    struct resend *resend;  /* owned */
    unsigned brought_back;  /* bits: kinds of note that may be of requests brought back */
    unsigned noted_unknown; /* bits: kinds of note of which it was said that a peer is not known */
    bool anomaly;           /* some message could not be matched */
};

/* The trace of an event of the run. */
const struct trace *c_trace(const struct judging *judging, struct event_ref event);

/* c_lines.c: C.1.1, C.commit, C.initiate, of one incarnation. */
void c_judge_lines(struct judging *judging, const struct lines *lines, const struct causal *causal);
/* C.1.1 alone, as the claim it is asked for: D.2.1 says the same of runs with collectives. */
void c_judge_stops(struct judging *judging, const struct lines *lines, const struct causal *causal,
                   enum claim_id claim);

/* Ranks of the incarnation lived on when others died. */
bool c_lives_on(const struct judging *judging, int incarnation);

/* Says of all claims whose id begins with `family` that ranks lived on: the job was not rolled back
 * as a whole, and what C3 says of recovery has no meaning. */
void c_report_lives_on(struct judging *judging, int incarnation, const char *family);

/* c_restore.c: C.restore, of an incarnation that is not the first. possible: by incarnation, what
 * c_possible_commit says. */
void c_judge_restore(struct judging *judging, const struct lines *lines, const uint64_t *possible);
/* The newest line of which some rank, in the end, knew that every rank had saved its part; or,
 * where that is uncertain, of which every rank had. It may have been committed without a note of
 * it. */
uint64_t c_possible_commit(const struct lines *lines, const struct causal *causal);

/* c_messages.c: C.1.2, C.1.3, C.early.list, C.class, C.epoch, C.cell.*; by c_late.c, C.late.log and
 * C.late.ready; by c_recovery.c, C.late.replay and C.early.*. */
void c_listen_messages(struct judging *judging, struct pass *pass);

/* c_recovery.c. In this order: begin; then, as the records are read, each send, and each message
 * that was sent before the line restored and delivered after it, or left out; finish. */
void c_recovery_begin(struct c_pass *pass);
void c_recovery_send(struct c_pass *pass, const struct stream_event *event);
void c_recovery_late(struct c_pass *pass, const struct channel *channel, const struct sent *sent,
                     const struct received *received);
void c_recovery_left_out(struct c_pass *pass, const struct channel *channel,
                         const struct sent *sent, const struct pair *other);
/* Late messages for which ranks wait, between pass_read and pass_finish. */
void c_recovery_waits(void *pass);
/* A `replayed` note of what is no late message; `why` is a sentence. */
void c_recovery_wrong_replay(struct c_pass *pass, const struct message_note *note, const char *why);
/* A `suppressed` note of what is no early message. */
void c_recovery_wrong_suppress(struct c_pass *pass, const struct message_note *note);
/* A message that is early against every line above `after` up to `taken`: kept for recoveries. */
void c_recovery_keep(struct c_pass *pass, const struct channel *channel, const struct sent *sent,
                     const struct received *received, uint64_t after, uint64_t taken);

/* c_nondet.c: C.nondet, of an incarnation that restored a line. */
void c_judge_nondet(struct judging *judging, int incarnation);

#endif
