/* See event.h. */
#include "trace/event.h"

#include <inttypes.h>
#include <stdio.h>

const char *event_text(struct event_ref event, char buffer[EVENT_TEXT_BYTES])
{
    snprintf(buffer, EVENT_TEXT_BYTES, "r%d#%d:e%" PRIu64, event.rank, event.incarnation,
             event.index);
    return buffer;
}

size_t event_parse(const char *text, struct event_ref *event)
{
    int bytes = 0;
    if (sscanf(text, "r%d#%d:e%" SCNu64 "%n", &event->rank, &event->incarnation, &event->index,
               &bytes) != 3 ||
        event->rank < 0 || event->incarnation < 0)
        return 0;
    return (size_t)bytes;
}

bool event_same(struct event_ref a, struct event_ref b)
{
    return a.rank == b.rank && a.incarnation == b.incarnation && a.index == b.index;
}
