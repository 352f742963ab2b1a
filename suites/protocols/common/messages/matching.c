/* See matching.h. */
#include "common/messages/matching.h"

#include "common/messages/exchange.h"
#include "common/messages/layer.h"
#include "common/messages/steps.h"

static struct packet_list here;

static bool fits(const struct request *receive, const struct packet_head *head)
{
    return receive->comm->id == head->comm && receive->packet_kind == head->kind &&
           (receive->peer == MPI_ANY_SOURCE || receive->peer == head->source) &&
           (receive->tag == MPI_ANY_TAG || receive->tag == head->tag);
}

/* The sender of a synchronous message may go on. */
static void acknowledge(const struct packet_head *head)
{
    if (!head->synchronous)
        return;
    struct packet *answer = packet_new(0);
    answer->head.kind = PACKET_ACKNOWLEDGE;
    answer->head.about = head->number;
    steps_send(answer, head->from);
}

static void give(struct request *receive, struct packet *packet)
{
    receive->packet = packet;
    receive->done = true;
    acknowledge(&packet->head);
    if (receive->whole)
        exchange_part_done(receive->whole); /* the receive may be gone then */
}

static void is_acknowledged(const struct packet_head *head)
{
    struct request *send = request_sent_as(head->from, head->about);
    if (!send)
        die("rank %d acknowledges a message that nobody waits for", head->from);
    send->done = true;
    if (send->detached)
        request_free(send);
}

void matching_arrives(struct packet *packet)
{
    if (packet->head.kind == PACKET_ACKNOWLEDGE) {
        is_acknowledged(&packet->head);
        packet_drop(packet);
        return;
    }
    for (struct request *one = requests_posted(); one; one = one->posted_next)
        if (fits(one, &packet->head)) {
            request_unpost(one);
            give(one, packet);
            return;
        }
    packet_append(&here, packet);
}

static void take_away(struct packet *packet)
{
    struct packet *before = NULL;
    for (struct packet *one = here.first; one != packet; one = one->next)
        before = one;
    *(before ? &before->next : &here.first) = packet->next;
    if (here.last == packet)
        here.last = before;
    packet->next = NULL;
}

void matching_post(struct request *receive)
{
    for (struct packet *one = here.first; one; one = one->next)
        if (fits(receive, &one->head)) {
            take_away(one);
            give(receive, one);
            return;
        }
    request_post(receive);
}

struct packet *matching_find(const struct comm *comm, int source, int tag)
{
    struct request like = {
        .comm = (struct comm *)comm, .peer = source, .tag = tag, .packet_kind = PACKET_MESSAGE};
    for (struct packet *one = here.first; one; one = one->next)
        if (fits(&like, &one->head))
            return one;
    return NULL;
}

void matching_take(struct packet *packet)
{
    take_away(packet);
    acknowledge(&packet->head);
}

struct packet *matching_here(void)
{
    return here.first;
}

void matching_write(struct bytes *out)
{
    for (const struct packet *one = here.first; one; one = one->next)
        packet_write(one, out);
}

void matching_read(struct reader in)
{
    packet_list_clear(&here);
    while (in.left > 0) {
        struct packet *packet = packet_read(&in);
        if (!packet)
            die("the saved messages are damaged");
        packet_append(&here, packet);
    }
}
