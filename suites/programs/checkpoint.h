/* What a program under test says to whichever protocol is loaded. The program knows no protocol: it
 * registers its state, asks for it back once, and says where a checkpoint may be taken. The
 * functions are weak references, resolved by the preloaded protocol library; without one they do
 * nothing. Call all of them between MPI_Init and MPI_Finalize, from one thread. */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "faultline.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void protocol_register(const char *name, void *data, size_t bytes) __attribute__((weak));
int protocol_restore(void) __attribute__((weak));
int protocol_potential_checkpoint(void) __attribute__((weak));
void protocol_decision(const char *name, void *data, size_t bytes) __attribute__((weak));

/* `data` (bytes long, owned by the program, alive until MPI_Finalize) is part of the state. name is
 * a literal, unique in the program. Same names and sizes in every incarnation. */
static inline void checkpoint_register(const char *name, void *data, size_t bytes)
{
    if (protocol_register)
        protocol_register(name, data, bytes);
}

/* After all state is registered and given its initial value: the protocol overwrites it with that
 * of the newest committed recovery line and returns that line's number (1 or more), or changes
 * nothing and returns 0: start from the beginning. The state may be that of this call itself, in a
 * life before: what is done once after it goes by the state, not by the number. A protocol that
 * cannot go on aborts the job with a reason. Collective over MPI_COMM_WORLD. */
static inline int checkpoint_restore(void)
{
    return protocol_restore ? protocol_restore() : 0;
}

/* A point where this rank's registered state is enough to go on from. Returns the number of the
 * line if a checkpoint was taken, else 0. Every rank calls it equally often. */
static inline int potential_checkpoint(void)
{
    faultline_potential();
    return protocol_potential_checkpoint ? protocol_potential_checkpoint() : 0;
}

/* The program has made a choice that it may not make the same way again (a random number, the time
 * of day) and that is in `data`. A protocol that logs such choices keeps it, or, in recovery, puts
 * the one it kept in its place: go on with what is in `data` on return. name is a literal; the same
 * sequence of names and sizes in every incarnation. */
static inline void checkpoint_decision(const char *name, void *data, size_t bytes)
{
    faultline_drawn(name, data, bytes);
    if (protocol_decision)
        protocol_decision(name, data, bytes);
    faultline_decision(name, data, bytes);
}

#ifdef __cplusplus
}
#endif

#endif
