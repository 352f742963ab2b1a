/* Communicators that mean the same after a restart. The program is handed numbers of this layer's
 * (virtual handles) and may keep them in its registered state; behind each stands the library's
 * communicator of this incarnation. README.md says how they are made again at recovery, and why
 * that is right when a line runs through the call that makes one. MPI_COMM_WORLD, MPI_COMM_SELF and
 * MPI_COMM_NULL stay what they are.
 *
 * A protocol that includes this file is linked with this folder and with generated wrappers
 * (generate.lua). Strong here: whatever makes or frees communicators, and what concerns attributes
 * and error handlers. Weak, so that the protocol's own MPI_X wins: every other function with a
 * communicator among its parameters; it passes on to PMPI_X with the library's handle. What the
 * protocol defines itself asks handles_of or handles_real. Also: MPI_Init is the protocol's; it
 * calls handles_open there. One thread at a time.
 *
 * Must not know: when a line is taken, how messages are kept. */
#ifndef COMMON_COMMUNICATORS_HANDLES_H
#define COMMON_COMMUNICATORS_HANDLES_H

#include "base/error.h"
#include "common/base/bytes.h"
#include "mpi_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef MPI_ERRORS_ABORT /* MPI 4.0 has brought it */
#define MPI_ERRORS_ABORT MPI_ERRORS_ARE_FATAL
#endif

/* How many communicators were made by the same members of the same communicator: all of them
 * (group 0), or those of an MPI_Comm_create_group (a hash of group and tag). */
struct handle_count {
    uint64_t group;
    uint64_t count;
};
struct handle_counts {
    struct handle_count *row; /* owned */
    size_t size;
};

/* One communicator as this process sees it. The first fields are there to be read. Valid until the
 * program has freed it and nobody holds it. */
struct handle {
    MPI_Comm user;   /* the program's; MPI_COMM_NULL while the program has not made it again yet */
    MPI_Comm real;   /* the library's */
    MPI_Comm hidden; /* the same group, for the protocol's own messages; MPI_COMM_NULL: not asked */
    uint64_t id;     /* the same on every member and in every incarnation; no other has it */
    int rank;        /* of this process in it */
    int size;
    int *world; /* ranks of its members in MPI_COMM_WORLD; owned */
    void *data; /* the protocol's own, NULL at first; see handles_protocol.freed */

    /* This layer's. */
    struct handle *next;      /* of all */
    struct handle *in_bucket; /* of those that the program has */
    unsigned holds;           /* by the protocol, and one while the program has it */
    bool freed;               /* by the program */
    bool early;      /* made before checkpoint_restore: the program makes it again itself */
    bool attributes; /* the program has set some */
    bool unsettled;  /* restored as freed: until handles_settle */
    struct handle_counts made; /* communicators made of this one so far */
};

/* Where a rank stands: what ranks tell each other when they make a communicator together. A
 * protocol without logging leaves `stand` NULL. */
struct handles_stand {
    uint64_t line; /* taken or restored last; lines of two ranks differ by at most one */
    bool logging;  /* for that line */
};

struct handles_protocol {
    const char *name; /* a literal, for messages */
    bool hidden;      /* make handle.hidden */
    void (*stand)(struct handles_stand *stand);
    /* A member has stopped logging for the line that this rank is logging for, and what it did
     * since may show in the call: this rank stops too, before the call returns [C3, section 3.1,
     * phase 4]. NULL where stand is. */
    void (*stop_logging)(void);
    /* May be NULL. `made` is called when `user` can be used, at recovery too; `freed` when nobody
     * holds it any more, before the library's communicator goes. */
    void (*made)(struct handle *handle);
    void (*freed)(struct handle *handle);
    /* Called by a generated wrapper for a function that communicates, ahead of the library. NULL:
     * such functions are passed on to the library. A protocol that must see every message refuses
     * here; on return the function is passed on. */
    void (*communicates)(const char *function);
    /* Ends the job: the program does what is not supported. `what` names a function or a use. */
    void (*refuse)(const char *what, const char *instead);
};

/* In MPI_Init, after the protocol's own communicators; collective over MPI_COMM_WORLD. *protocol
 * must live on. */
void handles_open(const struct handles_protocol *protocol);

/* In MPI_Finalize, before the protocol's own communicators go; collective. Communicators that the
 * program did not free stay, as without this layer. */
void handles_close(void);

/* NULL: none of ours, or freed by the program; the library is to complain about it. */
struct handle *handles_of(MPI_Comm user);

/* The library's communicator; `user` itself where handles_of is NULL. */
MPI_Comm handles_real(MPI_Comm user);

/* Those that are freed and held too. NULL: this process is no member, or it does not exist. */
struct handle *handles_by_id(uint64_t id);

/* Keeps a communicator beyond MPI_Comm_free, for a request that is still under way on it. One that
 * is held when a checkpoint is taken is there again after recovery. */
void handle_hold(struct handle *handle);
void handle_drop(struct handle *handle);

/* At the cut: appends what this rank's checkpoint must keep, and begins to collect for the line
 * after. Not collective. */
void handles_save(struct bytes *out);

/* In checkpoint_restore, once: on every start. Collective over MPI_COMM_WORLD. `saved` is what
 * handles_save appended in the checkpoint that is restored; NULL for a start from nothing. On
 * return the program's handles work, and the protocol may look up by id what its requests need;
 * then it calls handles_settle. The job ends if the program is another one. */
void handles_restore(const void *saved, size_t bytes);

/* After handles_restore: what the program had freed at the checkpoint and nobody has held again
 * goes. */
void handles_settle(void);

#endif
