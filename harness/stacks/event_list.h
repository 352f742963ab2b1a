/* Events of a run, as those that show what was found. */
#ifndef STACKS_EVENT_LIST_H
#define STACKS_EVENT_LIST_H

#include "oracles/oracle.h"

#define WITNESS_MOST FINDING_WITNESSES

struct event_list {
    size_t count;
    struct event_ref event[WITNESS_MOST];
};

#endif
