/* Packets from each process of a rank to each process of another. Of the two copies of a packet of
 * the program the first counts. Also: who has died. Must not know: what a packet means, who leads.
 */
#ifndef REPLICATION_MIRROR_H
#define REPLICATION_MIRROR_H

#include "common/messages/packet.h"

#include <stdbool.h>

/* All goes through MPI_COMM_WORLD, which the program never uses below this layer: to make another
 * communicator is collective, and somebody may die meanwhile. letter: one of the protocol's own
 * packets has come, which is only read. died: once of each process that has died. Both are called
 * by mirror_look alone. */
void mirror_open(void (*letter)(int process, const struct packet *packet),
                 void (*died)(int process));

/* Sends to a process, nothing if it is dead; holds the packet until it has gone. */
void mirror_send_to(struct packet *packet, int process);

/* Takes in all that is here, and asks who has died. */
void mirror_look(void);

/* Of the packets of the program that came: the first; the one of that rank and number. Owned by the
 * caller from here on; NULL: it is not here. */
struct packet *mirror_take(void);
struct packet *mirror_take_one(int from, uint64_t number);

bool mirror_is_dead(int process);

/* All that was sent to processes that live has gone. */
bool mirror_is_sent(void);

#endif
