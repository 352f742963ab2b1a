/* What a persistent collective request keeps: its arguments, copied, and a communicator of its own,
 * so that members may start their requests in different orders, as MPI allows. Each start is a call
 * that does not block. Must not know: MPI's functions that make requests, the line. */
#ifndef C3_KEPT_H
#define C3_KEPT_H

#include "c3/collectives/described.h"
#include "c3/requests.h"
#include "common/base/bytes.h"

/* MPI_Bcast_init and so on: collective over `comm`, waits for the other members. Returns an MPI
 * error code; MPI_SUCCESS: *handle is the program's. The arguments are copied, buffers excepted. */
int kept_init(const struct described *call, MPI_Comm comm, MPI_Request *handle);

/* Begins the call once more. Returns an MPI error code. */
int kept_start(struct request *request);

/* The request is about to be freed. */
void kept_free(struct request *request);

/* Into the checkpoint and out of it; kept_restore is for a new request whose communicator is there.
 * It has lost_buffer if a buffer does not lie in one registered piece. */
void kept_save(const struct request *request, struct bytes *out);
void kept_restore(struct request *request, struct reader in);

/* Notes in the trace that this one is restored. */
void kept_note(const struct request *request);

#endif
