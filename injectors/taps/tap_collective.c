/* Collectives: see tap_collective.h. Two tables do the work: for each operation, who contributes
 * which part of the send side, and who gets which part of the receive side. */
#include "injectors/taps/tap_collective.h"

#include "injectors/record/payload.h"
#include "injectors/taps/tap_request.h"

/* A part of a side. */
enum part {
    PART_NONE,
    PART_ONE,     /* `count` once */
    PART_EACH,    /* a block per member of the (remote) group */
    PART_TOTAL,   /* a block per member of the local group, lying together: Reduce_scatter */
    PART_OWN,     /* the block of this rank, at the start: Reduce_scatter */
    PART_SOURCES, /* a block per neighbour */
    PART_DESTINATIONS,
};

enum root { ROOT_NONE, ROOT_SENDS, ROOT_RECEIVES };

struct shape {
    enum root root;
    enum part send;
    enum part recv;
};

static const struct shape shapes[OPERATION_COUNT] = {
    [OPERATION_BARRIER] = {ROOT_NONE, PART_NONE, PART_NONE},
    [OPERATION_BCAST] = {ROOT_SENDS, PART_ONE, PART_ONE},
    [OPERATION_SCATTER] = {ROOT_SENDS, PART_EACH, PART_ONE},
    [OPERATION_SCATTERV] = {ROOT_SENDS, PART_EACH, PART_ONE},
    [OPERATION_GATHER] = {ROOT_RECEIVES, PART_ONE, PART_EACH},
    [OPERATION_GATHERV] = {ROOT_RECEIVES, PART_ONE, PART_EACH},
    [OPERATION_REDUCE] = {ROOT_RECEIVES, PART_ONE, PART_ONE},
    [OPERATION_ALLGATHER] = {ROOT_NONE, PART_ONE, PART_EACH},
    [OPERATION_ALLGATHERV] = {ROOT_NONE, PART_ONE, PART_EACH},
    [OPERATION_ALLTOALL] = {ROOT_NONE, PART_EACH, PART_EACH},
    [OPERATION_ALLTOALLV] = {ROOT_NONE, PART_EACH, PART_EACH},
    [OPERATION_ALLTOALLW] = {ROOT_NONE, PART_EACH, PART_EACH},
    [OPERATION_ALLREDUCE] = {ROOT_NONE, PART_ONE, PART_ONE},
    [OPERATION_REDUCE_SCATTER] = {ROOT_NONE, PART_TOTAL, PART_OWN},
    [OPERATION_REDUCE_SCATTER_BLOCK] = {ROOT_NONE, PART_TOTAL, PART_ONE},
    [OPERATION_SCAN] = {ROOT_NONE, PART_ONE, PART_ONE},
    [OPERATION_EXSCAN] = {ROOT_NONE, PART_ONE, PART_ONE},
    [OPERATION_NEIGHBOR_ALLGATHER] = {ROOT_NONE, PART_ONE, PART_SOURCES},
    [OPERATION_NEIGHBOR_ALLGATHERV] = {ROOT_NONE, PART_ONE, PART_SOURCES},
    [OPERATION_NEIGHBOR_ALLTOALL] = {ROOT_NONE, PART_DESTINATIONS, PART_SOURCES},
    [OPERATION_NEIGHBOR_ALLTOALLV] = {ROOT_NONE, PART_DESTINATIONS, PART_SOURCES},
    [OPERATION_NEIGHBOR_ALLTOALLW] = {ROOT_NONE, PART_DESTINATIONS, PART_SOURCES},
};

/* What of one side this rank reads or writes: `blocks` blocks from number `first` on. */
struct extent {
    const struct side *side;
    int first;
    int blocks;
    bool together; /* one run of blocks*count elements, no displacements */
    bool result;   /* hashed as what came in */
};

static bool is_root(const struct collective *c)
{
    return c->communicator->remote ? c->root == MPI_ROOT : c->root == c->communicator->rank;
}

/* In an intercommunicator the group of the root has only bystanders besides it. */
static bool is_bystander(const struct collective *c)
{
    return c->communicator->remote && c->root == MPI_PROC_NULL;
}

static MPI_Count count_of(const struct collective *c, const struct side *side, int i)
{
    if (!side->counts)
        return side->count;
    return c->wide_counts ? ((const MPI_Count *)side->counts)[i] : ((const int *)side->counts)[i];
}

static MPI_Datatype type_of(const struct side *side, int i)
{
    return side->types ? side->types[i] : side->type;
}

