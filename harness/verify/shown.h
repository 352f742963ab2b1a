/* A witness as the files of this folder look at it, a family of claims in each. */
#ifndef VERIFY_SHOWN_H
#define VERIFY_SHOWN_H

#include "verify/walk.h"
#include "verify/witness.h"

/* The events of a witness; record NULL: there is none. */
struct shown {
    const struct witness *witness;
    const struct trace_set *traces;
    int lives; /* incarnations */
    size_t count;
    struct at event[WITNESS_EVENTS_MOST];
    struct at sent, got;                             /* the first of each */
    struct at sent_last, got_last;                   /* a second one, or the same */
    bool pair;                                       /* the two are one message, by channel */
    uint64_t sent_in, got_in;                        /* of a pair: newest checkpoints at its ends */
    struct at restored, commit, checkpoint, written; /* the first of each; a call on the store */
};

/* Of each claim, by the name in its row of claims.def: what shows, in the events of a witness and
 * the traces, that it is broken. Where a trace leaves it open the violation is believed; so are
 * counts of messages where ranks moved, for what counts of one lies in several traces. */
#define CLAIM(NAME, id, text, source, needs, verifier, ...)                                        \
    bool shows_##verifier(const struct shown *shown);
#include "oracles/claims.def"

/* The first or a later note of the kind; record NULL: there is none. */
struct at shown_note(const struct shown *shown, enum note_kind kind, size_t nth);

/* Two of the events stand so to one another. */
bool any_two(const struct shown *shown,
             bool (*stand)(const struct shown *shown, struct at a, struct at b));

/* An event on the wire that lies inside the call. */
bool shows_inside(const struct shown *shown, struct at call, enum record_kind kind);

/* Of the bytes of the message at `at` more were delivered than sent, or the other way round, or the
 * k-th delivered is not the k-th sent, in what led to the incarnation. Requests may complete in
 * another order than they were posted in: not there. */
bool differs(const struct shown *shown, struct at at, int incarnation);

#endif
