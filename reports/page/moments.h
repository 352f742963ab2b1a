/* Moments of a run: what happened, each a sentence with a time. For report_story.c. Must not know:
 * what is told. */
#ifndef REPORTS_PAGE_MOMENTS_H
#define REPORTS_PAGE_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOMENT_BYTES 1024

struct moment {
    const char *kind; /* "fault", "death", "restart", "restored", "found", "end": for the template;
                         static */
    uint64_t ns;      /* since the start of the run */
    size_t order;     /* of those with the same time */
    uint64_t times;   /* the same was done so often, this one included */
    bool damage;      /* a fault that kills or lets the store fail */
    unsigned fault;   /* enum fault_kind, of faults */
    int step;         /* of the plan, from 0; -1: of none */
    int incarnation;
    uint64_t line;           /* that ranks go back to */
    char text[MOMENT_BYTES]; /* events in it are written as event_text does */
};

/* Begins as all 0; moments_release. */
struct moments {
    size_t count, room;
    struct moment *moment; /* owned */
};

void moments_release(struct moments *moments);

/* Valid until the next one is added. */
struct moment *moments_add(struct moments *moments, const char *kind, uint64_t ns);

/* Puts more at the end of the sentence; what does not fit is cut. */
void moment_say(struct moment *moment, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* By time, then as they were added. */
void moments_sort(struct moments *moments);

#endif
