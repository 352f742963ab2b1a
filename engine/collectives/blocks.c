/* The blocks of a collective: where they are, how they are packed and unpacked. */
#include "engine/collectives/collective.h"
#include "engine/data/packing.h"

#include <stdlib.h>
#include <string.h>

MPI_Count blocks_count(const struct blocks *blocks, int which)
{
    if (!blocks->counts)
        return blocks->count;
    return blocks->wide ? ((const MPI_Count *)blocks->counts)[which]
                        : ((const int *)blocks->counts)[which];
}

MPI_Datatype blocks_type(const struct blocks *blocks, int which)
{
    return blocks->types ? blocks->types[which] : blocks->type;
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lower = 0, extent = 0;
    local.Type_get_extent(type, &lower, &extent);
    return extent;
}

void *blocks_address(const struct blocks *blocks, int which)
{
    MPI_Aint offset;
    if (!blocks->displacements)
        offset = (MPI_Aint)which * (MPI_Aint)blocks->count * extent_of(blocks->type);
    else if (blocks->wide || blocks->aints)
        offset = ((const MPI_Aint *)blocks->displacements)[which];
    else
        offset = ((const int *)blocks->displacements)[which];
    if (blocks->displacements && !blocks->types)
        offset *= extent_of(blocks->type);
    return (char *)blocks->buffer + offset;
}

static size_t bytes_of(const struct blocks *blocks, int which)
{
    return packing_bytes(blocks_count(blocks, which), blocks_type(blocks, which));
}

int collective_place(const struct collective *collective, int peer)
{
    const struct comm_view *view = collective->view;
    return meeting_place(view->shared, view->inter ? !view->side : view->side, peer);
}

/* --- what is sent ----------------------------------------------------------------------------- */

int blocks_sent(const struct collective *c)
{
    const struct traits *traits = c->traits;
    if (c->idle || c->call.operation == COLLECTIVE_BARRIER)
        return 0;
    if (traits->rooted && traits->root_sends != c->is_root) {
        bool own = c->is_root && !c->view->inter && !c->skip_own;
        return own ? 1 : 0;
    }
    if (!traits->per_peer)
        return 1;
    return traits->neighbours ? c->neighbours.destinations_count : c->peers;
}

/* Among neighbours part 0 says to whom the blocks go. */
struct deposit *blocks_pack(const struct collective *c)
{
    int blocks = blocks_sent(c), head = c->traits->neighbours ? 1 : 0;
    const struct neighbours *mine = &c->neighbours;
    size_t list = (size_t)mine->destinations_count * sizeof mine->destinations[0];
    size_t *bytes = calloc((size_t)blocks + 1, sizeof *bytes);
    if (!bytes)
        engine_abort(MPI_ERR_NO_MEM);
    bytes[0] = list;
    for (int i = 0; i < blocks; i++)
        bytes[head + i] = bytes_of(&c->call.send, i);
    struct deposit *deposit = deposit_new(head + blocks, bytes);
    if (list > 0)
        memcpy(deposit_part(deposit, 0), mine->destinations, list);
    for (int i = 0; i < blocks; i++)
        packing_pack(blocks_address(&c->call.send, i), blocks_count(&c->call.send, i),
                     blocks_type(&c->call.send, i), deposit_part(deposit, head + i),
                     bytes[head + i]);
    free(bytes);
    return deposit;
}

/* --- what is received ------------------------------------------------------------------------- */

