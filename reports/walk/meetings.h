/* For arrows.c: which events of a slice are calls of the same collective. The application's: as a
 * pass over its effective histories numbers them. The wire's: as links.h has them. Must not know:
 * messages. */
#ifndef REPORTS_DIAGRAM_MEETINGS_H
#define REPORTS_DIAGRAM_MEETINGS_H

#include "oracles/matching/pass.h"
#include "reports/walk/arrows.h"

/* An event and the collective it is a call of. */
struct member {
    size_t event;
    int level, incarnation;
    uint64_t comm, number; /* of the wire: 0, and a record of its ring */
};

struct members {
    size_t count, room;
    struct member *member; /* owned */
};

/* The rank of the event came to a collective of the application, in a pass over `incarnation`. */
void meetings_joined(const struct slice *slice, int incarnation, const struct stream_event *event,
                     const struct gathering *gathering, uint64_t number, struct members *members);

/* Adds those of the wire, and fills arrows->meeting. Releases the members. */
void meetings_finish(const struct slice *slice, const struct links *links, struct members *members,
                     struct arrows *arrows);

#endif
