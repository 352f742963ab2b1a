/* Collective-aware message logging: algorithms 2 and 3 of [CM] on top of 1 are all in
 * common/logging. */
#include "common/logging/logger.h"

/* One thread at a time: the protocol's state has no locks. */
const struct protocol this_protocol = {
    .name = "camel",
    .title = "the CAMEL protocol",
    .member = "rank",
    .threads = MPI_THREAD_SERIALIZED,
};

const struct logger_kind this_logger = {
    .every = "CAMEL_EVERY", .reserve = "CAMEL_RESERVE", .trees = true};
