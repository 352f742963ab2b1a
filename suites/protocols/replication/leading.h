/* What happens to a rank and does not follow from what it did: which packet it takes in at which
 * step, what it chooses. The process that leads sends this to the one that follows, and sends
 * nothing else before that one knows all that came before. Must not know: how packets go. */
#ifndef REPLICATION_LEADING_H
#define REPLICATION_LEADING_H

#include "common/messages/packet.h"

#include <stddef.h>
#include <stdint.h>

/* --- the process that leads ------------------------------------------------------------------- */

/* For layer_carrier: it happens at this step. */
void leading_happens(uint64_t step, const struct packet *packet, const void *choice, size_t bytes);

/* Until the other knows of all that has happened so far. At once if there is no other. */
void leading_secure(void);

/* Nothing is here that the program waits for: the other process is informed how far this one is. */
void leading_idle(void);

/* This was all: the other goes on alone. */
void leading_end(void);

/* LETTER_KNOWN has come. */
void leading_known(const struct packet *packet);

/* --- the process that follows ----------------------------------------------------------------- */

/* LETTER_HAPPENED has come. */
void following_receive(const struct packet *packet);

/* For layer_carrier: gives the layer what has come from the other process. */
void following_give(void);

/* The process that leads has died: nothing more will come from it. */
void following_ends(void);

#endif
