/* MPICH's mpiexec. It starts a process on each host, which starts the parent of each rank
 * (rank.h), which starts the rank. When a rank ends badly it ends the others by itself, unless the
 * MPI library has ULFM (mpich_has_ulfm): then it tells them by SIGUSR1. */
#include "launch/launcher.h"

#include <stdlib.h>

#define NAME "mpiexec.hydra" /* plain mpiexec may be another library's */

static void become(const struct launch_order *order, pid_t driver)
{
    launcher_start_parents(order, driver, NULL);
}

static void become_tolerant(const struct launch_order *order, pid_t driver)
{
    static const char *const tolerant[] = {"-disable-auto-cleanup", NULL};
    if (order->survivors)
        setenv("MPIR_CVAR_ENABLE_FT", "1", 1);
    launcher_start_parents(order, driver, order->survivors ? tolerant : NULL);
}

const struct launcher launcher_hydra = {
    .name = NAME,
    .product = "MPICH's Hydra",
    .package = "mpich",
    .variable = "FAULTLINE_MPIEXEC",
    .mark = "HYDRA",
    .hides_deaths = true,
    .shared_bytes_of_rank = 5u << 20, /* MPICH over UCX: 4292720 */
    .find = launcher_find,
    .start = launcher_fork,
    .become = become,
    .poll = launcher_has_ended,
    .stop = launcher_end_all,
    .explain = launcher_explain,
};

const struct launcher launcher_hydra_ulfm = {
    .name = NAME,
    .product = "MPICH's Hydra",
    .package = "mpich",
    .variable = "FAULTLINE_MPIEXEC",
    .mark = "HYDRA",
    .survivors = true,
    .shared_bytes_of_rank = 5u << 20,
    .find = launcher_find,
    .start = launcher_fork,
    .become = become_tolerant,
    .poll = launcher_has_ended,
    .stop = launcher_end_all,
    .explain = launcher_explain,
};
