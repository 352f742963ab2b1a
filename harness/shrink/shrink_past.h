/* Which steps of a plan were done before a violation, in the sense in which one event can bring
 * about another. Must not know: what becomes of the steps. */
#ifndef SHRINK_SHRINK_PAST_H
#define SHRINK_SHRINK_PAST_H

#include "oracles/oracle.h"
#include "trace/reader.h"

#include <stdbool.h>

/* before[i] (an entry for each step of a plan, `steps` of them) becomes true where the traces show
 * that step i was done to somebody, causally before an event of the witness: earlier on the same
 * rank, or linked to it by messages, collectives, and restarts of the job (all that an incarnation
 * did is before the next). Without a witness all that were done are. ERROR_IO. */
enum error_code past_steps(const struct trace_set *traces, const struct finding *finding,
                           bool *before, size_t steps, struct error *error);

#endif
