/* The events that a stored run's verdict.json names as the witness of what was found. */
#ifndef STACKS_WITNESS_H
#define STACKS_WITNESS_H

#include "oracles/oracle.h"

#define WITNESS_MOST FINDING_WITNESSES

struct witness {
    size_t count;
    struct event_ref event[WITNESS_MOST];
};

/* Of the first finding, the one that decided. None if the run was not judged, or nothing was found;
 * ERROR_FORMAT if verdict.json is damaged. */
enum error_code witness_read(const char *run, struct witness *witness, struct error *error);

#endif
