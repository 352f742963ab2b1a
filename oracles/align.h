/* The cheapest explanation of how a channel's deliveries differ from its sends. Pure: no traces, no
 * memory of its own. Used only where the k-th delivery is not the k-th send. */
#ifndef ORACLES_ALIGN_H
#define ORACLES_ALIGN_H

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
};

struct align_step {
    enum align_kind kind;
    unsigned send;
    unsigned delivery;
};

struct align_problem {
    unsigned sends;
    unsigned deliveries;
    /* fits[i][j]: send i and delivery j may belong together */
    bool fits[ALIGN_SENDS][ALIGN_DELIVERIES];
    /* The same bytes were delivered or passed over just before: a duplicate or a late one, which is
     * likelier than a delivery from nowhere. */
    bool seen[ALIGN_DELIVERIES];
    /* Send i may well not have been made or not be delivered: leaving it out costs nothing. */
    bool optional[ALIGN_SENDS];
    bool complete; /* nothing more will come: sends left over count as not delivered */
};

/* Fills steps (room for ALIGN_STEPS) in order and returns how many; sends that are left over at the
 * end have no step. */
unsigned align(const struct align_problem *problem, struct align_step *steps);

#endif
