/* The writer of one trace file: reserve a record, fill it, publish it. Part of libfaultline.so: libc
 * only, no stdio, no locks, no allocation on the recording path. Thread-safe. */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "base/error.h"
#include "trace/record.h"

#include <stddef.h>

/* One per process. Address space for all records is reserved once; the file grows by chunks that
 * are allocated on disk first (posix_fallocate), so that a full disk is an error code and never a
 * SIGBUS. */
struct trace_writer {
    struct trace_header *header; /* NULL: not open */
    struct record *record;
    int file;
    _Atomic uint64_t limit; /* records that have room on disk */
    _Atomic uint32_t growing;
};

/* Creates `path` (fails if it exists). The header's fields are copied from *header, but for magic,
 * version, record_bytes and the counters. On failure *writer is closed and stays usable as such. */
enum error_code trace_writer_open(struct trace_writer *writer, const char *path,
                                  const struct trace_header *header, struct error *error);

/* Cuts the file to what was written and marks it closed. Records reserved afterwards are lost and
 * not counted. */
void trace_writer_close(struct trace_writer *writer);

/* `count` records in a row, or NULL when the trace is full (header->lost is then counted up). They
 * hold zeros; write the fields, then kind with release order, last record first if count > 1. */
struct record *trace_reserve(struct trace_writer *writer, unsigned count);

#endif
