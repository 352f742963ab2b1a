/* Buffered sends [MPI 3.6]: the protocol keeps the message itself, for its piggyback would not fit
 * the program's buffer, but says "no room" where the library would. Must not know: the line. */
#ifndef C3_BUFFERED_H
#define C3_BUFFERED_H

#include "c3/requests.h"

/* Sends, and forgets the request, which is this module's from then on. Returns an MPI error code,
 * already raised; then nothing was sent and the request is the caller's. */
int buffered_send(struct request *request);

/* Sends; the request is complete at once and remains the caller's. */
int buffered_isend(struct request *request);

#endif
