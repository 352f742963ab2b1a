/* In a job that stands still for ever: which message the program of a rank waits for, although it
 * was sent. */
#ifndef ORACLES_HISTORY_CLAIMS_OWED_H
#define ORACLES_HISTORY_CLAIMS_OWED_H

#include "oracles/judging.h"

struct owed {
    struct event_ref call; /* in which the rank waits */
    const struct channel *channel;
    const struct sent *sent;
};

/* Asked between pass_read and pass_finish of the application's pass over the newest incarnation.
 * False: the rank waits for nothing that was sent, or the job does not stand still, or the plan
 * keeps messages, stops ranks or lets storage fail, or a rank is dead, or the process that takes
 * its place has not come to its line. *owed is valid until pass_finish. */
bool owed_find(const struct judging *judging, const struct pass *pass, int rank, struct owed *owed);

#endif
