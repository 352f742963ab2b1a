/* Operations as numbers that mean the same after a restart, in which the library's handles may be
 * others. Must not know: what they are for. */
#ifndef C3_OPERATIONS_H
#define C3_OPERATIONS_H

#include "c3/c3.h"

/* 0: of a call without one, whose member is all zero. Ends the job for one that the program has not
 * made by MPI_Op_create. */
uint64_t operation_number(MPI_Op operation);

/* A program makes its own in the same order in each life; ends the job where it has not yet. */
MPI_Op operation_of(uint64_t number);

#endif
