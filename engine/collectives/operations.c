/* An operation that the program frees stays as long as a reduction with it is pending. */
#include "engine/collectives/collective.h"

#include <stdlib.h>

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

void operations_fill(struct library *table)
{
    table->Op_free = op_free;
}
