/* What the parts of the layer share and protocols need not see. */
#ifndef COMMON_MESSAGES_PARTS_H
#define COMMON_MESSAGES_PARTS_H

#include "common/messages/layer.h"

#define LAYER_EXPORTED __attribute__((visibility("default")))

/* Between layer_open and layer_close. */
bool layer_is_open(void);
/* See layer_protocol.native_collectives. */
bool layer_native_collectives(void);

/* What groups are counted by: all ranks in their order. The caller's. */
void layer_everybody(MPI_Group *group);

/* Who carries the packets of the program; NULL: this layer. */
const struct layer_carrier *layer_carrier(void);
/* Collective calls go along trees: see layer_carrier.multicast. */
bool layer_has_trees(void);

/* Ends the job: the program does what is not supported. */
_Noreturn void layer_refuse(const char *what, const char *instead);

/* A message is handed over to the program: tells the protocol if it is one of those kept. */
void layer_handed_over(const struct packet *packet);

/* Notes every request that the program has in the trace, when an image was read and before the
 * program repeats anything. */
void layer_note_requests(void);

/* A call that sends begins; what it sends is on its way. See layer_sending. */
void layer_begin_sending(void);
void layer_end_sending(void);

#endif
