/* Which record of the wire is what a record of the application came to: the PMPI_Send that a
 * protocol makes inside the MPI_Send it was asked for. Such a pair is one event to people. What a
 * protocol does besides (control messages, other tags, logs) belongs to no record above. Looks at a
 * few records around. Must not know: other ranks. */
#ifndef REPORTS_DIAGRAM_FOLD_H
#define REPORTS_DIAGRAM_FOLD_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

#define FOLD_REACH 256 /* records between the two; further away they are two events */

/* The record of the application that this one of the wire carries out. One at most; false: none,
 * or it is not of the wire. */
bool fold_above(const struct trace *trace, uint64_t index, uint64_t *above);

/* The inverse. */
bool fold_below(const struct trace *trace, uint64_t index, uint64_t *below);

#endif
