/* A communicator's topology, written into a row of bytes and given again to a communicator of the
 * same ranks. Must not know: handles of the program, restarts. */
#ifndef COMMON_COMMUNICATORS_TOPOLOGY_H
#define COMMON_COMMUNICATORS_TOPOLOGY_H

#include "common/base/bytes.h"
#include "mpi_library.h"

#include <stdbool.h>

/* Appends what the library says of it. A distributed graph's is this process's part only. */
void topology_write(MPI_Comm comm, struct bytes *out);

/* Collective over *comm, which is replaced if there is a topology. `row` is what topology_write
 * appended on this process, or on any other: then `mine` is false, and of a distributed graph only
 * that it is one is used. false: the row is not of topology_write. */
bool topology_attach(MPI_Comm *comm, struct reader row, bool mine);

#endif