static MPI_Aint type_extent(MPI_Datatype type)
{
    MPI_Aint lower = 0, extent = 0;
    library_begin();
    library.Type_get_extent(type, &lower, &extent);
    library_end();
    return extent;
}

/* Distance of block i from the buffer, in bytes. `element` is the type's extent. */
static MPI_Aint offset_of(const struct side *side, int i, MPI_Aint element)
{
    if (!side->displacements)
        return (MPI_Aint)(side->count * i) * element;
    MPI_Aint displacement = side->wide ? ((const MPI_Aint *)side->displacements)[i]
                                       : ((const int *)side->displacements)[i];
    return side->types ? displacement : displacement * element;
}

static int blocks_of(const struct collective *c, enum part part)
{
    int sources, destinations;
    const struct communicator *comm = c->communicator;
    switch (part) {
    case PART_NONE:
        return 0;
    case PART_EACH:
        return comm->peers->size;
    case PART_TOTAL:
        return comm->local->size;
    case PART_SOURCES:
    case PART_DESTINATIONS:
        communicator_neighbours(c->communicator, &sources, &destinations);
        return part == PART_SOURCES ? sources : destinations;
    default:
        return 1;
    }
}

static struct extent extent_of(const struct collective *c, const struct side *side, enum part part)
{
    struct extent extent = {.side = side, .blocks = blocks_of(c, part)};
    extent.together = part == PART_TOTAL || part == PART_OWN || !side->counts;
    if (part == PART_OWN)
        extent.first = c->communicator->rank;
    return extent;
}

/* MPI_IN_PLACE where a rank would contribute: its own block of the receive side, or all of it. */
static struct extent in_place(const struct collective *c)
{
    enum part sent = shapes[c->operation].send, got = shapes[c->operation].recv;
    struct extent extent = extent_of(c, &c->recv, sent == PART_ONE ? got : sent);
    if (sent == PART_ONE && got == PART_EACH) {
        extent.first = c->communicator->rank;
        extent.blocks = 1;
        extent.together = false;
    }
    return extent;
}

static struct extent contribution(const struct collective *c)
{
    const struct shape *shape = &shapes[c->operation];
    struct extent nothing = {.side = &c->send};
    if (is_bystander(c) || (shape->root == ROOT_SENDS && !is_root(c)) ||
        (shape->root == ROOT_RECEIVES && c->communicator->remote && is_root(c)))
        return nothing;
    if (c->send.buffer == MPI_IN_PLACE)
        return in_place(c);
    return extent_of(c, &c->send, shape->send);
}

static struct extent outcome(const struct collective *c)
{
    const struct shape *shape = &shapes[c->operation];
    struct extent nothing = {.side = &c->recv};
    if (is_bystander(c) || (shape->root == ROOT_RECEIVES && !is_root(c)) ||
        (shape->root == ROOT_SENDS && c->communicator->remote && is_root(c)) ||
        (c->operation == OPERATION_EXSCAN && c->communicator->rank == 0) ||
        c->recv.buffer == MPI_IN_PLACE)
        return nothing;
    struct extent extent = extent_of(c, &c->recv, shape->recv);
    extent.result = true;
    return extent;
}

static uint64_t extent_bytes(const struct collective *c, const struct extent *extent)
{
    uint64_t bytes = 0;
    for (int i = extent->first; i < extent->first + extent->blocks; i++)
        bytes += payload_bytes(count_of(c, extent->side, i), type_of(extent->side, i));
    return bytes;
}

static uint64_t hash_block(const struct extent *extent, const void *buffer, MPI_Count count,
                           MPI_Datatype type, bool *hashed)
{
    return extent->result ? payload_result_hash(buffer, count, type, hashed)
                          : payload_hash(buffer, count, type, hashed);
}

/* Blocks that lie together are one payload. */
static uint64_t hash_together(const struct collective *c, const struct extent *extent, bool *hashed)
{
    MPI_Count count = 0;
    for (int i = extent->first; i < extent->first + extent->blocks; i++)
        count += count_of(c, extent->side, i);
    return hash_block(extent, extent->side->buffer, count, extent->side->type, hashed);
}

/* Others are hashed block by block, empty ones left out: the same data in the same order gives the
 * same hash wherever it lies. */
