/* See lost.h. */
#include "launch/incomplete_traces.h"

#include <inttypes.h>

bool incomplete_traces_print(const struct trace_set *set, FILE *out)
{
    bool any = false;
    for (size_t i = 0; i < set->count; i++) {
        const struct trace *trace = &set->trace[i];
        uint32_t lost = atomic_load(&trace->header->lost);
        if (lost == 0)
            continue;
        any = true;
        fprintf(out,
                "faultline: the trace of rank %d in incarnation %d is incomplete: %" PRIu32
                " record%s lost\n",
                trace->rank, trace->incarnation, lost, lost == 1 ? "" : "s");
    }
    return any;
}
