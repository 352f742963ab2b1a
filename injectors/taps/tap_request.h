/* Requests and matched messages: what each handle that the library gave out stands for, per level.
 *
 * A handle is not a name: the library gives one handle to several sends that are complete at once,
 * and a handle that one thread's Wait has just freed to another thread's Isend, before the first
 * thread is back from the library. So the table holds any number of requests per handle, and one is
 * *claimed* by the call that may complete it, before the library is called. Among requests of equal
 * handle the one whose variable in the program is the same is taken. */
#ifndef INJECTORS_TAPS_TAP_REQUEST_H
#define INJECTORS_TAPS_TAP_REQUEST_H

#include "injectors/record/payload.h"
#include "injectors/taps/tap.h"
#include "injectors/taps/tap_collective.h"
#include "injectors/taps/tap_communicator.h"

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECEIVE, /* also the receiving half of Isendrecv */
    REQUEST_COLLECTIVE,
    REQUEST_MAKE,    /* of a communicator */
    REQUEST_MESSAGE, /* no request: a message found by Mprobe, keyed by its MPI_Message */
};

/* A place in a chain of the table. */
struct request_link {
    struct request *next;
    struct request **at; /* what points here */
};

struct request {
    union {
        struct request_link link[2]; /* while `listed` */
        struct request *unused;      /* the next one that is not in use */
    };
    bool listed;
    uint64_t handle;
    const void *where; /* the program's variable */
    uint32_t number;   /* in the trace */
    uint16_t call;     /* that made it */
    uint8_t kind;      /* enum request_kind */
    uint8_t level;
    bool claimed; /* a call that may complete it is under way */
    bool persistent;
    bool active;         /* started and not complete */
    bool cancel;         /* MPI_Cancel was called, or may have been in an earlier incarnation */
    bool exchange;       /* the receiving half of MPI_Isendrecv */
    bool from_nobody;    /* a receive from MPI_PROC_NULL, not persistent */
    uint8_t owned_types; /* bit i: type i of request_types is our copy */
    struct communicator *communicator;
    union {
        struct { /* SEND and RECEIVE (peer and tag: persistent, exchange), MESSAGE */
            const void *buffer;
            MPI_Count count;
            MPI_Datatype type;
            int peer; /* as the program numbers it */
            int tag;
        };
        struct collective collective;
        struct { /* MAKE */
            const MPI_Comm *made;
            uint32_t id;
        };
    };
};

/* The next number of a request at this level; never 0. */
uint32_t request_number(enum level level);

/* A zeroed request with kind, level, call, number and communicator (held) set; NULL: out of memory,
 * then the request is one that Faultline does not know. */
struct request *request_new(enum level level, enum request_kind kind, unsigned call,
                            uint32_t number, struct communicator *communicator);

/* Puts it into the table under the handle at `where`. */
void request_insert(struct request *request, uint64_t handle, const void *where);

/* The request of this handle that no other call has claimed, or NULL. `message`: the handle is an
 * MPI_Message. */
struct request *request_claim(enum level level, uint64_t handle, const void *where, bool message);

/* The call did not complete it. NULL is allowed. */
static inline void request_unclaim(struct request *request)
{
    if (request)
        __atomic_store_n(&request->claimed, false, __ATOMIC_RELEASE);
}

/* A claimed request is complete: an inactive persistent one stays, any other is freed. */
void request_done(struct request *request);

/* A claimed request is gone, persistent or not. */
void request_remove(struct request *request);

/* The datatype is freed while requests, of whichever level, still need it: they get a copy. */
void request_type_freed(MPI_Datatype type);

/* A protocol has brought a request back after a restart (faultline.h): the upper level knows it as
 * if it had been made or started in this incarnation. */
struct faultline_request;
void tap_request_back(const struct faultline_request *noted);

/* A datatype that a call of this thread needs until it has returned: where other threads run, *type
 * becomes a copy when one of them frees it meanwhile. From type_use_settle to type_use_end it stays
 * what it is, and may be read: who frees it then waits. */
struct type_use {
    struct type_use *next;
    MPI_Datatype *type; /* NULL: not in the list */
    bool owned;         /* *type is our copy */
    bool settled;
};

/* For the three functions below, where other threads run. */
void type_use_add(struct type_use *use, MPI_Datatype *type);
void type_use_keep(struct type_use *use);
void type_use_remove(struct type_use *use);

/* Begins to need *type, which the caller keeps until type_use_end; sees to it that it may be read;
 * ends to need it. */
static inline void type_use_begin(struct type_use *use, MPI_Datatype *type)
{
    use->type = NULL;
    if (unlikely(runtime_several_threads && tap_ready))
        type_use_add(use, type);
}

static inline void type_use_settle(struct type_use *use)
{
    if (unlikely(use->type != NULL))
        type_use_keep(use);
}

static inline void type_use_end(struct type_use *use)
{
    if (unlikely(use->type != NULL))
        type_use_remove(use);
}

/* Roles REQUEST_FREE and CANCEL. */
struct record *request_free_begin(enum level level, unsigned call, const MPI_Request *request,
                                  struct request **freed);
void request_free_end(struct record *r, struct request *freed, int result);
struct record *cancel_begin(enum level level, unsigned call, const MPI_Request *request);

#endif
