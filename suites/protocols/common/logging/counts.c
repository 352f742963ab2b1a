/* See counts.h. */
#include "common/logging/counts.h"

#include "common/job/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct counts counts;

void counts_write(int rank)
{
    const char *path = getenv("LOGGING_COUNTS");
    FILE *file = path && *path ? fopen(path, "a") : NULL;
    if (!path || !*path)
        return;
    if (!file)
        die("cannot write %s", path);
    fprintf(file, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            rank, counts.messages, counts.logged, counts.forgotten, counts.given,
            counts.determinants, counts.carried);
    if (fclose(file) != 0)
        die("cannot write %s", path);
}
