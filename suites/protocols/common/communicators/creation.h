/* One call of the program that makes communicators: what goes before and after the library's.
 * make.c says what each function of MPI adds; creation.c what is common to all. Must not know: how
 * recovery makes them again. */
#ifndef COMMON_COMMUNICATORS_CREATION_H
#define COMMON_COMMUNICATORS_CREATION_H

#include "common/communicators/table.h"

struct creation {
    const char *function;
    struct handle *parent; /* NULL: no communicator; the library is to complain */
    MPI_Comm real;         /* the parent's: to be given to the library */
    MPI_Comm made;         /* where the library puts its answer */
    bool duplicate;        /* attributes of the parent are copied */
    uint64_t group;        /* 0, or of MPI_Comm_create_group */
    uint64_t series;       /* creations by the same members of the same parent */
    uint64_t count;        /* in the series */
};

/* true: it was done at recovery, and *user is the answer. Else the library is to be called, and
 * then creation_end. */
bool creation_begin(struct creation *creation, const char *function, MPI_Comm parent,
                    MPI_Comm *user);

/* The same where only the members of `group` take part. */
bool creation_begin_group(struct creation *creation, const char *function, MPI_Comm parent,
                          MPI_Group group, int tag, MPI_Comm *user);

/* `result` is the library's. Collective over whoever takes part. Returns the result. */
int creation_end(struct creation *creation, int result, MPI_Comm *user);

#endif
