/* What the layer is at a moment: shared by layer.c and steps.c, which are one module in two files.
 * Must not know: requests, communicators, the wire. */
#ifndef COMMON_MESSAGES_CORE_H
#define COMMON_MESSAGES_CORE_H

#include "common/messages/parts.h"
#include "common/messages/past.h"
#include "common/messages/unsent.h"

struct layer_core {
    const struct layer_protocol *protocol;
    int rank;
    int ranks;
    bool inside;      /* control, arrives or step of the protocol is running */
    bool sending;     /* see layer_sending */
    uint64_t *sent;   /* by rank: packets of the program, control packets not counted */
    uint64_t *taken;  /* likewise */
    uint64_t arrived; /* packets of the program, whoever sent them */
    unsigned idle;    /* looks at the network in a row that found nothing */

    /* The image: what the program was at its last potential checkpoint. */
    struct state state;   /* the program's memory; the copy of it: image.h */
    struct bytes image;   /* what this layer was */
    bool image_is_coming; /* layer_image_room was called, and its copy is to be taken as it is */

    /* Since then. */
    uint64_t step;
    struct past past;
    uint64_t round;       /* of layer_keep_back; 0: nothing is kept back now */
    uint64_t rounds;      /* so far */
    struct unsent unsent; /* what is kept back */

    /* What came before the first image, or before the state that was read; see layer_prologue. */
    struct bytes prologue;
    bool has_begun; /* the prologue is over */

    /* After a restart. */
    bool in_past;
    uint64_t last_step; /* the cut is in it; with a carrier, the last that others know of */
    bool follows;       /* more of the past may come: known to the polls of step `followed` */
    uint64_t followed;
    struct bytes expected; /* sent and taken at the cut */
    struct packet_list put_back;
};

extern struct layer_core layer;

/* Ends the job: `what` is how the program differs from what it was. */
_Noreturn void core_differs(const char *what);

/* The past is over, and goes; the first one is kept. */
void core_end_past(void);

/* After all that came at this step: the past may end here. waits: in the midst of a step that waits
 * for a packet. */
void core_leave_past_here(bool waits);

/* One look at the network, and the protocol's step. */
void core_wait_a_little(void);

#endif
