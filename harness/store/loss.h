/* What a power failure takes from the checkpoint store. Between incarnations the driver puts back
 * what was on stable storage, by the journal that the ranks kept. Must not know: MPI, plans.
 *
 * Strict, as POSIX promises and no more (fsync, XBD 3.384 synchronized I/O): the content of a file
 * is durable as of its last fsync, fdatasync or synchronous write; a name (made, renamed, removed)
 * as of the next fsync of its folder. A file that was synced and whose name was not is gone; after
 * a rename over another file without a sync of the folder the other is back; a durable name of a
 * file that was never synced leads to an empty file. A rename from one folder to another is durable
 * in each on its own. Real file systems often do more, and none has to. */
#ifndef STORE_LOSS_H
#define STORE_LOSS_H

#include "store/journal.h"

#include <stddef.h>

/* Whose work is lost, and whose syncs count. */
struct loss {
    bool everybody; /* one node: what anybody did, unless anybody synced it */
    const bool
        *rank; /* each on a node of its own: what these did, unless they synced it; by rank */
    int ranks; /* entries in rank[] */
};

/* Takes it back. No rank may run. No journal: nothing was done, nothing is lost. What was taken is
 * told in durable/lost, a line each. ERROR_IO and ERROR_FORMAT name what could not be done or read;
 * the store is then neither what it was nor what it should be. */
enum error_code loss_apply(const struct journal *journal, const struct loss *loss,
                           struct error *error);

#endif
