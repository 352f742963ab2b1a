/* Which rank of the application a process was, for the second look: by its `becomes` notes. */
#ifndef WITNESS_PLACES_H
#define WITNESS_PLACES_H

#include "witness/history.h"

/* Some process tells that it becomes somebody. */
bool places_move(const struct trace_set *traces);

/* The rank that the process was at its event: the one that MPI says if it tells nothing. */
int at_rank(struct at at);

/* Some process was this rank at some time. */
bool places_have(const struct trace_set *traces, int rank);

#endif
