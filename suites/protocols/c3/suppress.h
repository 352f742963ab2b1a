/* The suppressList [C3, section 3.3]: the early messages a rank has received in the epoch before a
 * checkpoint, by sender and id. Part of the checkpoint; after recovery each sender gets its own.
 * Must not know: when that is. */
#ifndef C3_SUPPRESS_H
#define C3_SUPPRESS_H

#include "c3/c3.h"

struct early {
    uint64_t id;
    int64_t sender; /* world rank */
};

void suppress_add(int sender, uint64_t id);
void suppress_clear(void);

/* The list as it is now; the rows are this module's. */
const struct early *suppress_list(size_t *count);

/* Collective over `comm`, whose ranks are world ranks: sends every sender the ids in `list` that
 * are its own. Returns the *received ids that others have sent this rank. Owned by the caller:
 * free. */
uint64_t *suppress_exchange(MPI_Comm comm, const struct early *list, size_t count,
                            size_t *received);

#endif
