/* Requests of the engine: numbers that the MPI library never gives out, for whatever a process has
 * begun and not completed. They belong to the process; what several processes see lies in the
 * mapping. */
#ifndef ENGINE_REQUESTS_REQUEST_H
#define ENGINE_REQUESTS_REQUEST_H

#include <mpi.h>

#include <stdbool.h>

/* What can be done with a request of a kind. `data` is what request_make was given. */
struct request_kind {
    const char *name;
    /* Could it be completed now? Changes nothing. A process that waits is asked again whenever it
     * is woken (engine_wake). */
    bool (*ready)(void *data);
    /* Completes it: once per start, in the owner, when ready() is true. Fills status (never NULL or
     * MPI_STATUS_IGNORE; empty before). Returns the error class. */
    int (*finish)(void *data, MPI_Status *status);
    /* What finish() would say in the status, without completing it. NULL: nothing beyond an empty
     * one. */
    void (*peek)(void *data, MPI_Status *status);
    /* Begins a persistent request; returns the error class. NULL: none is persistent. */
    int (*start)(void *data);
    /* MPI_Cancel; NULL: it has no effect. */
    void (*cancel)(void *data);
    /* The request is gone: frees data. NULL: nothing to free. Also called for one that is active
     * and was given to MPI_Request_free: then as soon as ready() is true and finish() was called.
     */
    void (*release)(void *data);
};

/* A request; persistent ones are inactive until MPI_Start. `comm`: whose error handler is called
 * when it completes with an error. */
MPI_Request request_make(const struct request_kind *kind, void *data, bool persistent,
                         MPI_Comm comm);

/* Gives the token away until it is ready, finishes and releases it; as MPI_Wait, but returns the
 * error class and calls no error handler. For blocking calls that are made of requests. */
int request_complete(MPI_Request *request, MPI_Status *status);

/* A status that says nothing: source and tag any, no bytes. */
void status_clear(MPI_Status *status);
/* What came: `bytes` of it, and whether it was cancelled instead. MPI_ERROR stays as it is. status:
 * not MPI_STATUS_IGNORE. */
void status_set(MPI_Status *status, int source, int tag, MPI_Count bytes, bool cancelled);

#endif
