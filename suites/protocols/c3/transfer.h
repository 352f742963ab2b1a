/* One message of the program, from its send to the wire and from the wire to its place: the
 * piggyback, its classification, the log, and in recovery what stands in for the wire. Must not
 * know: which MPI function asked. */
#ifndef C3_TRANSFER_H
#define C3_TRANSFER_H

#include "c3/requests.h"

/* Sends what `request` describes; on return the message has its id, and counts. Returns an MPI
 * error code, which the library has raised; then nothing was sent. */
int transfer_send(struct request *request);

/* Posts the receive that `request` describes and gives it its place. Errors as above. */
int transfer_receive(struct request *request);

/* The same for one that has its place from before: a restored one, or a matched message's. */
int transfer_receive_at_place(struct request *request);

/* Takes in a message that a matched probe has found, as `receive`. */
int transfer_receive_matched(struct request *receive, struct request *message);

/* Is it over, so that it could be handed over now? Does not block. */
bool transfer_poll(struct request *request);

/* Is the wire over? What is ahead of it may not be. Does not block. */
bool transfer_is_in(struct request *request);

/* Has it a message, of a rank that has stopped logging for the line that this one logs for? */
bool transfer_sender_stopped(const struct request *request);

/* For the time in which this rank logs. Some receives from before `place` have taken a message
 * ahead of one with this source and tag, or ahead of what one of these took: is each such message
 * here as a whole? Until it is, the program must not learn of the later message. */
bool ahead_is_over(const struct handle *communicator, int source, int tag, uint64_t place);

/* As transfer_before, for those receives. */
void ahead_before(const struct handle *communicator, int source, int tag, uint64_t place);

/* Is in the log what those receives took that could have taken the message of this one? */
bool ahead_are_logged(const struct request *request);

/* Waits until it is, while the protocol makes progress. */
void transfer_finish(struct request *request);

/* It will be handed over in this call, or the program will know that it is there: if its sender has
 * stopped logging, this rank does now. For all that one call hands over, before the first is. */
void transfer_before(struct request *request);

/* The status that handing over one that is over will give. */
void transfer_foretell(const struct request *request, MPI_Status *status);

/* Hands over one that is over: the message is in its place, counted and logged. Fills *status
 * (MPI_STATUS_IGNORE allowed), returns an MPI error code, already raised. The request is not active
 * any more. */
int transfer_hand_over(struct request *request, MPI_Status *status);

/* What a message found in the library or in a row says of itself, as the program is to see it. */
void transfer_describe(const struct request *message, MPI_Status *status);

/* Takes the message that `library` stands for into the row of `message`, header and all. */
void transfer_take_in(struct request *message, MPI_Message library, const MPI_Status *status);

/* Will a message that is here be sent again in recovery? */
bool transfer_comes_again(const struct request *message);

/* In recovery: `message`, whose place, peer and tag are known, was found by a matched probe. It is
 * in the log, or will be sent again; then it is received into a row, `bytes` long but for the
 * piggyback. */
void transfer_restore_probed(struct request *message, uint64_t bytes);

/* Asks the library to cancel it. */
int transfer_cancel(struct request *request);

/* Is it over, without a message? */
bool transfer_is_cancelled(const struct request *request);

/* What transfer_is_cancelled said of it at the checkpoint: nothing is posted. */
void transfer_restore_cancelled(struct request *request);

/* A message that was taken in for a probe and no receive has matched. NULL if there is none that
 * source and tag (wildcards allowed) match. */
struct request *arrived_find(const struct handle *communicator, int source, int tag);
void arrived_add(struct request *message);
void arrived_remove(struct request *message);

/* In recovery, messages that a probe found before the stop-log line. probed_find: the receive for
 * *source and *tag takes one, which these name then. probed_narrow: the same for a probe;
 * returns true if the probe asks for one of these messages, and so must find one. probed_received:
 * a receive is posted, or a matched probe answered, for these (wildcards allowed): what they match
 * is not waited for any more. */
void probed_add(const struct handle *communicator, int asked_source, int asked_tag, int source,
                int tag);
bool probed_find(const struct handle *communicator, int *source, int *tag);
bool probed_narrow(const struct handle *communicator, int *source, int *tag);
void probed_received(const struct handle *communicator, int source, int tag);

/* Sends whose program has forgotten them: buffered ones, and those it freed. */
void detached_add(struct request *request);
void detached_poll(void);
void detached_finish(void);
bool detached_empty(void);

#endif
