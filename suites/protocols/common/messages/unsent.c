/* See unsent.h. */
#include "common/messages/unsent.h"

#include "common/messages/layer.h"

#include <stdlib.h>

#define FIRST_ROOM 16

void unsent_add(struct unsent *unsent, struct packet *packet, int to)
{
    if (unsent->count == unsent->room) {
        unsent->room = unsent->room ? 2 * unsent->room : FIRST_ROOM;
        unsent->to = larger(unsent->to, unsent->room * sizeof *unsent->to);
    }
    unsent->to[unsent->count++] = to;
    packet_append(&unsent->packets, packet);
}

void unsent_clear(struct unsent *unsent, void (*send)(struct packet *packet, int to))
{
    struct unsent all = *unsent;
    *unsent = (struct unsent){0};
    for (size_t i = 0; i < all.count; i++) {
        struct packet *packet = packet_take_first(&all.packets);
        if (send)
            send(packet, all.to[i]);
        else
            packet_drop(packet);
    }
    free(all.to);
}
