/* Packets that are not to be sent yet, each with the rank it goes to, in order. Must not know: why
 * they wait, when they go. */
#ifndef COMMON_MESSAGES_OWED_H
#define COMMON_MESSAGES_OWED_H

#include "common/messages/packet.h"

/* All zero is empty. */
struct owed {
    struct packet_list packets;
    int *to; /* by place in the list; owned */
    size_t count;
    size_t room;
};

/* Takes over one hold. The job ends if there is no memory. */
void owed_add(struct owed *owed, struct packet *packet, int to);

/* Gives each to `send`, which takes over its hold; empty then. NULL: they are dropped. */
void owed_clear(struct owed *owed, void (*send)(struct packet *packet, int to));

#endif
