/* An outcome in TAP, as a person wants to read it: the claim, the reason, the way to see more, and
 * what the ranks said last. Every part is bounded. */
#ifndef JOBS_OUTCOME_PRINT_H
#define JOBS_OUTCOME_PRINT_H

#include "verdict/outcome.h"

#include <stdio.h>

/* The TAP line and its diagnostics. A pass gets diagnostics only when `verbose`. */
void outcome_print(FILE *out, const struct run *run, const struct outcome *outcome, bool verbose);

#endif
