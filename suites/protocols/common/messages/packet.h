/* What goes over the wire: a head and, after it, the data. Must not know: who sends it when. */
#ifndef COMMON_MESSAGES_PACKET_H
#define COMMON_MESSAGES_PACKET_H

#include "common/base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a packet is; its tag on the wire. Kinds from PACKET_CONTROL on are the protocol's. */
enum packet_kind {
    PACKET_MESSAGE = 1,     /* of the program, point to point */
    PACKET_COLLECTIVE = 2,  /* within a collective call of the program */
    PACKET_ACKNOWLEDGE = 3, /* a synchronous message was matched */
    /* Along a tree, if the protocol carries them: see layer_carrier. `number` is among the calls on
     * the communicator that go along trees, from 1; the tag follows from it. */
    PACKET_MULTICAST = 4,    /* `about`: which of its root's on the communicator it is, from 0 */
    PACKET_CONTRIBUTION = 5, /* to a reduction; `about`: its root, a rank of the application */
    PACKET_CONTROL = 8,
    PACKET_KIND_MAX = 63
};

/* The first field stays the first: wire.lua of a protocol reads the line there. */
struct packet_head {
    uint64_t number;   /* of a control packet: the protocol's; else among the sender's to this rank,
                          not counting control packets, from 0; of an acknowledgement: likewise */
    uint64_t sequence; /* among all in its channel, from 0 */
    uint64_t comm;     /* identity of the program's communicator; 0 in a control packet */
    uint64_t about;    /* of an acknowledgement: number of the message that was matched */
    int32_t from;      /* rank of the application */
    int32_t source;    /* rank in comm */
    int32_t tag;       /* of the program; within a collective call, which part of it */
    uint32_t kind;
    uint32_t synchronous; /* wants an acknowledgement */
    uint32_t lane;
    uint64_t bytes; /* of data */
};

/* Not from one rank to another, but along a tree. */
static inline bool packet_is_of_tree(const struct packet_head *head)
{
    return head->kind == PACKET_MULTICAST || head->kind == PACKET_CONTRIBUTION;
}

struct packet {
    struct packet *next; /* in the list that owns it */
    unsigned holds;
    uint64_t arrived;   /* its place among all that came to this rank; see layer_for_each_kept */
    uint64_t kept_line; /* it crossed the cut of this line, from which this rank was restored; 0 */
    struct packet_head head;
    char data[]; /* right after the head: both go out as one */
};

/* With room for `bytes` of data, zeroed, held once. The job ends if there is no memory. */
struct packet *packet_new(size_t bytes);
struct packet *packet_hold(struct packet *packet);
void packet_drop(struct packet *packet); /* freed with the last hold; NULL is fine */

/* As bytes in a saved state. packet_read: NULL if the bytes are none of packet_write's. */
void packet_write(const struct packet *packet, struct bytes *out);
struct packet *packet_read(struct reader *in);

/* In the order of arrival. All zero is empty. */
struct packet_list {
    struct packet *first;
    struct packet *last;
};
void packet_append(struct packet_list *list, struct packet *packet); /* takes over one hold */
struct packet *packet_take_first(struct packet_list *list);          /* NULL: empty */
void packet_list_clear(struct packet_list *list);

#endif
