/* The writer of one trace file: reserve a record, fill it, publish it. Part of libfaultline.so:
 * libc only, no stdio, no locks, no allocation on the recording path. Thread-safe. */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "base/error.h"
#include "trace/add.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The file grows by chunks of this size, doubled up to the largest. */
#define TRACE_CHUNK_BYTES (64u << 10)
#define TRACE_CHUNK_MAX_BYTES (2u << 20)

/* Address space asked for, and how little is still enough where that is limited. Records beyond it
 * are lost (and counted). */
#define TRACE_RESERVE_BYTES (UINT64_C(256) << 30)
#define TRACE_RESERVE_MIN_BYTES (UINT64_C(64) << 20)

/* Where address space is limited (RLIMIT_AS), the program under test keeps all but this part. */
#define TRACE_RESERVE_PART 16

/* The descriptor is moved up to here if the limits allow: out of the way of programs that close or
 * choose low numbers. */
#define TRACE_DESCRIPTOR_MIN 512

/* One per process. Address space for all records is reserved once; the file grows by chunks that
 * are allocated on disk and in memory before they are used, so that a full disk is an error code
 * and never a SIGBUS, and recording meets no page fault. */
struct trace_writer {
    struct trace_header *header; /* NULL: never opened */
    struct record *record;
    int file;
    dev_t device; /* of the file, with `inode`: the program may close our descriptor, and get its */
    ino_t inode;  /* number for a file of its own, which must never be touched */
    /* Called once, by the thread that finds no more room, maybe in a signal handler. `reason`: an
     * errno; EBADF: the descriptor is not ours any more. NULL: nobody is informed. */
    void (*when_full)(int reason);
    uint64_t mapped;          /* bytes of address space, header included */
    uint64_t allocated;       /* bytes of the file that exist; owned by the thread that grows it */
    _Atomic uint64_t limit;   /* records that have room on disk; 0 when closed */
    _Atomic bool alone;       /* one thread reserves, `owner`: it needs no lock for that */
    _Atomic bool reserving;   /* that thread is between looking at `alone` and having reserved */
    pid_t owner;              /* tid; valid while alone */
    _Atomic uint32_t growing; /* tid of the thread that makes the file grow; 0 none */
    _Atomic uint32_t full;    /* 1: no more room; stays so */
    _Atomic uint32_t closed;
};

/* Creates `path` (fails if it exists). The header's fields are copied from *header, but for magic,
 * version, record_bytes and the counters. On failure *writer is closed and stays usable as such,
 * and there is no file, unless it was there before. `when_full` may be set afterwards. */
enum error_code trace_writer_open(struct trace_writer *writer, const char *path,
                                  const struct trace_header *header, struct error *error);

/* Cuts the file to what was written and marks it closed. Records reserved afterwards are lost and
 * not counted. The memory stays mapped: another thread may be writing its last record. The file
 * stays as long as it is if the program has closed the descriptor. */
void trace_writer_close(struct trace_writer *writer);

/* No other thread than this one reserves records, until trace_writer_shared is called: it may do so
 * without a lock. Nothing changes where the kernel has no membarrier. */
void trace_writer_alone(struct trace_writer *writer);

/* To be called by each thread, but the one that is alone, before it reserves anything. Not from a
 * signal handler. */
void trace_writer_shared(struct trace_writer *writer);

/* Counts `next` up by `count`; its value before. */
static inline uint64_t trace_take_places(struct trace_writer *writer, unsigned count)
{
    _Atomic uint64_t *next = &writer->header->next;
    if (!__builtin_expect(atomic_load_explicit(&writer->alone, memory_order_relaxed), 1))
        return atomic_fetch_add(next, count);
    /* A signal handler that interrupts this leaves `reserving` as it was. */
    bool outer = atomic_load_explicit(&writer->reserving, memory_order_relaxed);
    atomic_store_explicit(&writer->reserving, true, memory_order_relaxed);
    /* For the processor trace_writer_shared has the barrier, on behalf of both threads. */
    atomic_signal_fence(memory_order_seq_cst);
    bool alone = atomic_load_explicit(&writer->alone, memory_order_relaxed);
    uint64_t index = alone ? add_alone(next, count) : 0;
    atomic_store_explicit(&writer->reserving, outer, memory_order_release);
    return alone ? index : atomic_fetch_add(next, count);
}

/* The rest of trace_reserve when `index` is beyond the limit. */
struct record *trace_reserve_beyond(struct trace_writer *writer, uint64_t index, unsigned count);

/* `count` records in a row, or NULL when the trace is full (header->lost is then counted up). They
 * hold zeros; write the fields, then kind with release order, last record first if count > 1.
 *
 * Sequentially consistent on purpose where threads share the writer: trace_writer_close sets the
 * limit to 0 and then reads `next`, so it sees every reservation that saw the old limit. */
static inline struct record *trace_reserve(struct trace_writer *writer, unsigned count)
{
    if (__builtin_expect(writer->header == NULL, 0))
        return NULL;
    uint64_t index = trace_take_places(writer, count);
    if (__builtin_expect(index + count > atomic_load(&writer->limit), 0))
        return trace_reserve_beyond(writer, index, count);
    return writer->record + index;
}

#endif
