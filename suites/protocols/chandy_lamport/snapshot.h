/* The algorithm: markers, the cut, the recording of channels, termination, commit [CL, slides 25 to
 * 33]. Must not know: how the program's messages go, what its state is. */
#ifndef CHANDY_SNAPSHOT_H
#define CHANDY_SNAPSHOT_H

#include "chandy_lamport/chandy_lamport.h"

void snapshot_open(void);

/* The line from which this rank was restored; LINE_NONE: the start. */
void snapshot_is_at(uint64_t line);

/* For layer_protocol. */
void snapshot_control(int from, unsigned kind, uint64_t line, const void *data, size_t bytes);
void snapshot_arrives(int from, struct packet *packet);
void snapshot_step(void);

/* At a potential checkpoint, after layer_image. */
void snapshot_potential_checkpoint(void);

/* The line taken last, LINE_NONE if there is none. */
uint64_t snapshot_line(void);

/* This rank may go: no line of its own making is under way. */
bool snapshot_is_settled(void);

#endif
