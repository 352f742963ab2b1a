/* What the parts of steering share. Not for the taps. */
#ifndef INJECTORS_STEER_STEER_PARTS_H
#define INJECTORS_STEER_STEER_PARTS_H

#include "injectors/rules/rules.h"
#include "injectors/steer/steer.h"

/* --- the loop --------------------------------------------------------------------------------- */
/* One round of a loop that waits: steer_look, and the longer it takes the more time for others.
 * *round counts from 0. */
void steer_round(unsigned *round);

/* true also for MPI_REQUEST_NULL, inactive requests and those that failed. */
bool steer_is_complete(MPI_Request request);

/* --- held messages ---------------------------------------------------------------------------- */
enum send_mode { MODE_STANDARD, MODE_BUFFERED, MODE_READY, MODE_SYNCHRONOUS };

enum send_mode steer_mode(unsigned call);

/* A send that the program asks for. step: as rules_take gave it, index + 1 or 0. */
struct outgoing {
    const struct record *sent;
    uint32_t step;
    enum send_mode mode;
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int destination;
    int tag;
    MPI_Comm comm;
};

/* Who learns when the library has the message for good (of a synchronous one: when it is matched).
 */
enum carrier_kind {
    CARRIER_NONE,
    CARRIER_AWAITED, /* somebody is in steer_await */
    CARRIER_SIGNALS, /* a request of the program is completed by steer_signal */
};

struct carrier {
    enum carrier_kind kind;
    int signal;          /* of CARRIER_SIGNALS */
    MPI_Request request; /* the same: the program's handle */
};

struct carried;

/* Is the message to stay here for now? NULL: no, or it cannot; and nothing that it may not overtake
 * is held any more. Otherwise its payload is copied and it will go by itself. carrier: may be NULL;
 * CARRIER_SIGNALS without a signal (-1) is given a request here. */
struct carried *steer_hold(const struct outgoing *outgoing, struct carrier *carrier);

/* The message goes now, from the program's buffer; the carrier will be informed. */
int steer_carry(const struct outgoing *outgoing, const struct carrier *carrier);

/* The library's own send of this mode. */
int steer_pass_on(const struct outgoing *outgoing, MPI_Request *request);

/* Of a held message with CARRIER_AWAITED, once: until it is complete. What its send returned. */
int steer_await(struct carried *message);

/* Held messages: those that may go are given to the library. end: all may. */
void steer_hold_look(bool end);

/* Is a message of this communicator held? MPI_COMM_NULL: is any message held, or with the library
 * and not complete? */
bool steer_holds(MPI_Comm comm);

/* Where the plan only delays messages: in how many ns the first that is held may go. 0: the library
 * is not done with one that has gone. UINT64_MAX: there is none. */
uint64_t steer_hold_looks_in(void);

/* Is a message held by jitter alone, and nothing before it? It goes when its time has come. */
bool steer_delays(void);

/* Nothing can be taken any more: what is not complete is left to the library. */
void steer_abandon(void);

/* A request of the program that is complete when we say so. persistent: to be started first. */
int steer_signal_request(bool persistent, int *signal, MPI_Request *request);
void steer_signal(int signal);

void steer_signals_close(void);

/* --- choices ---------------------------------------------------------------------------------- */
/* MPI_UNDEFINED: it is not in the communicator. */
int steer_rank_of(const struct communicator *c, int world_rank);

/* Receives that wait for the message chosen for them. */
void steer_choose_look(void);

/* Returns when that is so. */
void steer_settle(int source, int tag, MPI_Comm comm);

/* The step that wants something of the call in progress, if it is `action`: *step is its index.
 * Else NULL, and the match is given back. */
const struct plan_step *steer_taken(enum plan_action action, uint32_t *step);

/* Waits for the message that step `step` chooses for a blocking receive or probe. true: it is the
 * one in *status (and, unless message is NULL, taken into *message). false: it is not to be had;
 * the call goes on as it was. */
bool steer_choose(uint32_t step, const struct record *recorded, int source, int tag, MPI_Comm comm,
                  MPI_Message *message, MPI_Status *status);

/* The same without waiting, for Iprobe and Improbe: *flag and the rest are as the call gives them.
 * A message that is not there yet makes the call say no, and the match is for a later one. */
int steer_choose_now(uint32_t step, const struct record *recorded, int source, int tag,
                     MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status);

/* Iprobe (message NULL) or Improbe, unless an earlier receive waits for its choice. */
int steer_ask(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
              MPI_Status *status);

#endif
