/* The recording path of the taps: thread state, and a record's life from entry to return. Inline,
 * because it runs inside every MPI call: one add per record (without a lock while one thread alone
 * records), one clock read per entry and one per return for both levels together where no protocol
 * lies between. Must not know: MPI headers.
 *
 * One call:                                    Completion without a duration (under MPI_Waitall):
 *     r = record_begin(level, kind, call);         r = record_reserve(level, kind, call);
 *     r->comm = ...;                               r->request = ...;
 *     record_publish(r);                           record_instant(r, error_class);
 *     runtime_blocking(r);   (wire only)
 *     ... the library ...                      Test, Iprobe and the like (may be coalesced):
 *     runtime_unblocked();                         r = record_poll_begin(level, kind, call);
 *     r->hash = ...;                               r->request = ...; record_publish(r);
 *     record_end(r, error_class);                  ... the library; r->flags |= FLAG_NEGATIVE ...
 *                                                  record_poll_end(r, error_class);
 *
 * Call none of these while runtime_recording is 0. */
#ifndef INJECTORS_RECORD_RUNTIME_H
#define INJECTORS_RECORD_RUNTIME_H

#include "board/board.h"
#include "injectors/record/watcher.h"
#include "trace/calls.h"
#include "trace/clock.h"
#include "trace/record.h"
#include "trace/writer.h"

#include <stdbool.h>

/* Polls of one thread that can be told apart at a time; see record_poll_end. */
#define RUNTIME_POLLS 32

struct request;

/* One kind of unsuccessful poll, and the record that counts it. */
struct poll_run {
    struct record *record;
    uint64_t recorded; /* thread_state.recorded when it was last counted */
};

struct thread_state {
    uint8_t app_depth;  /* > 0: inside an upper call. Kept by the taps */
    uint8_t wire_depth; /* > 0: inside a lower call, or in our own call of the library */
    bool direct;        /* see runtime_direct_begin. Kept by the taps */
    bool known;         /* number and tid are set */
    uint16_t number;    /* struct record.thread */
    int32_t tid;
    const void *returns_to; /* where the upper call that is not simply recorded goes on */
    uint32_t passage;  /* counts direct upper calls: what is remembered belongs to one of them */
    uint64_t ticks;    /* newest clock read, shared by the two levels of a direct call */
    uint64_t recorded; /* records begun, polls left out */
    uint64_t drew;     /* `recorded` when it last drew a value */
    uint32_t steered;  /* step + 1 of the plan that wants something of the wire call in progress; 0:
                          none. Left by the watcher; whoever takes it sets it to 0 */
    uint32_t pending;  /* the same of the upper call in progress: the first wire call inside it that
                          does the same takes it. Kept by the rules */
    const struct record *pending_call; /* that upper call */
    struct request *const *asked;      /* what an upper call asks for; NULL entries: not known */
    uint32_t asked_count;
    struct record *given; /* evidence of what the upper call in progress is to give. By the rules */
    struct record *answered; /* evidence of an answer to the poll in progress. Kept by the rules */
    struct record scratch;   /* stands in for a record when the trace is full */
    struct record poll[2];   /* by level: the poll in progress, not in the trace yet */
    struct poll_run run[RUNTIME_POLLS]; /* by hash of what was asked */
};

extern __thread struct thread_state thread_state __attribute__((tls_model("initial-exec")));

/* 0: both taps only pass through (inert, forked child, FAULTLINE_RECORD=0, after the end). Changes
 * to 0 at most once in a process, never back. RECORDS_BY_CALLER: what a library under test calls is
 * not the program's (under_test.h). */
enum { RECORDS_ALL = 1, RECORDS_BY_CALLER = 2 };
extern int runtime_recording;

/* true: MPI_THREAD_MULTIPLE. One blocked thread then does not mean a blocked rank. */
extern bool runtime_several_threads;

/* This process has said that it is no rank of the application. */
extern bool runtime_is_nobody;

extern struct trace_writer runtime_trace;
extern struct board_slot *runtime_slot; /* never NULL: a slot that nobody reads without a board */