int block_fill(const struct blocks *blocks, int which, const void *packed, size_t bytes)
{
    MPI_Datatype type = blocks_type(blocks, which);
    size_t room = bytes_of(blocks, which), size = packing_bytes(1, type);
    size_t count = size > 0 ? (bytes < room ? bytes : room) / size : 0;
    packing_unpack(blocks_address(blocks, which), (MPI_Count)count, type, packed, count * size);
    return bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/* Unpacks part `part` of a participant's deposit into block `which`. */
static int take(const struct collective *c, int participant, int part, int which)
{
    struct deposit *deposit = c->meeting->deposit[participant];
    if (!deposit || part >= deposit->parts)
        return MPI_SUCCESS;
    return block_fill(&c->call.receive, which, deposit_part(deposit, part),
                      deposit_bytes(deposit, part));
}

static int worse(int result, int found)
{
    return result != MPI_SUCCESS ? result : found;
}

/* Takes from each peer the part that is for this rank. */
static int take_from_peers(const struct collective *c)
{
    int result = MPI_SUCCESS;
    int part = c->traits->per_peer ? c->view->rank : 0;
    for (int i = 0; i < c->peers; i++)
        if (!c->skip_own || i != c->view->rank)
            result = worse(result, take(c, collective_place(c, i), part, i));
    return result;
}

/* Index of the edge to `rank` that has `earlier` other edges to it before it; the number of edges
 * if there is none. */
static int edge_to(struct deposit *deposit, int rank, int earlier)
{
    const int *to = deposit_part(deposit, 0);
    int edges = (int)(deposit_bytes(deposit, 0) / sizeof *to), at = 0;
    while (at < edges && (to[at] != rank || earlier-- > 0))
        at++;
    return at;
}

/* How many edges from the same source are matched before this one. The library matches them in the
 * order in which they were sent, but those of MPI_Neighbor_alltoall in the reverse order: where one
 * process is both neighbours on a ring, its block for the lower neighbour arrives from the upper
 * one. */
static int edges_before(const struct collective *c, int edge)
{
    const struct neighbours *mine = &c->neighbours;
    bool from_last = c->call.operation == COLLECTIVE_NEIGHBOR_ALLTOALL;
    int first = from_last ? edge + 1 : 0, end = from_last ? mine->sources_count : edge, found = 0;
    for (int i = first; i < end; i++)
        found += mine->sources[i] == mine->sources[edge];
    return found;
}

static int take_from_neighbours(const struct collective *c)
{
    int result = MPI_SUCCESS;
    const struct neighbours *mine = &c->neighbours;
    for (int i = 0; i < mine->sources_count; i++) {
        int part = 0;
        if (mine->sources[i] == MPI_PROC_NULL)
            continue;
        int place = collective_place(c, mine->sources[i]);
        if (c->traits->per_peer)
            part = edge_to(c->meeting->deposit[place], c->view->rank, edges_before(c, i));
        result = worse(result, take(c, place, part + 1, i));
    }
    return result;
}

int blocks_received(const struct collective *c)
{
    if (c->idle || c->call.operation == COLLECTIVE_BARRIER)
        return 0;
    if (c->traits->neighbours)
        return c->neighbours.sources_count;
    if (!c->traits->rooted)
        return c->traits->reduces ? 1 : c->peers;
    if (c->traits->reduces)
        return c->is_root;
    if (!c->traits->root_sends)
        return c->is_root ? c->peers : 0;
    return c->is_root && (c->skip_own || !c->traits->per_peer || c->view->inter) ? 0 : 1;
}

/* A broadcast of fewer elements than are asked for is an error, as in the library. */
static int take_from_root(const struct collective *c)
{
    int place = collective_place(c, c->call.root);
    int result = take(c, place, c->traits->per_peer ? c->view->rank : 0, 0);
    bool less = c->call.operation == COLLECTIVE_BCAST &&
                deposit_bytes(c->meeting->deposit[place], 0) < bytes_of(&c->call.receive, 0);
    return worse(result, less ? MPI_ERR_OTHER : MPI_SUCCESS);
}

int blocks_unpack(const struct collective *c)
{
    if (blocks_received(c) == 0)
        return MPI_SUCCESS;
    if (c->traits->neighbours)
        return take_from_neighbours(c);
    if (c->traits->rooted && c->traits->root_sends)
        return take_from_root(c);
    return take_from_peers(c);
}
