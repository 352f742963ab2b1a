/* What a checkpoint keeps of communicators, as bytes: written by save.c, read by restore.c. In
 * order:
 *
 *     numbers, early numbers          given to the program
 *     properties of MPI_COMM_WORLD, of MPI_COMM_SELF          rows
 *     claims                          row: number, then each id, world ranks (row), topology (row)
 *     communicators                   number, then each id, handle, freed, early, properties (row)
 *     creations done at recovery      number, then each series, count, id of the result
 *     creations passed                row: number, then each series, count, members (row)
 *
 * Properties: name (row), error handler, counts of communicators made (row). */
#ifndef COMMON_COMMUNICATORS_SAVED_H
#define COMMON_COMMUNICATORS_SAVED_H

#include "common/communicators/table.h"

/* An error handler of the program's own is OTHER. */
enum saved_handler { HANDLER_OTHER, HANDLER_FATAL, HANDLER_RETURN, HANDLER_ABORT };

/* Of a communicator of the library; never to OTHER. */
void saved_handler_set(MPI_Comm comm, enum saved_handler handler);

/* What other ranks say of communicators that must exist for their sake, or this one for its own. */
struct claim {
    uint64_t id;
    int *world; /* ranks of its members in MPI_COMM_WORLD; owned */
    int size;
    struct reader topology;
    bool topology_is_mine; /* this process's own part */
};

/* Those this rank is a member of, in the order of their ids. */
struct claims {
    struct claim *row; /* owned */
    size_t count;
    char *data; /* what the topologies point into; owned */
};

/* Collective over MPI_COMM_WORLD: every rank gives its rows `claims` and `passed` and learns those
 * of all. So creation_is_done knows what this rank will call again. */
void claims_exchange(struct reader mine, struct reader passed, struct claims *claims);
void claims_release(struct claims *claims);

/* Ends the job: what was read is none of save.c's. */
_Noreturn void saved_is_damaged(void);

#endif