/* Called by the taps when the MPI library's own MPI_Init[_thread] is entered, when it has returned
 * (`number`: of this process; size: of its MPI_COMM_WORLD), when MPI_Finalize is entered, the
 * library's own is, and MPI_Finalize has returned.
 * `several_threads`: MPI_THREAD_MULTIPLE was provided. */
void runtime_initializing(void);
void runtime_initialized(int number, int size, bool several_threads);
void runtime_finalizing(void);
void runtime_leaving(void);
void runtime_finalized(void);

/* This process takes part in MPI_Comm_spawn of `count` processes; see board_take_newcomers and
 * board_find_newcomers. -1 also while nothing is recorded. */
int runtime_take_newcomers(int count, uint64_t born_in);
int runtime_find_newcomers(uint64_t born_in);

/* Of this process. */
int runtime_number(void);

/* The process that has started this one and looks after it, where `faultline run` has started that;
 * 0: there is none. */
int runtime_parent(void);

/* Which MPI library this process has: an address inside it, and what it calls itself. */
void runtime_library(const void *address, const char *version);

/* First record of a thread: gives it its number. */
void runtime_thread_begin(void);

/* From the first line of an upper call to its last (record_end included), when no protocol lies
 * after it and the upper tap itself calls the lower one: clock reads and payload hashes are then
 * shared by the two levels. */
static inline void runtime_direct_begin(void)
{
    thread_state.direct = true;
    thread_state.passage++;
}

static inline void runtime_direct_end(void)
{
    thread_state.direct = false;
}

/* The rest of record_reserve when `index` is beyond the limit. */
struct record *record_reserve_beyond(uint64_t index);

/* What a message of a few bytes feels. The compiler thinks otherwise where there are many callers.
 */
#define ON_THE_PATH static inline __attribute__((always_inline))

/* A zeroed record with everything but its times. Never NULL: while the trace is full a scratch
 * record of this thread (a later one overwrites it). kind waits in `error` until it is published.
 */
ON_THE_PATH struct record *record_reserve(enum level level, enum record_kind kind, unsigned call)
{
    if (__builtin_expect(!thread_state.known, 0))
        runtime_thread_begin();
    uint64_t index = trace_take_places(&runtime_trace, 1);
    struct record *r = runtime_trace.record + index;
    if (__builtin_expect(index >= atomic_load(&runtime_trace.limit), 0))
        r = record_reserve_beyond(index);
    r->level = (uint8_t)level;
    r->call = (uint16_t)call;
    r->error = (uint8_t)kind;
    r->thread = thread_state.number;
    thread_state.recorded++;
    return r;
}

/* `count` records in a row for what has GROUP or TEXT records after it; NULL while the trace is
 * full. The first is as record_reserve gives it; the others are the caller's to fill, their kind
 * stored (release) before the first is finished with record_instant. */
static inline struct record *record_reserve_row(enum level level, enum record_kind kind,
                                                unsigned call, unsigned count)
{
    if (__builtin_expect(!thread_state.known, 0))
        runtime_thread_begin();
    struct record *r = trace_reserve(&runtime_trace, count);
    if (r == NULL)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        r[i].level = (uint8_t)level;
        r[i].call = (uint16_t)call;
        r[i].thread = thread_state.number;
    }
    r->error = (uint8_t)kind;
    thread_state.recorded++;
    return r;
}

/* A record with TEXT records after it that hold `text`, `length` bytes of it; a scratch record
 * without them while the trace is full. */
struct record *record_reserve_named(enum level level, enum record_kind kind, const char *text,
                                    size_t length);

/* What stands after a record, as far as there is room; empty: nothing does. */
#define RECORD_NAME_BYTES 256
void record_name(const struct record *r, char name[RECORD_NAME_BYTES]);

/* Time of an entry. A direct call enters both levels at once. */
ON_THE_PATH uint64_t record_entry_ticks(enum level level)
{
    if (level != LEVEL_WIRE || !thread_state.direct)
        thread_state.ticks = clock_ticks();
    return thread_state.ticks;
}

/* Time of a return: the upper level of a direct call returns when the lower one did. */
ON_THE_PATH uint64_t record_return_ticks(const struct record *r)
{
    if (r->level != LEVEL_APP || !thread_state.direct || thread_state.ticks <= r->enter)
        thread_state.ticks = clock_ticks();
    return thread_state.ticks;
}

