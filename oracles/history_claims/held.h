/* Messages that a hold of the plan keeps back at the moment: their SEND records are there, but they
 * are under way nowhere. */
#ifndef ORACLES_HISTORY_CLAIMS_HELD_H
#define ORACLES_HISTORY_CLAIMS_HELD_H

#include "oracles/reading/table.h"
#include "trace/reader.h"

/* Reads the FAULT records of one incarnation. Released by held_release. */
void held_read(const struct trace_set *traces, int incarnation, struct table *held);
void held_release(struct table *held);

/* The SEND record `index` of `rank` is kept back: it is held itself, or stands after one that is
 * held on the same communicator to the same peer (messages do not overtake). */
bool held_keeps(const struct table *held, int rank, uint64_t index, const struct record *send);

#endif
