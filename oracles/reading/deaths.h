/* Which processes died, and were not killed because the job was ended. */
#ifndef ORACLES_READING_DEATHS_H
#define ORACLES_READING_DEATHS_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

#define DEATH_NONE UINT64_MAX

/* The process came to its end by exit status 0. */
bool death_ended_well(const struct trace *trace);

/* Ticks when the parent of the process saw it dead; DEATH_NONE: it came to its end, or is not known
 * to have died before the job was ended. In a run that finished nobody ended the job; in others a
 * process counts that a kill of the plan names, or of whose death somebody was told. */
uint64_t death_of(const struct trace_set *traces, bool finished, const struct trace *trace);

/* Ticks of the last that the process did; 0: nothing. */
uint64_t death_last_heard(const struct trace *trace);

#endif
