/* What the ranks say, shown while they say it (--no-capture): their output goes to files of the run
 * folder in any case, and from there to standard error. */
#ifndef LAUNCH_FOLLOW_H
#define LAUNCH_FOLLOW_H

#include <stddef.h>

struct follow {
    int ranks;
    int *file;       /* owned; two for each rank, -1: not there yet */
    const char *run; /* borrowed */
    int incarnation;
};

/* Without memory, or with 0 ranks, nothing is followed. */
void follow_begin(struct follow *follow, const char *run, int incarnation, int ranks);

/* Copies what is new. */
void follow_look(struct follow *follow);
void follow_end(struct follow *follow);

#endif
