/* What a power failure takes from the checkpoint store. Between incarnations the driver puts back
 * what was on stable storage, by the journal that the ranks kept. Must not know: MPI, plans.
 *
 * Strict, as POSIX promises and no more (fsync, XBD 3.384 synchronized I/O): the content of a file
 * is durable as of its last fsync, fdatasync or synchronous write; a name of a file or folder
 * (made, renamed, removed) as of the next fsync of the folder that it is in. A file that was synced
 * and whose name was not is gone, and so is a folder, with all that is in it; after a rename over
 * another file or folder without a sync of the folder the other is back; a durable name of a file
 * that was never synced leads to an empty file, of a folder that was never synced to an empty
 * folder. A rename from one folder to another is durable in each on its own: a file may have both
 * names then, or none; a folder that would have both has the new one. Real file systems often do
 * more, and none has to. A file to which ranks on several nodes have written, of which not all lose
 * their work, is as of the newest sync by any of them: what a rank that lives has synced is not
 * lost.
 */
#ifndef STORE_POWER_FAILURE_H
#define STORE_POWER_FAILURE_H

#include "store/journal.h"

#include <stddef.h>

/* Whose work is lost, and whose syncs count. */
struct loss {
    bool everybody; /* one node: what anybody did, unless anybody synced it */
    const bool
        *rank; /* each on a node of its own: what these did, unless they synced it; by rank */
    int ranks; /* entries in rank[] */
};

/* Takes it back. No rank may run. No journal: nothing was done, nothing is lost. Where nobody loses
 * anything (yet), the journal alone is completed: by operations in which their ranks died, which
 * the disk tells about only now. What was taken is told in durable/lost, a line each. ERROR_IO and
 * ERROR_FORMAT name what could not be done or read; the store is then neither what it was nor what
 * it should be. */
enum error_code power_failure_apply(const struct journal *journal, const struct loss *loss,
                                    struct error *error);

#endif
