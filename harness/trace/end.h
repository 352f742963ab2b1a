/* How the process of a trace ended, written after it by its parent. Part of libfaultline.so: libc
 * only. */
#ifndef TRACE_END_H
#define TRACE_END_H

#include <stdbool.h>
#include <stdint.h>

/* Appends END to the trace at `path`, whose process is gone: what waitpid said of it, and when that
 * was seen, in ticks of the trace's clock. False: there is no such trace (the process died before
 * it was made), records of it were lost, or the disk is full. */
bool trace_write_end(const char *path, int wait_status, uint64_t ticks);

#endif
