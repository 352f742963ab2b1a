/* MPI_Type_free and MPI_Op_free. A program may free both while a call that it has begun is still to
 * use them; here such a call is not the library's, so what is freed goes to the library when
 * nothing is under way. */
#include "common/messages/parts.h"

static struct {
    unsigned holds;
    MPI_Datatype *type; /* owned */
    MPI_Op *op;         /* owned */
    size_t types, ops;
} freed;

void layer_hold_handles(void)
{
    freed.holds++;
}

void layer_drop_handles(void)
{
    if (--freed.holds > 0)
        return;
    while (freed.types > 0)
        PMPI_Type_free(&freed.type[--freed.types]);
    while (freed.ops > 0)
        PMPI_Op_free(&freed.op[--freed.ops]);
}

/* The library is to complain of what is not the program's to free. */
static bool is_of_program(MPI_Datatype type)
{
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner != MPI_COMBINER_NAMED;
}

LAYER_EXPORTED int MPI_Type_free(MPI_Datatype *datatype)
{
    if (freed.holds == 0 || !is_of_program(*datatype))
        return PMPI_Type_free(datatype);
    freed.type = larger(freed.type, (freed.types + 1) * sizeof *freed.type);
    freed.type[freed.types++] = *datatype;
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

LAYER_EXPORTED int MPI_Op_free(MPI_Op *op)
{
    if (freed.holds == 0 || *op == MPI_OP_NULL)
        return PMPI_Op_free(op);
    freed.op = larger(freed.op, (freed.ops + 1) * sizeof *freed.op);
    freed.op[freed.ops++] = *op;
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}
