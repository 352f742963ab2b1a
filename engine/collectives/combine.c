/* Reductions: the contributions that have come are unpacked and combined with the program's
 * operation, by the rank that needs the result. */
#include "engine/collectives/collective.h"
#include "engine/collectives/reduce.h"
#include "engine/data/packing.h"

#include <stdlib.h>

#define LONG_MESSAGE_BYTES 2048

/* Elements of the type, laid out as the operation expects them. */
struct value {
    char *memory;
    void *buffer;
};

struct reduction {
    const struct collective *collective;
    MPI_Count count;
    MPI_Count size;             /* of one element, packed */
    MPI_Aint true_lower, bytes; /* of `count` elements in memory */
    int result;
};

static struct value *value_new(const struct reduction *reduction)
{
    struct value *value = malloc(sizeof *value);
    char *memory = calloc(1, (size_t)reduction->bytes + 1);
    if (!value || !memory)
        engine_abort(MPI_ERR_NO_MEM);
    *value = (struct value){memory, memory - reduction->true_lower};
    /* cppcheck-suppress memleak ; value->memory */
    return value;
}

static void value_free(struct value *value)
{
    free(value->memory);
    free(value);
}

static void *leaf(void *context, int rank)
{
    struct reduction *reduction = context;
    const struct collective *c = reduction->collective;
    struct deposit *deposit = c->meeting->deposit[collective_place(c, rank)];
    struct value *value = value_new(reduction);
    MPI_Count bytes = deposit->parts > 0 ? (MPI_Count)deposit_bytes(deposit, 0) : 0;
    MPI_Count count = reduction->size > 0 ? bytes / reduction->size : 0;
    if (count > reduction->count)
        reduction->result = MPI_ERR_TRUNCATE;
    if (count > reduction->count)
        count = reduction->count;
    packing_unpack(value->buffer, count, c->call.receive.type, deposit_part(deposit, 0),
                   (size_t)(count * reduction->size));
    return value;
}

static void *combine(void *context, void *first, void *second)
{
    struct reduction *reduction = context;
    const struct collective *c = reduction->collective;
    struct value *a = first, *b = second;
    if (reduction->count > 0)
        local.Reduce_local_c(a->buffer, b->buffer, reduction->count, c->call.receive.type,
                             c->call.op);
    value_free(a);
    return b;
}

static struct reduction begin(const struct collective *c)
{
    MPI_Datatype type = c->call.receive.type;
    MPI_Aint lower = 0, extent = 0, true_extent = 0;
    struct reduction reduction = {.collective = c, .result = MPI_SUCCESS};
    bool scatters = c->call.operation == COLLECTIVE_REDUCE_SCATTER ||
                    c->call.operation == COLLECTIVE_REDUCE_SCATTER_BLOCK;
    reduction.count = scatters ? c->total : c->call.receive.count;
    local.Type_size_c(type, &reduction.size);
    local.Type_get_extent(type, &lower, &extent);
    local.Type_get_true_extent(type, &reduction.true_lower, &true_extent);
    MPI_Aint step = extent < 0 ? -extent : extent;
    if (reduction.count > 0)
        reduction.bytes = (MPI_Aint)(reduction.count - 1) * step + true_extent;
    if (extent < 0)
        reduction.true_lower -= (MPI_Aint)(reduction.count - 1) * step;
    return reduction;
}

/* A reduction to one root of so many bytes by a built-in operation: the library cuts it up, and
 * then the root does not matter to the order. */
static bool is_cut_up(const struct reduction *reduction)
{
    const struct collective *c = reduction->collective;
    bool built_in = (uint32_t)c->call.op >> 30 == 1;
    int parts = 1;
    while (parts * 2 <= c->peers)
        parts *= 2;
    return built_in && reduction->count * reduction->size > LONG_MESSAGE_BYTES &&
           reduction->count >= parts;
}

static struct value *evaluate(struct reduction *reduction)
{
    const struct collective *c = reduction->collective;
    struct combiner combiner = {reduction, leaf, combine};
    int commutes = 0, rank = c->view->rank;
    local.Op_commutative(c->call.op, &commutes);
    switch (c->call.operation) {
    case COLLECTIVE_REDUCE:
        if (is_cut_up(reduction))
            return reduce_doubling(&combiner, c->peers);
        return reduce_binomial(&combiner, c->peers, commutes && !c->view->inter ? c->call.root : 0);
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_REDUCE_SCATTER_BLOCK:
        return commutes ? reduce_halving(&combiner, c->peers)
                        : reduce_binomial(&combiner, c->peers, 0);
    case COLLECTIVE_SCAN:
        return reduce_scan(&combiner, rank);
    case COLLECTIVE_EXSCAN:
        return rank > 0 ? reduce_exscan(&combiner, rank) : NULL;
    default:
        return reduce_doubling(&combiner, c->peers);
    }
}

/* The elements of the result that are this rank's: *first of them, how many. */
static MPI_Count own_part(const struct collective *c, MPI_Count *first)
{
    *first = 0;
    if (c->call.operation == COLLECTIVE_REDUCE_SCATTER_BLOCK)
        *first = c->view->rank * c->call.receive.count;
    if (c->call.operation != COLLECTIVE_REDUCE_SCATTER)
        return c->call.receive.count;
    for (int i = 0; i < c->view->rank; i++)
        *first += blocks_count(&c->call.receive, i);
    return blocks_count(&c->call.receive, c->view->rank);
}

static void put(const struct reduction *reduction, const struct value *value)
{
    const struct collective *c = reduction->collective;
    MPI_Datatype type = c->call.receive.type;
    MPI_Aint lower = 0, extent = 0;
    MPI_Count first, count = own_part(c, &first);
    local.Type_get_extent(type, &lower, &extent);
    MPI_Count bytes = count * reduction->size;
    char *packed = malloc((size_t)bytes + 1);
    if (!packed)
        engine_abort(MPI_ERR_NO_MEM);
    packing_pack((char *)value->buffer + (MPI_Aint)first * extent, count, type, packed,
                 (size_t)bytes);
    packing_unpack((void *)c->call.receive.buffer, count, type, packed, (size_t)bytes);
    free(packed);
}

int reduce_take(const struct collective *c)
{
    if (c->idle || (c->traits->rooted && !c->is_root) || c->peers == 0)
        return MPI_SUCCESS;
    struct reduction reduction = begin(c);
    struct value *value = evaluate(&reduction);
    if (value) {
        put(&reduction, value);
        value_free(value);
    }
    return reduction.result;
}
