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

/* Adds the judged run in `folder`. *is_new: no run before was like it. ERROR_IO, ERROR_FORMAT. */
enum error_code outcomes_add(struct outcomes *outcomes, const char *folder, bool *is_new,
                             struct error *error);
void outcomes_release(struct outcomes *outcomes);

#endif
