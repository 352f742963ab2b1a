/* Calls that data flows out of a root in, which this rank has done before its checkpoint and the
 * root does again after recovery [C3, section 5.3, reexecList]: at recovery this rank takes part in
 * them once more, and what it gets is thrown away. Must not know: why a call is listed. */
#ifndef C3_REEXEC_H
#define C3_REEXEC_H

#include "c3/c3.h"
#include "common/base/bytes.h"
#include "common/communicators/handles.h"

enum reexec_kind {
    REEXEC_BCAST,
    REEXEC_SCATTER,
    REEXEC_SCATTERV,
    REEXEC_IBCAST, /* from here on: not blocking */
    REEXEC_ISCATTER,
    REEXEC_ISCATTERV
};

/* What a receiver said of its call. */
struct reexec {
    enum reexec_kind kind;
    struct handle *communicator;
    int root;
    int count;
    MPI_Datatype type;
    uint64_t order; /* of reexec_next, when it was called */
};

/* Calls are done again in the order in which they were begun, not in that of their completion. */
uint64_t reexec_next(void);

/* Lists it; the communicator is held, the datatype is kept as it is now. */
void reexec_add(const struct reexec *reexec);

/* The list into the checkpoint that is being taken, and then it is empty. */
void reexec_save(struct bytes *out);
void reexec_clear(void);

/* At recovery, after handles_restore and before handles_settle: the list of the checkpoint. What
 * came in these calls counts as received in this epoch. */
void reexec_restore(struct reader in);

/* At recovery, when all else is as it was: does them, in their order. Waits for the roots. The list
 * is empty when all are done. */
void reexec_do(void);
bool reexec_empty(void);

/* Does one as a receiver, with this buffer; an MPI error code. In single_sender.c. */
int reexec_perform(const struct reexec *reexec, void *buffer);

#endif
