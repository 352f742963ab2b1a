/* What travels with a collective call [C3, section 6]: where each rank stands, in one byte, by a
 * collective of its own or in front of the data. Which of the two: C3_COLLECTIVE_BITS. Must not
 * know: what is made of it. */
#ifndef C3_BITS_H
#define C3_BITS_H

#include "c3/piggyback.h"
#include "common/communicators/handles.h"

typedef unsigned char bits;

#define BITS_BYTES sizeof(bits)

/* "auto" piggybacks on so many bytes at most: what copying them costs is then less than what a
 * collective of its own does. Measured: scripts/bench/collectives. */
#define BITS_AUTO_BYTES 8192

/* Reads C3_COLLECTIVE_BITS: "separate", "piggyback" or "auto" (default). Ends the job for any other
 * text. */
void bits_choose(void);

/* Do they ride on data of so many bytes? To be asked with the same number on every member. */
bool bits_ride_on(uint64_t bytes);

/* The same for a call whose members cannot know how much the others send. */
bool bits_ride_always(void);

/* This rank as it is now. */
bits bits_own(void);

/* Another's, as seen by this rank as it is now. `stopped`: it is in this epoch and beyond the
 * stop-log line, while this rank logs. */
struct bits_stand {
    enum crossing crossing;
    bool stopped;
};
struct bits_stand bits_read(bits other);

/* A collective each, on the communicator for the protocol's own messages; nothing is done on one of
 * one rank. Return an MPI error code. */
int bits_broadcast(struct handle *communicator, int root, bits *one);
int bits_gather(struct handle *communicator, int root, bits *all);
int bits_allgather(struct handle *communicator, bits *all);

#endif
