/* The decisions of a run, taken from its traces. Must not know: the driver, MPI. */
#ifndef DECISIONS_EXTRACT_H
#define DECISIONS_EXTRACT_H

#include "decisions/decisions.h"
#include "oracles/oracle.h"
#include "trace/reader.h"

/* *decisions is the whole of a file in memory, sealed; the caller's to release. `facts`: how the
 * ranks ended; may have none. `followed`: of the run that this one has followed; NULL: none.
 * ERROR_LIMIT: the run is longer than is kept, with the bound named; ERROR_FORMAT: several threads
 * of a rank were inside MPI at once. */
enum error_code decisions_extract(const struct trace_set *traces, const struct run_facts *facts,
                                  const struct decisions_identity *identity, uint64_t seed,
                                  const struct decisions *followed, struct decisions *decisions,
                                  struct error *error);

/* Of decisions_extract or decisions_open. All 0 is allowed. */
void decisions_release(struct decisions *decisions);

/* Written to `path`, whole or not at all. ERROR_IO. */
enum error_code decisions_write(const char *path, const struct decisions *decisions,
                                struct error *error);

#endif
