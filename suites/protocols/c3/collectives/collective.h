/* One collective call of the program against the recovery line [C3, section 5]: what each category
 * does once the bits of the others are known, and what a call comes to in recovery. The library
 * carries the data. Must not know: MPI's functions, how bits travel. */
#ifndef C3_COLLECTIVE_H
#define C3_COLLECTIVE_H

#include "c3/collectives/parts.h"
#include "c3/collectives/reexec.h"

/* A call under way. Every member of the communicator knows it by the same id, in every
 * incarnation: that of the communicator and how many calls there were before. */
struct collective {
    struct handle *communicator;
    uint64_t id;
    MPI_Comm real; /* the library's */
    int rank;
    int size;
    bits *bits; /* room for one of each member; this module's, until the next call */
};

/* Every wrapper but that of MPI_Barrier begins with it. false: the handle is bad, and the error,
 * MPI_ERR_COMM, is raised. */
bool collective_begin(struct collective *call, MPI_Comm comm);

/* The same on a communicator that is known to be good. */
void collective_begin_on(struct collective *call, struct handle *communicator);

/* What is wrong with a root is for the library to say. */
bool collective_has_root(const struct collective *call, int root);

/* It is the next call on its communicator, at all members alike. Not one whose root is wrong, to
 * which nobody else comes, nor one of before the checkpoint that is done again. */
void collective_number(struct collective *call);

/* In recovery: if the log has the result of this call, it is put in its place, and the call is
 * over. `result` is all that the call gives this rank. */
bool collective_replayed(const struct collective *call, const struct parts *result);

/* In recovery, where data flows to `root`: it has what this rank has sent, so nothing is sent
 * [C3, section 5.2]. */
bool collective_suppressed(const struct collective *call, int root);

/* The library is done, with `error`, which these return; if it is MPI_SUCCESS, the category has
 * its way. call->bits are those of the ranks that data came from. */

/* Data from the root to all [C3, section 5.3]: for the root and for the others. `reexec` describes
 * the call, for those that need not have it but must take part in it after recovery. */
int collective_was_sent(const struct collective *call, int error);
int collective_came_from_root(const struct collective *call, int root, const struct parts *result,
                              const struct reexec *reexec, int error);

/* Data from all to the root [C3, section 5.2]: for the others and for the root. */
int collective_was_sent_to_root(const struct collective *call, int root, int error);
int collective_came_from_all(const struct collective *call, const struct parts *result, int error);

/* Data from all to all [C3, section 5.1]. */
int collective_was_exchanged(const struct collective *call, const struct parts *result, int error);

/* Numbers of calls, by communicator: into the checkpoint, and out of it at recovery, after
 * handles_restore. `freed` is for handles_protocol. */
void collective_numbers_save(struct bytes *out);
void collective_numbers_restore(struct reader in);
void collective_numbers_freed(struct handle *communicator);

#endif
