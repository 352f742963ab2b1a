/* What every wrapper of both taps does around a call: is it to be recorded, passing it on, the
 * error class. The wrappers themselves are generated (generate.lua, roles.lua).
 *
 * Depths. MPI libraries call their own PMPI functions (MPI-IO most of all), protocols call MPI_Y
 * inside their MPI_X, and user callbacks call MPI from inside the library. None of these is the
 * application calling, nor a protocol asking something of the wire. So: inside an upper call the
 * upper tap passes on unrecorded; inside a lower call both taps do. Helpers of ours that call the
 * library count as a lower call (library_begin). */
#ifndef INJECTORS_TAPS_TAP_H
#define INJECTORS_TAPS_TAP_H

#include "injectors/record/library.h"
#include "injectors/record/runtime.h"
#include "injectors/taps/under_test.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define NEVER_INLINE __attribute__((noinline))
#define EXPORTED __attribute__((visibility("default")))

/* A handle as a number, whatever the library's handles are. */
#define HANDLE(handle) ((uint64_t)(uintptr_t)(handle))

/* true: between MPI_Init and MPI_Finalize. Outside only calls are recorded, and nothing is asked of
 * the library that the program did not ask. */
extern bool tap_ready;

/* The same, and the short way of tap_pair.h may be taken: no other thread can free a datatype that
 * is needed after the call. */
extern bool tap_pairs;

static inline bool upper_records(void)
{
    return likely(runtime_recording == RECORDS_ALL) &&
           (thread_state.app_depth | thread_state.wire_depth) == 0;
}

/* The rest of upper_records_else; looks for the library if there is none yet. */
bool upper_asks_who_calls(void);

/* Where that says no. True: it is to be recorded all the same. */
static inline bool upper_records_else(void)
{
    return unlikely(runtime_recording == RECORDS_BY_CALLER || !library_found) &&
           upper_asks_who_calls();
}

/* Looks for the library. True: the process records from this call on. */
bool lower_begins_here(void);

static inline bool lower_records(void)
{
    if (likely(runtime_recording))
        return thread_state.wire_depth == 0;
    return unlikely(!library_found) && lower_begins_here();
}

/* Around all of an upper call; `direct`: no protocol defines it, our lower tap is next. */
static inline void upper_begin(bool direct)
{
    if (likely(direct))
        runtime_direct_begin();
}

static inline void upper_end(bool direct)
{
    if (likely(direct))
        runtime_direct_end();
}

/* Around the passing on. */
static inline void upper_pass(void)
{
    thread_state.app_depth++;
}

static inline void upper_return(void)
{
    thread_state.app_depth--;
}

static inline void lower_pass(void)
{
    thread_state.wire_depth++;
}

static inline void lower_return(void)
{
    thread_state.wire_depth--;
}

/* Around a call of the library that Faultline itself makes. */
static inline void library_begin(void)
{
    thread_state.wire_depth++;
}

static inline void library_end(void)
{
    thread_state.wire_depth--;
}

/* The MPI error class of what a function returned, for a record. */
int tap_error_class(int result);

/* What a record says of what a call returned: enum raised, or the MPI error class; 0 for success.
 */
static inline int error_class(int result)
{
    return likely(result == MPI_SUCCESS) ? 0 : tap_error_class(result);
}

/* The end of any record whose other fields are filled. */
static inline void call_end(struct record *r, int result)
{
    record_end(r, error_class(result));
}

struct record *call_begin(enum level level, unsigned call, MPI_Comm comm);

/* Of ULFM's agreement: what this process brought, and what all have agreed on. */
struct record *agree_begin(enum level level, unsigned call, MPI_Comm comm, const int *flag);
void agree_end(struct record *r, const int *flag, int result);

/* Life of MPI in this process. init_end makes the taps ready; the record of MPI_Finalize is the
 * last of a rank. */
struct record *init_begin(enum level level, unsigned call);
void init_end(enum level level, struct record *r, int result);
struct record *finalize_begin(enum level level, unsigned call);
void finalize_end(enum level level, struct record *r, int result);

struct record *type_free_begin(enum level level, unsigned call, const MPI_Datatype *type);

/* Locks of the tables. Held for a few instructions; nothing is locked unless the library was asked
 * for MPI_THREAD_MULTIPLE. */
struct tap_lock {
    _Atomic unsigned taken;
};

/* A lock among the threads of the process, for a few instructions: who waits yields the processor.
 * Not to be nested. */
static inline void tap_lock(struct tap_lock *lock)
{
    while (runtime_several_threads &&
           atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire))
        while (atomic_load_explicit(&lock->taken, memory_order_relaxed))
            sched_yield();
}

static inline void tap_unlock(struct tap_lock *lock)
{
    atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

#endif
