/* What travels in front of every message [C3, section 3.3], in either of the paper's forms, and
 * what the receiver learns from it. Must not know: MPI calls, the log. */
#ifndef C3_PIGGYBACK_H
#define C3_PIGGYBACK_H

#include "c3/c3.h"

#define PIGGYBACK_MAX_BYTES 16

/* The form is that of C3_PIGGYBACK: "epoch" (default) sends the epoch, amLogging and the id in 16
 * bytes, "color" the epoch's colour, amLogging and the id in 8. Ends the job for any other text. */
void piggyback_choose(void);

/* Bytes in front of each message, PIGGYBACK_MAX_BYTES at most. The same on every rank. */
size_t piggyback_bytes(void);

enum crossing { CROSSING_LATE, CROSSING_INTRA, CROSSING_EARLY };

struct piggyback {
    enum crossing crossing; /* were it delivered now */
    bool sender_stopped;    /* it was sent in this epoch by a rank beyond the stop-log line */
    uint64_t id;
};

/* Describes this rank as it is now. */
void piggyback_write(void *header, uint64_t id);

/* Reads what a sender wrote, as seen by this rank as it is now. `source` (world rank) is for the
 * error: a message from an epoch that cannot be ends the job. */
struct piggyback piggyback_read(const void *header, int source);

#endif