static uint64_t hash_apart(const struct collective *c, const struct extent *extent, bool *hashed)
{
    const struct side *side = extent->side;
    MPI_Aint element = side->types || extent->blocks == 0 ? 0 : type_extent(side->type);
    uint64_t hash = 0;
    *hashed = true;
    for (int i = extent->first; *hashed && i < extent->first + extent->blocks; i++) {
        MPI_Count count = count_of(c, side, i);
        if (count <= 0)
            continue;
        const char *block = (const char *)side->buffer + offset_of(side, i, element);
        hash =
            hash * 0x9e3779b97f4a7c15u + hash_block(extent, block, count, type_of(side, i), hashed);
    }
    return *hashed ? hash : 0;
}

/* 0 where the rank has no part: no payload is told from an empty one. */
static uint64_t extent_hash(const struct collective *c, const struct extent *extent, bool *hashed)
{
    *hashed = true;
    if (extent->blocks == 0)
        return 0;
    return extent->together ? hash_together(c, extent, hashed) : hash_apart(c, extent, hashed);
}

static int32_t root_peer(const struct collective *c)
{
    if (shapes[c->operation].root == ROOT_NONE)
        return PEER_NONE;
    if (c->communicator->remote && c->root == MPI_ROOT)
        return communicator_own(c->communicator);
    return communicator_peer(c->communicator, c->root);
}

static uint64_t recorded_bytes(const struct collective *c, const struct extent *given)
{
    if (c->operation == OPERATION_BCAST)
        return is_bystander(c) ? 0 : payload_bytes(c->send.count, c->send.type);
    return extent_bytes(c, given);
}

void collective_fill(struct record *r, const struct collective *c)
{
    bool hashed = false;
    r->comm = c->communicator->id;
    r->peer = root_peer(c);
    if (c->communicator->remote)
        r->flags |= FLAG_INTER;
    if (c->send.buffer == MPI_IN_PLACE || c->recv.buffer == MPI_IN_PLACE)
        r->flags |= FLAG_IN_PLACE;
    if (c->communicator->id != 0 && !c->types_gone) {
        struct extent given = contribution(c);
        r->bytes = recorded_bytes(c, &given);
        r->hash = extent_hash(c, &given, &hashed);
    }
    if (!hashed)
        r->flags |= FLAG_NO_HASH;
}

uint64_t collective_result_hash(const struct collective *c, bool *hashed)
{
    *hashed = false;
    if (c->communicator->id == 0 || c->types_gone)
        return 0;
    struct extent got = outcome(c);
    return extent_hash(c, &got, hashed);
}

static struct record *begin(enum level level, unsigned call, struct collective *c, MPI_Comm comm,
                            uint32_t request)
{
    struct record *r = record_begin(level, RECORD_COLLECTIVE, call);
    c->communicator = communicator_find(level, comm);
    collective_fill(r, c);
    r->request = request;
    record_publish(r);
    return r;
}

struct record *collective_begin(enum level level, unsigned call, struct collective *c,
                                MPI_Comm comm)
{
    return tap_ready ? begin(level, call, c, comm, 0) : call_begin(level, call, comm);
}

void collective_end(struct record *r, const struct collective *c, int result)
{
    bool hashed = false;
    if (result == MPI_SUCCESS && tap_ready)
        r->result_hash = collective_result_hash(c, &hashed);
    if (!hashed)
        r->flags |= FLAG_NO_HASH;
    call_end(r, result);
}

struct record *icollective_begin(enum level level, unsigned call, struct collective *c,
                                 MPI_Comm comm)
{
    return tap_ready ? begin(level, call, c, comm, request_number(level))
                     : call_begin(level, call, comm);
}

static struct request *collective_request(enum level level, const struct record *r,
                                          const struct collective *c)
{
    struct request *made =
        request_new(level, REQUEST_COLLECTIVE, r->call, r->request, c->communicator);
    if (made) {
        made->collective = *c;
        made->collective.types_gone = c->send.types || c->recv.types;
    }
    return made;
}

void icollective_end(enum level level, struct record *r, const struct collective *c,
                     const MPI_Request *request, int result)
{
    if (result == MPI_SUCCESS && tap_ready) {
        struct request *made = collective_request(level, r, c);
        if (made)
            request_insert(made, HANDLE(*request), request);
    }
    call_end(r, result);
}

void collective_init_end(enum level level, struct record *r, struct collective *c, MPI_Comm comm,
                         const MPI_Request *request, int result)
{
    if (result == MPI_SUCCESS && tap_ready) {
        c->communicator = communicator_find(level, comm);
        struct request *made = collective_request(level, r, c);
        if (made) {
            made->persistent = true;
            made->active = false;
            request_insert(made, HANDLE(*request), request);
        }
    }
    call_end(r, result);
}
