/* The different things that runs of one scenario came to. Must not know: how runs are made. */
#ifndef EXPLORE_OUTCOMES_H
#define EXPLORE_OUTCOMES_H

#include "base/error.h"
#include "oracles/oracle.h"
#include "system/path.h"
#include "verdict/fingerprint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs are alike when they have the same verdict, the same fingerprint and the same results. */
struct alike {
    enum verdict verdict;
    char fingerprint[FINGERPRINT_BYTES]; /* empty: nothing was found */
    uint64_t results;                    /* hash of what ranks declared by `result` notes */
    uint64_t runs;
    struct path folder; /* of the first */
};

struct outcomes {
    size_t count, room;
    struct alike *alike; /* owned; in the order in which they were seen first */
};

/* What the judged run in `folder` came to. ERROR_IO, ERROR_FORMAT. */
enum error_code outcome_of(const char *folder, struct alike *seen, struct error *error);
/* Adds it. true: no run before was like it. */
bool outcomes_add(struct outcomes *outcomes, const struct alike *seen);
void outcomes_release(struct outcomes *outcomes);

#endif
