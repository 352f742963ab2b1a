/* The state of the channels that lead here: the packets that came between this rank's cut and the
 * marker on their channel [CL, slide 32], and their file. Must not know: when a marker comes. */
#ifndef CHANDY_CHANNELS_H
#define CHANDY_CHANNELS_H

#include "chandy_lamport/chandy_lamport.h"

/* Nothing is recorded; what was is forgotten. */
void channels_clear(void);

/* The packet is part of the state of its channel. It is held, and noted in the trace. */
void channels_record(uint64_t line, struct packet *packet);

/* Stores what is recorded as this rank's part of `line`; stable on return. Phases:
 * before-channels-write, mid-channels-write, before-channels-rename, after-channels-rename. */
void channels_save(uint64_t line);

/* After a restart: what was recorded for `line` is put back in front of the network. */
void channels_put_back(uint64_t line);

/* Removes the file of `line`, if it is there. */
void channels_remove(uint64_t line);

#endif
