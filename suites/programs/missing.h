/* What a program with ULFM says at its end of those that have died. */
#pragma once

#include "faultline.h"
#include "mpi_library.h"

#include <stdlib.h>

/* Those that are not in what is left of the world have died. All that live must call it. */
static void note_missing(void)
{
    MPI_Comm rest;
    MPI_Group all, left;
    int size, where;
    if (MPIX_Comm_shrink(MPI_COMM_WORLD, &rest) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(rest, &left);
    MPI_Group_size(all, &size);
    for (int rank = 0; rank < size; rank++) {
        MPI_Group_translate_ranks(all, 1, &rank, left, &where);
        if (where == MPI_UNDEFINED)
            faultline_without((uint64_t)rank);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&left);
    MPI_Comm_free(&rest);
}
