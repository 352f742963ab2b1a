/* How one record of a run is spoken of: "r2#1:e9" is record 9 of rank 2 in incarnation 1. */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_TEXT_BYTES 64

struct event_ref {
    int rank;
    int incarnation;
    uint64_t index; /* from 0 */
};

/* Returns buffer. */
const char *event_text(struct event_ref event, char buffer[EVENT_TEXT_BYTES]);

/* The bytes of the event at the beginning of `text`; 0: there is none, and *event is not to be
 * used. */
size_t event_parse(const char *text, struct event_ref *event);

/* The same rank, incarnation and number of record. */
bool event_same(struct event_ref a, struct event_ref b);

#endif
