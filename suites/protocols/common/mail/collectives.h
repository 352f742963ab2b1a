/* Collective calls over point-to-point messages of this layer, as Chandy and Lamport, and CoCheck,
 * assume them: packets of a kind of their own, so they never meet the program's receives. Every
 * pair of ranks is a FIFO channel and all make their calls in the same order, so they need no tags.
 * Must not know: the wire, the past. */
#ifndef MAIL_COLLECTIVES_H
#define MAIL_COLLECTIVES_H

#include "common/mail/comms.h"

/* Every member gives `bytes` at `mine` and gets all of them in `all`, in the order of ranks. */
void collective_exchange(struct comm *comm, const void *mine, size_t bytes, void *all);

#endif
