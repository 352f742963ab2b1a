/* MPICH's mpiexec. It starts a process on each host, which starts the parent of each rank
 * (rank.h), which starts the rank. When a rank ends badly it ends the others by itself. */
#include "launch/launcher.h"

static void become(const struct launch_order *order, pid_t driver)
{
    launcher_start_parents(order, driver, NULL);
}

static enum error_code find(struct path *command, struct error *error)
{
    return path_command(launcher_hydra.name, launcher_hydra.variable, command, error);
}

static enum error_code start(const struct launch_order *order, struct launched *launched,
                             struct error *error)
{
    return launcher_fork(order, launched, become, error);
}

const struct launcher launcher_hydra = {
    .name = "mpiexec.hydra", /* plain mpiexec may be another library's */
    .product = "MPICH's Hydra",
    .package = "mpich",
    .variable = "FAULTLINE_MPIEXEC",
    .mark = "HYDRA",
    .hides_deaths = true,
    .shared_bytes_of_rank = 5u << 20, /* MPICH over UCX: 4292720 */
    .find = find,
    .start = start,
    .poll = launcher_has_ended,
    .stop = launcher_end_all,
    .explain = launcher_explain,
};
