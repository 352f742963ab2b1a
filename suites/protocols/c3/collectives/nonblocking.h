/* Non-blocking collective calls, and the starts of persistent ones, against the recovery line: what
 * begins them, and what a request of one comes to. A rank takes no checkpoint while one of its own
 * is under way, so a call begins and ends in one epoch; what it sends and receives counts as
 * messages do. Must not know: the log. */
#ifndef C3_NONBLOCKING_H
#define C3_NONBLOCKING_H

#include "c3/collectives/described.h"
#include "c3/collectives/reexec.h"
#include "c3/requests.h"

/* Those of this rank that are not handed over. */
size_t nonblocking_pending(void);

/* Begins a call with these arguments, as the next one on the request's communicator. Returns an MPI
 * error code, then nothing has begun. Arrays among the arguments must stay until it is complete. */
int nonblocking_start(struct request *request, const struct described *what);

/* The parts that transfer.h's functions of the same names have for a request of this kind. */
bool nonblocking_poll(struct request *request);
void nonblocking_before(struct request *request);
int nonblocking_hand_over(struct request *request);

/* At recovery: starts a listed call as a receiver, what it gets is thrown away; and waits for all
 * that were started so. Between them other listed calls may be done. */
void nonblocking_reexec(const struct reexec *reexec);
void nonblocking_reexec_finish(void);

#endif
