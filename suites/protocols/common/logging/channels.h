/* Letters from process to process: one communicator of all ranks for each process that has come
 * later, and one for the first ones. Two ranks use the one that both have been in from the
 * beginning of the younger, so those who live keep their channels when another dies. Must not know:
 * what is in a letter. */
#ifndef COMMON_LOGGING_CHANNELS_H
#define COMMON_LOGGING_CHANNELS_H

#include "mpi_library.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes that are kept until they are sent and nobody else has a hold on them. */
struct letter_bytes {
    unsigned holds;
    size_t size;
    char data[];
};

/* Held once; the job ends if there is no memory. */
struct letter_bytes *letter_bytes_new(size_t size);
struct letter_bytes *letter_bytes_hold(struct letter_bytes *bytes);
void letter_bytes_drop(struct letter_bytes *bytes);

/* The communicator of all ranks, in their order, made when the team whose first rank is `newest`
 * came for the last time (NOBODY: at the beginning). Owned by this module from here on. */
void channels_add(MPI_Comm comm, int newest);

/* How many there are; for a process that comes later, at which one it begins, and since which each
 * other rank is there. */
int channels_count(void);
void channels_begin_at(int count);
int *channels_since(void);

/* Sends to rank `to`; holds the bytes until they are gone. To a dead rank they get lost. */
void channels_send(struct letter_bytes *bytes, int to, int kind);

/* The next letter that is here, in the order of sending from each rank; NULL: none. Owned by the
 * caller. */
struct letter_bytes *channels_take(void);

/* Lets go of what is sent. True: nothing else is on its way but to the dead. */
bool channels_look_after_sent(void);

void channels_close(void);

#endif
