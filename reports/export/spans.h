/* Calls as spans of a thread that begin, nest and end in the order of time, for forms that ask for
 * it. Where clocks of processors differ, times are moved forward so that none runs backwards, and a
 * call ends no later than the one around it. A call in progress ends with the last thing known of
 * its thread. Must not know: forms of export. */
#ifndef REPORTS_EXPORT_SPANS_H
#define REPORTS_EXPORT_SPANS_H

#include "oracles/matching/walk.h"
#include "oracles/reading/table.h"

/* A thread of a rank in an incarnation. */
struct span_thread {
    size_t place;    /* of its trace */
    unsigned thread; /* from 0 */
    size_t number;   /* among all threads, from 0, as they were first seen */
    uint64_t now_ns;
    size_t depth, room;
    struct span *open; /* owned, outermost first */
    struct span_thread *next;
};

/* A call. part: one more record of the call that the span around it is (each message of an
 * MPI_Waitall, both halves of an MPI_Sendrecv). */
struct span {
    struct walk_event event; /* without clock */
    uint64_t leave_ns;
    bool part;
};

/* Times never fall within a thread. */
struct span_listener {
    void *context;
    void (*enter)(void *context, const struct span_thread *thread, const struct span *span,
                  uint64_t ns);
    void (*leave)(void *context, const struct span_thread *thread, const struct span *span,
                  uint64_t ns);
    /* A note, a fault, or a communicator that was made. */
    void (*point)(void *context, const struct span_thread *thread, const struct walk_event *event,
                  uint64_t ns);
};

struct spans {
    struct span_listener listener;
    struct table threads; /* (place, thread) */
    struct span_thread *first, **last;
    size_t count;
};

/* Owned by the caller: spans_release. */
void spans_init(struct spans *spans, const struct span_listener *listener);
void spans_release(struct spans *spans);

/* The next event of a walk. */
void spans_event(struct spans *spans, const struct walk_event *event);
/* Nothing more comes: ends what is open. */
void spans_finish(struct spans *spans);

#endif
