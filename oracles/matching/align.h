/* The cheapest explanation of how a channel's deliveries differ from its sends. Pure: no traces, no
 * memory of its own. Used only where the k-th delivery is not the k-th send. */
#ifndef ORACLES_MATCHING_ALIGN_H
#define ORACLES_MATCHING_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

#define ALIGN_DELIVERIES 16
#define ALIGN_SENDS 32
#define ALIGN_STEPS (ALIGN_DELIVERIES + ALIGN_SENDS)

enum align_kind {
    ALIGN_PAIR,    /* send and delivery belong together */
    ALIGN_SKIP,    /* this send was not delivered here */
    ALIGN_EXTRA,   /* this delivery has no send here */
    ALIGN_CHANGED, /* send and delivery belong together, but the bytes differ */
    ALIGN_AGAIN, /* the send is one done again after a restart: its message was delivered before */
};

/* How a send and a delivery go together. */
enum align_fit {
    FIT_IMPOSSIBLE,   /* delivered before it was sent: whatever the bytes, it is not that message */
    FIT_CHANGED,      /* in time, but the bytes differ */
    FIT_SAME,         /* in time, the same bytes */
    FIT_AGAIN,        /* delivered before the sender was restarted and sent it again; same bytes */
    FIT_AGAIN_CHANGED /* the same, with other bytes */
};

struct align_step {
    enum align_kind kind;
    unsigned send;
    unsigned delivery;
};

struct align_problem {
    unsigned sends;
    unsigned deliveries;
    enum align_fit fit[ALIGN_SENDS][ALIGN_DELIVERIES]; /* of send i and delivery j */
    /* The same bytes were delivered or passed over just before: a duplicate or a late one, which is
     * likelier than a delivery from nowhere. */
    bool seen[ALIGN_DELIVERIES];
    /* The send of delivery j was undone, and what is told ends before its sender can have come to
     * it again: no send here need account for it. */
    bool to_come[ALIGN_DELIVERIES];
    /* Send i may well not have been made or not be delivered: leaving it out costs nothing. */
    bool optional[ALIGN_SENDS];
    bool cut_off;  /* what is told ends in the middle: doubts favour sends that are done again */
    bool complete; /* nothing more will come: sends left over count as not delivered */
};

/* Fills steps (room for ALIGN_STEPS) in order and returns how many; sends that are left over at the
 * end have no step. */
unsigned align(const struct align_problem *problem, struct align_step *steps);

#endif
