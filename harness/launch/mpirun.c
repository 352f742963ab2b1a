/* The mpirun of Open MPI 4. It starts the parent of each rank (rank.h) by itself, which starts the
 * rank. When a rank ends badly it sends SIGTERM to the parents of the others, who pass it on. */
#include "launch/launcher.h"

#include "launch/leftovers.h"

#include <stdlib.h>

/* There are more ranks than cores, and other jobs run beside this one. Nothing leaves this machine:
 * the ranks talk by shared memory, and with mpirun by the loopback device. */
static void become(const struct launch_order *order, pid_t driver)
{
    struct path files;
    if (path_format(&files, NULL, "%s/" LAUNCHER_FILES, order->folder) != OK)
        return;
    setenv("OMPI_MCA_orte_tmpdir_base", files.text, 1);
    setenv("OMPI_MCA_oob_tcp_if_include", "lo", 1);
    setenv("OMPI_MCA_pml", "ob1", 1);
    setenv("OMPI_MCA_btl", "vader,self", 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    static const char *const options[] = {"--oversubscribe", "--bind-to", "none", NULL};
    launcher_start_parents(order, driver, options);
}

static enum error_code find(struct path *command, struct error *error)
{
    return path_command(launcher_mpirun.name, launcher_mpirun.variable, command, error);
}

static enum error_code start(const struct launch_order *order, struct launched *launched,
                             struct error *error)
{
    return launcher_fork(order, launched, become, error);
}

const struct launcher launcher_mpirun = {
    .name = "mpirun.openmpi",
    .product = "Open MPI's mpirun",
    .package = "openmpi-bin",
    .variable = "FAULTLINE_MPIRUN",
    .mark = "(OpenRTE)",
    .shared_bytes_of_rank = 5u << 20,
    .find = find,
    .start = start,
    .poll = launcher_has_ended,
    .stop = launcher_end_all,
    .explain = launcher_explain,
};
