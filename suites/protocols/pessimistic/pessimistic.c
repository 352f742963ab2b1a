/* Pessimistic message logging on common/logging: nothing leaves a rank before another has stored
 * the determinants of all that happened there. */
#include "common/logging/logger.h"

/* One thread at a time: the protocol's state has no locks. */
const struct protocol this_protocol = {
    .name = "pessimistic",
    .title = "the pessimistic protocol",
    .member = "rank",
    .threads = MPI_THREAD_SERIALIZED,
};

const struct logger_kind this_logger = {
    .every = "PESSIMISTIC_EVERY", .reserve = "PESSIMISTIC_RESERVE", .pessimistic = true};
