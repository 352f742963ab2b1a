/* What the files of this folder share: the table of requests. The MPI library's own requests
 * (generalized ones) may stand among the engine's wherever handles are given. */
#ifndef ENGINE_REQUESTS_PARTS_H
#define ENGINE_REQUESTS_PARTS_H

#include "engine/requests/request.h"

#include <stdint.h>

#define REQUEST_NUMBERS 0x1000000u /* that can be told apart */

struct request {
    const struct request_kind *kind;
    void *data;
    uint32_t number; /* its handle is MPI_REQUEST_NULL + number */
    MPI_Comm comm;
    bool persistent;
    bool active;
    bool abandoned; /* MPI_Request_free was called while it was active */
};

/* NULL: the handle is none of the engine's. */
struct request *request_find(MPI_Request handle);

/* It is neither MPI_REQUEST_NULL nor an inactive persistent one: Waitany and its like wait for it.
 */
bool request_counts(MPI_Request handle);

/* Could it be completed now? What does not count could. */
bool request_is_ready(MPI_Request handle);

/* Completes one that is ready; *handle becomes MPI_REQUEST_NULL unless it is persistent. status may
 * be MPI_STATUS_IGNORE. Returns the error class. */
int request_finish(MPI_Request *handle, MPI_Status *status);

/* The communicator whose error handler hears of it. */
MPI_Comm request_comm(MPI_Request handle);

/* MPI_Request_free. */
void request_abandon(struct request *request);
/* Completes those that were given up and are ready by now. */
void requests_sweep(void);

#endif
