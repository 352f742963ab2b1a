/* Events of a run, as those that show what was found. */
#ifndef STACKS_WITNESS_H
#define STACKS_WITNESS_H

#include "oracles/oracle.h"

#define WITNESS_MOST FINDING_WITNESSES

struct witness {
    size_t count;
    struct event_ref event[WITNESS_MOST];
};

#endif
