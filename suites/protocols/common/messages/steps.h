/* Steps, and what comes at each: the layer's clock, its past, and the one place where packets come
 * in and go out. In the present a packet comes from the network and is kept with the number of the
 * step; in the past it comes from what was kept, at the same step, and what is sent is dropped, for
 * it was sent then. Must not know: matching, calls. */
#ifndef COMMON_MESSAGES_STEPS_H
#define COMMON_MESSAGES_STEPS_H

#include "common/messages/packet.h"

struct request;

/* One step: what has come is taken in. At the beginning of every call of the program. */
void steps_poll(void);

/* One step: packets are taken in one by one until done() says true. */
void steps_wait(bool (*done)(void *context), void *context);

/* Sends a packet of the program to a rank of the application, this one too; numbers it. Takes over
 * one hold. */
void steps_send(struct packet *packet, int to);

/* The number that the next packet to `to` will get. */
uint64_t steps_next_number(int to);

#endif
