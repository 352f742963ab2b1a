/* What ranks exchanged with a newcomer before it counts (lives.h): that it takes a rank over, its
 * state, and whatever it did as a process in reserve. The newcomer's side is in no history, so
 * neither may the other side be: else it would be a loss, an orphan, or a collective too many.
 * The k-th message of a channel between the two processes is the k-th at both ends, and the k-th
 * collective of a communicator that the newcomer is a member of is the k-th of all. Of the
 * application. Must not know: what is wrong with a message. */
#ifndef ORACLES_READING_UNCOUNTED_H
#define ORACLES_READING_UNCOUNTED_H

#include "oracles/reading/lives.h"
#include "oracles/reading/table.h"

struct uncounted {
    struct table marked; /* by incarnation and process, record */
};

/* Reads the traces of the incarnations in which somebody took a rank over. */
void uncounted_read(const struct lives *lives, struct uncounted *uncounted);
void uncounted_release(struct uncounted *uncounted);

bool uncounted_has(const struct uncounted *uncounted, const struct trace *trace, uint64_t index);

#endif
