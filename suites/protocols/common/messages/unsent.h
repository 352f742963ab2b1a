/* Packets that are not to be sent yet, each with the rank it goes to, in order. Must not know: why
 * they wait, when they go. */
#ifndef COMMON_MESSAGES_UNSENT_H
#define COMMON_MESSAGES_UNSENT_H

#include "common/messages/packet.h"

/* All zero is empty. */
struct unsent {
    struct packet_list packets;
    int *to; /* by place in the list; owned */
    size_t count;
    size_t room;
};

/* Takes over one hold. The job ends if there is no memory. */
void unsent_add(struct unsent *unsent, struct packet *packet, int to);

/* Gives each to `send`, which takes over its hold; empty then. NULL: they are dropped. */
void unsent_clear(struct unsent *unsent, void (*send)(struct packet *packet, int to));

#endif
