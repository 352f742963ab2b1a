/* What the ranks say, shown while they say it (--no-capture): their output goes to files of the run
 * folder in any case, and from there to standard output and error. (Of a run that is a job of many,
 * standard output is standard error: jobs/job.c.) */
#ifndef LAUNCH_OUTPUT_TAIL_H
#define LAUNCH_OUTPUT_TAIL_H

#include <stddef.h>

struct output_tail {
    int ranks;       /* that there may be */
    int *file;       /* owned; two for each rank, -1: not there yet */
    const char *run; /* borrowed */
    int incarnation;
};

/* Without memory, or with 0 ranks, nothing is followed. */
void output_tail_begin(struct output_tail *tail, const char *run, int incarnation, int ranks);

/* Copies what is new of the first `ranks`. */
void output_tail_copy(struct output_tail *tail, int ranks);
void output_tail_end(struct output_tail *tail);

#endif
