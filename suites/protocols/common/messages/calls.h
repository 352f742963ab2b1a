/* What the calls of MPI share. Must not know: what any one of them does. */
#ifndef COMMON_MESSAGES_CALLS_H
#define COMMON_MESSAGES_CALLS_H

#include "common/messages/matching.h"
#include "common/messages/parts.h"
#include "common/messages/requests.h"
#include "common/messages/steps.h"

/* At the beginning of every call: a step. NULL: `user` is no communicator, and the library has
 * raised the error. */
struct comm *call_begin(MPI_Comm user);
void call_begin_anywhere(void);

/* The communicator of the library to which the program's error handler is attached; there is one
 * handler for all communicators of the program. It is not MPI_COMM_WORLD: there a protocol whose
 * ranks live on needs MPI_ERRORS_RETURN, to be told of deaths. */
#define LAYER_HAS_HANDLER MPI_COMM_SELF

/* Calls the program's error handler, which ends the job unless the program has set another.
 * Returns `error`. */
int call_error(int error);

/* MPI_SUCCESS, or what is wrong; the error handler has been called. */
int call_check(const struct comm *comm, int peer, int tag, const struct payload *payload,
               bool receives);

/* Starts a send. It is done at once, but for a synchronous one. `kind`: enum packet_kind. */
void call_send(struct request *send);

/* Starts a receive. */
void call_receive(struct request *receive);

/* Waits until it is done. */
void call_finish(struct request *request);

/* What a request that is done says of itself; the request stays as it is. */
void call_foretell(const struct request *request, MPI_Status *status);

/* The data go to their place, the status is filled: the request is over, and inactive or to be
 * freed by the caller. Returns an MPI error code, the error handler has been called. */
int call_hand_over(struct request *request, MPI_Status *status);

#endif
