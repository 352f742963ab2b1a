/* What has been sent to this rank and not been handed over to the program, and the program's
 * requests, as Faultline is to be told of them: see mail.h. Must not know: the wire, the past. */
#include "common/mail/matching.h"
#include "common/mail/parts.h"
#include "faultline.h"

bool mail_describe(const struct packet *packet, struct mail_message *message)
{
    const struct packet_head *head = &packet->head;
    const struct comm *comm = comm_by_id(head->comm);
    if (head->kind != PACKET_MESSAGE || !comm || comm->freed)
        return false;
    *message = (struct mail_message){.comm = (uint64_t)comm->user,
                                     .peer = head->source,
                                     .tag = head->tag,
                                     .data = packet->data,
                                     .bytes = head->bytes};
    return true;
}

/* Of one sender in the order of sending: numbers go up. NULL: none behind `number`. */
static struct packet *next_kept(int from, uint64_t number)
{
    struct packet *next = NULL;
    for (struct packet *one = matching_here(); one; one = one->next)
        if (one->head.from == from && one->head.number >= number &&
            (!next || one->head.number < next->head.number))
            next = one;
    for (struct request *one = requests_all(); one; one = one->next)
        if (one->packet && one->packet->head.from == from && one->packet->head.number >= number &&
            (!next || one->packet->head.number < next->head.number))
            next = one->packet;
    return next;
}

void mail_for_each_kept(void (*visit)(void *context, const struct mail_message *message),
                        void *context)
{
    struct mail_message message;
    for (int rank = 0; rank < mail_ranks(); rank++) {
        struct packet *packet = next_kept(rank, 0);
        for (; packet; packet = next_kept(rank, packet->head.number + 1))
            if (mail_describe(packet, &message))
                visit(context, &message);
    }
}

void mail_mark_kept(uint64_t line)
{
    for (int rank = 0; rank < mail_ranks(); rank++) {
        struct packet *packet = next_kept(rank, 0);
        for (; packet; packet = next_kept(rank, packet->head.number + 1))
            packet->kept_line = line;
    }
}

void mail_tell_requests(void)
{
    for (const struct request *one = requests_all(); one; one = one->next)
        if (one->number > 0 && one->kind != REQUEST_MESSAGE && one->comm)
            faultline_brought_back(&(struct faultline_request){
                .handle = (uint64_t)(MPI_REQUEST_NULL + one->number),
                .comm = (uint64_t)one->comm->user,
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
