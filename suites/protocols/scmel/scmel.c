/* Simple causal message logging: algorithm 1 of [CM] is all in common/logging. */
#include "common/logging/logger.h"

/* One thread at a time: the protocol's state has no locks. */
const struct protocol this_protocol = {
    .name = "scmel",
    .title = "the SCMEL protocol",
    .member = "rank",
    .threads = MPI_THREAD_SERIALIZED,
};

const struct logger_kind this_logger = {.every = "SCMEL_EVERY", .reserve = "SCMEL_RESERVE"};
