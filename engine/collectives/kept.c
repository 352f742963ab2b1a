/* The program may free an operation or a datatype while a collective that uses it is pending: an
 * operation is freed later then, and of a datatype the collective has a copy. */
#include "engine/collectives/collective.h"

#include <stdlib.h>

/* --- operations ------------------------------------------------------------------------------- */

struct held {
    struct held *next;
    MPI_Op op;
    int pending;
    bool freed;
};

static struct held *all;

static struct held **link_of(MPI_Op op)
{
    struct held **link = &all;
    while (*link && (*link)->op != op)
        link = &(*link)->next;
    return link;
}

void operation_hold(MPI_Op op)
{
    struct held *held = *link_of(op);
    if (!held) {
        held = calloc(1, sizeof *held);
        if (!held)
            engine_abort(MPI_ERR_NO_MEM);
        *held = (struct held){.next = all, .op = op};
        all = held;
    }
    held->pending++;
}

void operation_drop(MPI_Op op)
{
    struct held **link = link_of(op), *held = *link;
    if (--held->pending > 0)
        return;
    *link = held->next;
    if (held->freed)
        local.Op_free(&op);
    free(held);
}

static int op_free(MPI_Op *op)
{
    struct held *held = op ? *link_of(*op) : NULL;
    if (!held)
        return local.Op_free(op);
    held->freed = true;
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

/* --- types ------------------------------------------------------------------------------------ */

static bool is_derived(MPI_Datatype type)
{
    return (uint32_t)type >> 30 > 1;
}

static MPI_Datatype copy_of(MPI_Datatype type)
{
    MPI_Datatype copy = type;
    if (is_derived(type))
        local.Type_dup(type, &copy);
    return copy;
}

static void keep(struct blocks *blocks, int number)
{
    MPI_Datatype *types = calloc((size_t)number + 1, sizeof *types);
    if (!types)
        engine_abort(MPI_ERR_NO_MEM);
    for (int i = 0; blocks->types && i < number; i++)
        types[i] = copy_of(blocks->types[i]);
    if (!blocks->types && number > 0)
        blocks->type = copy_of(blocks->type);
    if (blocks->types)
        blocks->types = types;
    else
        free(types);
}

static void drop(struct blocks *blocks, int number)
{
    for (int i = 0; i < number; i++) {
        MPI_Datatype type = blocks_type(blocks, i);
        if (is_derived(type) && (blocks->types || i == 0))
            local.Type_free(&type);
    }
    free((void *)blocks->types);
}

void types_keep(struct collective *collective)
{
    collective->keeps_types = true;
    keep(&collective->call.send, blocks_sent(collective));
    keep(&collective->call.receive, blocks_received(collective));
}

void types_drop(struct collective *collective)
{
    if (!collective->keeps_types)
        return;
    drop(&collective->call.send, blocks_sent(collective));
    drop(&collective->call.receive, blocks_received(collective));
}

void operations_fill(struct library *table)
{
    table->Op_free = op_free;
}
