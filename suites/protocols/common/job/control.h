/* The control messages of a protocol, on a communicator of their own. A message is two 64-bit
 * numbers, the line first; its tag is its kind. What a process sends to itself does not go through
 * the library. Nothing here blocks but the end. Must not know: what a message leads to. */
#ifndef COMMON_JOB_CONTROL_H
#define COMMON_JOB_CONTROL_H

#include "common/base/lines.h"
#include "mpi_library.h"

#include <stdbool.h>
#include <stdint.h>

struct control_message {
    int kind;
    int source; /* process */
    uint64_t line;
    uint64_t value; /* as the kind has it; 0 where it has none */
};

/* Makes the communicator: collective over MPI_COMM_WORLD. names[kind] is what the paper calls a
 * kind, from 1 on, with `kinds` entries; phases are named after it, and noted in `store`. Both must
 * live on. */
void control_open(const struct line_store *store, const char *const *names, int kinds);

/* Collective: every control message that was sent is received, or dropped, on return. */
void control_close(void);

/* The communicator, for collective calls of the protocol; MPI_COMM_NULL outside open and close. */
MPI_Comm control_comm(void);

/* Phases: before-send-<name>, after-send-<name>. */
void control_send(int kind, int process, uint64_t line, uint64_t value);

/* To all processes, this one too. */
void control_send_all(int kind, uint64_t line, uint64_t value);

/* Hands all messages that have arrived to `take`, those of one process in the order in which it
 * sent them. Phases around each: before-receive-<name>, after-receive-<name>. */
void control_take_all(void (*take)(const struct control_message *message));

/* The name of a kind, "unknown" where it has none. */
const char *control_name(int kind);

#endif
