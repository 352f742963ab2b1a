/* What of a rank led to an incarnation: its effective history, found for one question and kept
 * nowhere. A life counts from what it restored up to the checkpoint that the next life restored. */
#ifndef VERIFY_WALK_H
#define VERIFY_WALK_H

#include "verify/look.h"

/* Some rank took a checkpoint or went back to one. */
bool anybody_rolls_back(const struct trace_set *traces);

#define WALK_PARTS 64

/* The records of a rank that count in what led to an incarnation. Asked for by a message: those
 * that send what goes through its channel, or (`got`) deliver it. */
struct walk {
    const struct trace_set *traces;
    int incarnation;
    int rank;
    const struct message *message;
    bool got;
    bool older;      /* only those of lives before the incarnation */
    struct at until; /* in its trace, only what is done by then, */
    bool begun;      /* ... or begun */
    struct at at;    /* where the walk has come to */
    unsigned parts;  /* of this trace, that count: */
    struct part {
        struct at from, taken; /* after the one note, before the other; no record: all */
    } part[WALK_PARTS];
};
struct walk walk_of(const struct trace_set *traces, const struct message *message, int incarnation,
                    bool got);
bool walk_next(struct walk *walk);
uint64_t walk_count(struct walk walk); /* with the bytes of the message, as far as that is known */
uint64_t walk_count_sure(struct walk walk); /* ... those of which both hashes are known */
uint64_t walk_count_all(struct walk walk);  /* whatever their bytes */

#endif
