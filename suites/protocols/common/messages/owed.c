/* See owed.h. */
#include "common/messages/owed.h"

#include "common/messages/mail.h"

#include <stdlib.h>

#define FIRST_ROOM 16

void owed_add(struct owed *owed, struct packet *packet, int to)
{
    if (owed->count == owed->room) {
        owed->room = owed->room ? 2 * owed->room : FIRST_ROOM;
        owed->to = realloc(owed->to, owed->room * sizeof *owed->to);
        if (!owed->to)
            mail_die("out of memory for %zu packets that wait", owed->room);
    }
    owed->to[owed->count++] = to;
    packet_append(&owed->packets, packet);
}

void owed_clear(struct owed *owed, void (*send)(struct packet *packet, int to))
{
    struct owed all = *owed;
    *owed = (struct owed){0};
    for (size_t i = 0; i < all.count; i++) {
        struct packet *packet = packet_take_first(&all.packets);
        if (send)
            send(packet, all.to[i]);
        else
            packet_drop(packet);
    }
    free(all.to);
}
