/* See operations.h. A predefined one is its place in a list, one of the program's comes after them,
 * in the order in which they were made. */
#include "c3/collectives/operations.h"

#include <stdlib.h>

static const MPI_Op predefined[] = {
    (MPI_Op)0, /* of a call that has none */
    MPI_OP_NULL, MPI_MAX,  MPI_MIN,  MPI_SUM,    MPI_PROD,   MPI_LAND,    MPI_BAND,  MPI_LOR,
    MPI_BOR,     MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP,
};
#define PREDEFINED (sizeof predefined / sizeof predefined[0])

static struct {
    MPI_Op *made; /* owned; MPI_OP_NULL where it is freed */
    size_t count;
} program;

static int remember(int error, const MPI_Op *operation)
{
    if (error != MPI_SUCCESS)
        return error;
    MPI_Op *more = realloc(program.made, (program.count + 1) * sizeof *more);
    if (!more)
        die("out of memory for operation %zu", program.count + 1);
    program.made = more;
    program.made[program.count++] = *operation;
    return MPI_SUCCESS;
}

EXPORTED int MPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    return remember(PMPI_Op_create(user_fn, commute, op), op);
}

#if MPI_VERSION >= 4
EXPORTED int MPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    return remember(PMPI_Op_create_c(user_fn, commute, op), op);
}
#endif

EXPORTED int MPI_Op_free(MPI_Op *op)
{
    for (size_t i = 0; op && i < program.count; i++)
        if (program.made[i] == *op)
            program.made[i] = MPI_OP_NULL;
    return PMPI_Op_free(op);
}

uint64_t operation_number(MPI_Op operation)
{
    for (size_t i = 0; i < PREDEFINED; i++)
        if (operation == predefined[i])
            return i;
    for (size_t i = 0; i < program.count; i++)
        if (operation == program.made[i])
            return PREDEFINED + i;
    die("a persistent reduction has an operation that MPI_Op_create has not made");
}

MPI_Op operation_of(uint64_t number)
{
    if (number < PREDEFINED)
        return predefined[number];
    if (number - PREDEFINED >= program.count)
        die("a persistent reduction is started before the program has made its operation %u again",
            (unsigned)(number - PREDEFINED + 1));
    return program.made[number - PREDEFINED];
}
