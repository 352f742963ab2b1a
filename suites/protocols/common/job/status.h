/* Statuses that a protocol gives the program; each may be MPI_STATUS_IGNORE. */
#ifndef COMMON_JOB_STATUS_H
#define COMMON_JOB_STATUS_H

#include "mpi_library.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a message of `bytes` from rank `source`; its MPI_ERROR is left as it is. */
void status_fill(MPI_Status *status, int source, int tag, uint64_t bytes, bool cancelled);

/* Of a request that nothing was behind. */
void status_empty(MPI_Status *status);

#endif
