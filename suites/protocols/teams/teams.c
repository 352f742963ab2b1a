/* Team-based message logging: only what a rank sends to another team is logged, and a team goes
 * back together; with teams of one rank it is SCMEL. All of it is in common/logging. */
#include "common/logging/logger.h"

/* One thread at a time: the protocol's state has no locks. */
const struct protocol this_protocol = {
    .name = "teams",
    .title = "the team-based protocol",
    .member = "rank",
    .threads = MPI_THREAD_SERIALIZED,
};

const struct logger_kind this_logger = {.every = "TEAMS_EVERY", .team_size = "TEAMS_SIZE"};
