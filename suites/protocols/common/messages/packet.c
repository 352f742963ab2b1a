/* See packet.h. */
#include "common/messages/packet.h"

#include "common/messages/layer.h"

#include <stdlib.h>
#include <string.h>

struct packet *packet_new(size_t bytes)
{
    struct packet *packet = memory(1, sizeof *packet + bytes);
    packet->holds = 1;
    packet->head.bytes = bytes;
    return packet;
}

struct packet *packet_hold(struct packet *packet)
{
    packet->holds++;
    return packet;
}

void packet_drop(struct packet *packet)
{
    if (packet && --packet->holds == 0)
        free(packet);
}

void packet_write(const struct packet *packet, struct bytes *out)
{
    bytes_put_number(out, packet->arrived);
    bytes_put(out, &packet->head, sizeof packet->head);
    bytes_put(out, packet->data, packet->head.bytes);
}

struct packet *packet_read(struct reader *in)
{
    struct packet_head head;
    uint64_t arrived = reader_number(in);
    const void *stored = reader_take(in, sizeof head);
    if (!stored)
        return NULL;
    memcpy(&head, stored, sizeof head);
    const void *data = reader_take(in, head.bytes);
    if (!data)
        return NULL;
    struct packet *packet = packet_new(head.bytes);
    packet->head = head;
    packet->arrived = arrived;
    memcpy(packet->data, data, head.bytes);
    return packet;
}

void packet_append(struct packet_list *list, struct packet *packet)
{
    packet->next = NULL;
    *(list->last ? &list->last->next : &list->first) = packet;
    list->last = packet;
}

struct packet *packet_take_first(struct packet_list *list)
{
    struct packet *packet = list->first;
    if (!packet)
        return NULL;
    list->first = packet->next;
    if (!list->first)
        list->last = NULL;
    packet->next = NULL;
    return packet;
}

void packet_list_clear(struct packet_list *list)
{
    for (struct packet *packet; (packet = packet_take_first(list));)
        packet_drop(packet);
}
