/* See tree_calls.h. */
#include "common/messages/tree_calls.h"

#include "common/messages/parts.h"
#include "common/messages/tree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A reduction at its root, or at a rank that gets what comes out: the context of an exchange. */
struct outcome {
    struct layer_combining how;
    int root;
    uint64_t reduction; /* its number; then those of the multicast, if there is one */
    uint64_t multicast;
    struct packet *own;                      /* of the root; owned until it is combined */
    struct tree tree;                        /* of the root */
    struct packet *part[TREE_CHILDREN_MOST]; /* of its children; likewise */
    struct packet *result;                   /* owned */
    struct payload *place;                   /* owned */
    int places;
};

static int tag_of(uint64_t number)
{
    return (int)(number & INT_MAX);
}

static struct packet *packet_of(const struct comm *comm, uint64_t number, size_t bytes)
{
    struct packet *packet = packet_new(bytes);
    packet->head.number = number;
    packet->head.tag = tag_of(number);
    packet->head.comm = comm->id;
    packet->head.from = layer_rank();
    packet->head.source = comm->rank;
    return packet;
}

static struct packet *pack(const struct comm *comm, uint64_t number, const struct payload *payload)
{
    struct packet *packet = packet_of(comm, number, payload_bytes(payload));
    if (payload_pack(payload, packet->data) != MPI_SUCCESS)
        die("what a collective call gives cannot be packed");
    return packet;
}

/* Takes over the packet. */
static void multicast(struct comm *comm, struct packet *packet)
{
    packet->head.kind = PACKET_MULTICAST;
    packet->head.about = comm->multicasts++;
    layer_carrier()->multicast(packet);
}

void tree_multicast(struct exchange *call, int root, struct payload payload)
{
    struct comm *comm = call->comm;
    uint64_t number = ++comm->numbered;
    if (comm->size == 1)
        return;
    if (comm->rank == root)
        multicast(comm, pack(comm, number, &payload));
    else
        exchange_receive_tagged(call, root, payload, PACKET_MULTICAST, tag_of(number));
}

/* --- reductions ------------------------------------------------------------------------------- */

/* A packet to be filled by a receive. */
static struct packet *expect(struct exchange *call, int from, uint32_t kind, uint64_t number,
                             uint64_t bytes)
{
    struct packet *packet = packet_of(call->comm, number, bytes);
    if (bytes > INT_MAX)
        die("a collective call of %llu bytes; accepted: less than 2 GiB",
            (unsigned long long)bytes);
    exchange_receive_tagged(call, from, (struct payload){packet->data, (int)bytes, MPI_BYTE}, kind,
                            tag_of(number));
    return packet;
}

static uint64_t bytes_of(const struct outcome *it, int first, int last)
{
    uint64_t bytes = 0;
    if (it->how.op != MPI_OP_NULL)
        return payload_bytes(&it->place[0]);
    for (int i = first; i <= last; i++)
        bytes += payload_bytes(&it->place[i]);
    return bytes;
}

/* At the root, where all parts are there now: in whichever call the last one came. */
static void combine_all(struct exchange *call)
{
    struct outcome *it = call->context;
    struct comm *comm = call->comm;
    exchange_hand_over_parts(call);
    call->then = NULL;
    it->result = it->own;
    for (int i = 0; i < it->tree.children; i++)
        it->result = it->tree.child[i].ahead ? layer_combine(&it->how, it->part[i], it->result)
                                             : layer_combine(&it->how, it->result, it->part[i]);
    if (comm->size == 1)
        return;
    layer_carrier()->reduced(comm->id, it->reduction);
    if (it->multicast == 0)
        return;
    struct packet *copy = packet_of(comm, it->multicast, it->result->head.bytes);
    memcpy(copy->data, it->result->data, it->result->head.bytes);
    multicast(comm, copy);
}

static int put(struct exchange *call)
{
    struct outcome *it = call->context;
    const char *row = it->result->data;
    int error = MPI_SUCCESS;
    for (int i = 0; i < it->places && error == MPI_SUCCESS; i++) {
        uint64_t bytes = payload_bytes(&it->place[i]);
        error = payload_unpack(&it->place[i], row, bytes);
        row += bytes;
    }
    packet_drop(it->result);
    free(it->place);
    free(it);
    return error;
}

static void begin_at_root(struct exchange *call, struct outcome *it, const struct payload *mine)
{
    const struct comm *comm = call->comm;
    it->own = pack(comm, it->reduction, mine);
    it->tree = tree_of(comm->size, it->root, comm->rank);
    for (int i = 0; i < it->tree.children; i++) {
        const struct tree_child *child = &it->tree.child[i];
        it->part[i] = expect(call, child->rank, PACKET_CONTRIBUTION, it->reduction,
                             bytes_of(it, child->first, child->last));
    }
    call->then = combine_all;
}

static void contribute(const struct exchange *call, const struct outcome *it,
                       const struct payload *mine)
{
    struct packet *own = pack(call->comm, it->reduction, mine);
    own->head.kind = PACKET_CONTRIBUTION;
    own->head.about = (uint64_t)call->comm->world[it->root];
    layer_carrier()->contribute(own, &it->how);
}

void tree_reduce(struct exchange *call, int root, bool to_all, struct payload mine,
                 const struct layer_combining *how, struct payload *place, int places)
{
    struct comm *comm = call->comm;
    struct outcome *it = memory(1, sizeof *it);
    *it = (struct outcome){.how = *how, .root = root, .place = place, .places = places};
    it->reduction = ++comm->numbered;
    it->multicast = to_all ? ++comm->numbered : 0;
    call->context = it;
    if (comm->rank == root) {
        call->finish = put;
        begin_at_root(call, it, &mine);
        return;
    }
    contribute(call, it, &mine);
    if (to_all) {
        call->finish = put;
        it->result =
            expect(call, root, PACKET_MULTICAST, it->multicast, bytes_of(it, 0, places - 1));
    } else {
        free(it);
    }
}
