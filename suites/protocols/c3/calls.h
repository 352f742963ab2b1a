/* Between the program's calls and the transfers: what all wrappers of MPI functions do first and
 * last. Must not know: control messages. */
#ifndef C3_CALLS_H
#define C3_CALLS_H

#include "c3/transfer.h"

/* Every wrapper begins with it. The communicator's communicator; NULL: the handle is bad and the
 * error, MPI_ERR_COMM, is raised. */
struct handle *call_begin(MPI_Comm comm);

/* The same for calls without a communicator. */
void call_begin_anywhere(void);

/* Arguments of a send or receive as the program gave them. */
struct arguments {
    void *buffer;
    int count;
    MPI_Datatype type;
    int peer;
    int tag;
    struct handle *communicator;
};

/* Active requests, nothing posted yet. */
struct request *call_send(const struct arguments *arguments, enum send_mode mode);
struct request *call_receive(const struct arguments *arguments);

/* An argument that the library is to complain about: raises `error` on the communicator. */
int call_error(const struct handle *communicator, int error);

/* MPI_SUCCESS, or the error (raised) in what no communicator, datatype or count can be. */
int call_check(const struct arguments *arguments);

/* The same of the source and tag of a probe, before the log is asked what it answered: of one that
 * failed it has no answer. */
int call_check_sought(const struct handle *communicator, int source, int tag);

/* Waits for a request, hands it over and frees it. */
int call_complete(struct request *request, MPI_Status *status);

#endif