/* Reserves a record for a call that is being entered. Fill it, then record_publish. */
ON_THE_PATH struct record *record_begin(enum level level, enum record_kind kind, unsigned call)
{
    struct record *r = record_reserve(level, kind, call);
    r->enter = record_entry_ticks(level);
    return r;
}

/* The record can be seen from now on, as a call in progress. May not return: position "before". */
ON_THE_PATH void record_publish(struct record *r)
{
    uint8_t kind = r->error;
    r->error = 0;
    atomic_store_explicit(&r->kind, kind, memory_order_release);
    if (__builtin_expect(runtime_watching, 0))
        watcher->before(r);
}

void record_end_watched(struct record *r, int error_class);

/* The same of a call that returned at `ticks`, whether or not it is watched. */
void record_end_at(struct record *r, int error_class, uint64_t ticks);

static inline uint8_t record_error(int error_class)
{
    return (uint8_t)(error_class >= 0 && error_class <= 254 ? error_class : 255);
}

/* The call has returned and all fields are filled. May not return: position "after", "inside". */
ON_THE_PATH void record_end(struct record *r, int error_class)
{
    if (__builtin_expect(runtime_watching, 0)) {
        record_end_watched(r, error_class);
        return;
    }
    r->error = record_error(error_class);
    atomic_store_explicit(&r->leave, record_return_ticks(r), memory_order_release);
}

/* Finishes a record_reserve'd (not begun) record that has no duration: enter == leave. */
static inline void record_instant(struct record *r, int error_class)
{
    uint8_t kind = r->error;
    r->enter = 0;
    r->enter = record_return_ticks(r);
    r->error = record_error(error_class);
    atomic_store_explicit(&r->leave, r->enter, memory_order_relaxed);
    atomic_store_explicit(&r->kind, kind, memory_order_release);
    if (__builtin_expect(runtime_watching, 0))
        watcher->instant(r, NULL);
}

/* A call that may say "not yet" and be repeated without end. The record is this thread's own until
 * record_poll_end; one at a time per level. Fill request, comm, want_peer, want_tag before
 * record_publish. */
static inline struct record *record_poll_begin(enum level level, enum record_kind kind,
                                               unsigned call)
{
    if (__builtin_expect(!thread_state.known, 0))
        runtime_thread_begin();
    struct record *r = &thread_state.poll[level];
    __builtin_memset(r, 0, sizeof *r);
    r->level = (uint8_t)level;
    r->call = (uint16_t)call;
    r->error = (uint8_t)kind;
    r->thread = thread_state.number;
    r->enter = record_entry_ticks(level);
    return r;
}

/* With FLAG_NEGATIVE: counts it on (in `bytes`) in the record of the earlier polls that asked the
 * same (level, call, comm, tag, request, want_peer, want_tag) if this thread has recorded nothing
 * but polls since; else a record of its own. Returns the record in the trace. */
struct record *record_poll_end(struct record *r, int error_class);

/* The note of a drawn value has been written. It is no sign of progress. */
void runtime_drew(size_t name_length);

/* A poll of this rank said no. */
void runtime_polled_in_vain(void);

/* The same of a poll that is no MPI call and has said no; `r`, complete but for bytes and leave, is
 * the caller's own. `text`, `length` bytes, stands after it. */
struct record *record_poll_named(struct record *r, uint64_t leave, const char *text, size_t length);

/* The rank is inside the wire call of `r`, which may block; shown on the board until _unblocked. */
static inline void runtime_blocking(const struct record *r)
{
    if (runtime_several_threads || r == &thread_state.scratch)
        return;
    uint64_t number = (uint64_t)(r - runtime_trace.record) + 1;
    atomic_store_explicit(&runtime_slot->tid, thread_state.tid, memory_order_relaxed);
    atomic_store_explicit(&runtime_slot->blocking_call, number, memory_order_release);
}

static inline void runtime_unblocked(void)
{
    atomic_store_explicit(&runtime_slot->blocking_call, 0, memory_order_release);
}

#endif
