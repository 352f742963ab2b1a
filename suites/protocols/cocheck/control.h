/* What processes and the central instance tell each other, on a communicator of their own: the
 * notification, which the paper sends as a signal, and the answers. A message is two 64-bit
 * numbers, the line first; its tag is its kind. Ready messages are not among them: they go where
 * the application's messages go (channel.h). Nothing here blocks. Must not know: what a message
 * leads to. */
#ifndef COCHECK_CONTROL_H
#define COCHECK_CONTROL_H

#include "cocheck/cocheck.h"

/* Tags on the wire; wire.lua names them too. */
enum control_kind {
    CONTROL_REQUEST = 1,      /* rank 0 → central instance: a line is due */
    CONTROL_NOTIFICATION = 2, /* → a process: make the line; value: where to go, if it migrates */
    CONTROL_SAVED = 3,        /* → central instance: this rank's checkpoint is on disk */
    CONTROL_ADDRESS = 4,      /* skeleton → central instance: it is rank `value` now */
    CONTROL_MAPPING = 5,      /* → all processes: rank and process, as control_pair has them */
    CONTROL_RESUME = 6,       /* → all processes: the line is over */
    CONTROL_FINISHED = 7,     /* → central instance: rank `value` is in MPI_Finalize */
    CONTROL_END = 8,          /* → all processes: so are all others */
    CONTROL_KINDS
};

struct control_message {
    enum control_kind kind;
    int source; /* process */
    uint64_t line;
    uint64_t value;
};

/* Makes the communicator: collective over all processes. */
void control_open(void);

/* Collective over all processes: every message that was sent is received, or dropped. */
void control_close(void);

MPI_Comm control_comm(void);

/* Phases: before-send-<name>, after-send-<name>. A process tells itself as it tells others. */
void control_send(enum control_kind kind, int process, uint64_t line, uint64_t value);
void control_send_all(enum control_kind kind, uint64_t line, uint64_t value);

/* Takes the next message that has arrived; false: there is none. Those of one process come in the
 * order in which it sent them. */
bool control_take(struct control_message *message);

const char *control_name(enum control_kind kind);

/* Two numbers of processes or ranks in one. */
uint64_t control_pair(int first, int second);
int control_first(uint64_t pair);
int control_second(uint64_t pair);

#endif
