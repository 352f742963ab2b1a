/* The private communicators: packets out to a rank's process, packets in. Each lane to each rank is
 * one channel, in which the library lets nothing overtake: one communicator, and receives that take
 * whatever comes. A number in every packet checks it. Must not know: what packets mean, requests,
 * the past. */
#ifndef COMMON_MESSAGES_WIRE_H
#define COMMON_MESSAGES_WIRE_H

#include "common/messages/packet.h"
#include "mpi_library.h"

/* Collective over MPI_COMM_WORLD. See layer_open. */
void wire_open(int lanes, int rank, int ranks, const int *process);
/* Collective; everything is sent and taken in. */
void wire_close(void);

/* Numbers the packet in its channel and starts it on its way to rank `to`. Takes over one hold. */
void wire_send(struct packet *packet, int to);

/* Lets go of what is sent. true: nothing is on its way out. */
bool wire_is_sent(void);

/* The next packet that is here, of any channel; NULL: none. Owned by the caller. */
struct packet *wire_take(void);

/* Waits, together with all other processes, until all that was sent to anybody has come; what comes
 * is given to `take`, which owns it. */
void wire_drain(void (*take)(struct packet *packet));

/* Together with all other processes; `meanwhile` is called again and again. */
void wire_meet(void (*meanwhile)(void));

/* See layer_set_process, layer_suspend, layer_become, layer_comm. */
void wire_set_process(int rank, int process);
void wire_suspend(int rank);
MPI_Comm wire_comm(void);
int wire_process(int rank);
void wire_become(int rank);

#endif
