/* The control messages of the protocol [C3, section 3.1], on a communicator of their own. A message
 * is two 64-bit numbers, the line first; its tag is its kind. Nothing here blocks. Must not know:
 * what a message leads to. */
#ifndef C3_CONTROL_H
#define C3_CONTROL_H

#include "c3/c3.h"

/* Tags on the wire; wire.lua names them too. */
enum control_kind {
    CONTROL_PLEASE_CHECKPOINT = 1,
    CONTROL_MY_SEND_COUNT = 2,
    CONTROL_READY = 3, /* readyToStopLogging */
    CONTROL_STOP_LOGGING = 4,
    CONTROL_STOPPED = 5,     /* stoppedLogging */
    CONTROL_REPLAY_OVER = 6, /* replayIsOver: not in [C3] */
    CONTROL_KINDS
};

struct control_message {
    enum control_kind kind;
    int source; /* world rank */
    uint64_t line;
    uint64_t value; /* CONTROL_MY_SEND_COUNT: messages sent to this rank; else 0 */
};

/* Makes the communicator: collective over MPI_COMM_WORLD, the first that is made from it. */
void control_open(void);

/* Collective: every control message that was sent is received, or dropped, on return. */
void control_close(void);

MPI_Comm control_comm(void);

/* Phases: before-send-<name>, after-send-<name>. */
void control_send(enum control_kind kind, int to, uint64_t line, uint64_t value);

/* To all other ranks. */
void control_send_others(enum control_kind kind, uint64_t line, uint64_t value);

/* Takes the next message that has arrived; false: there is none. */
bool control_take(struct control_message *message);

/* The name of a kind, as in the paper. */
const char *control_name(enum control_kind kind);

#endif
