/* What has been sent to this rank and not been handed over to the program, and the program's
 * requests, as they are noted in the trace: see layer.h. Must not know: the wire, the past. */
#include "common/messages/matching.h"
#include "common/messages/parts.h"
#include "faultline.h"

bool layer_describe(const struct packet *packet, struct layer_message *message)
{
    const struct packet_head *head = &packet->head;
    const struct comm *comm = comm_by_id(head->comm);
    if (head->kind != PACKET_MESSAGE || !comm || (comm->freed && comm->holds == 0))
        return false;
    *message = (struct layer_message){.comm = (uint64_t)comm->user,
                                      .peer = head->source,
                                      .tag = head->tag,
                                      .data = packet->data,
                                      .bytes = head->bytes};
    return true;
}

bool layer_describe_sent(const struct packet *packet, int to, struct layer_message *message)
{
    if (!layer_describe(packet, message))
        return false;
    const struct comm *comm = comm_by_id(packet->head.comm);
    for (int i = 0; i < comm->size; i++)
        if (comm->world[i] == to)
            message->peer = i;
    return true;
}

static struct packet *earlier(struct packet *one, struct packet *other, uint64_t least)
{
    if (!one || one->arrived < least)
        return other;
    return !other || one->arrived < other->arrived ? one : other;
}

/* The first that came as number `least` or later; NULL: none did. */
static struct packet *next_kept(uint64_t least)
{
    struct packet *next = NULL;
    for (struct packet *one = matching_here(); one; one = one->next)
        next = earlier(one, next, least);
    for (struct request *one = requests_all(); one; one = one->next)
        next = earlier(one->packet, next, least);
    return next;
}

void layer_for_each_kept(void (*visit)(void *context, const struct layer_message *message),
                         void *context)
{
    struct layer_message message;
    for (struct packet *one = next_kept(0); one; one = next_kept(one->arrived + 1))
        if (layer_describe(one, &message))
            visit(context, &message);
}

void layer_mark_kept(uint64_t line)
{
    for (struct packet *one = next_kept(0); one; one = next_kept(one->arrived + 1))
        one->kept_line = line;
}

void layer_note_requests(void)
{
    for (const struct request *one = requests_all(); one; one = one->next)
        if (one->number > 0 && one->comm)
            faultline_brought_back(&(struct faultline_request){
                .handle = HANDLE_BITS(request_handle_of(one)),
                .comm = (uint64_t)one->comm->user,
                .message = one->kind == REQUEST_MESSAGE,
                .receives = one->kind == REQUEST_RECEIVE,
                .persistent = one->persistent,
                .active = one->active,
                .peer = one->peer,
                .tag = one->tag,
                .buffer = one->payload.buffer,
                .count = one->payload.count,
                .datatype = (uint64_t)one->payload.type,
            });
}
