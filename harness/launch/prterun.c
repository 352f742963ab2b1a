/* The mpirun of Open MPI 5, which is PRRTE's prterun. It starts the parent of each rank (rank.h) by
 * itself, which starts the rank, and so it does with processes that are spawned. When a rank ends
 * badly it ends the others, or with fault tolerance tells them of it. */
#include "launch/launcher.h"

#include "launch/leftovers.h"
#include "launch/rank.h"

#include <stdlib.h>

/* What MPI_Finalize of Open MPI 5.0.7 does where a process has died: it says goodbye over TCP also
 * to processes that are gone (mca_btl_tcp_endpoint_close), and it waits for a fence of the
 * launcher's that often does not end (of 30 jobs without Faultline 8 hung in it). */
static void mend_finalize(void)
{
    setenv(SIGPIPE_ENVIRONMENT, "ignored", 1);
    setenv("OMPI_MCA_async_mpi_finalize", "1", 1);
}

/* There are more ranks than cores, and other jobs run beside this one. Nothing leaves this machine:
 * the ranks talk by shared memory, with processes that were spawned and with mpirun by the loopback
 * device. */
static void become(const struct launch_order *order, pid_t driver)
{
    struct path files;
    if (path_format(&files, NULL, "%s/" LAUNCHER_FILES, order->folder) != OK)
        return;
    setenv("PRTE_MCA_prte_tmpdir_base", files.text, 1);
    setenv("PRTE_MCA_prte_if_include", "lo", 1);
    setenv("OMPI_MCA_pml", "ob1", 1);
    setenv("OMPI_MCA_btl", "sm,tcp,self", 1);
    setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    static const char *const options[] = {"--oversubscribe", "--bind-to", "none", NULL};
    static const char *const tolerant[] = {"--oversubscribe", "--bind-to", "none",
                                           "--with-ft",       "ulfm",      NULL};
    if (order->survivors)
        mend_finalize();
    launcher_start_parents(order, driver, order->survivors ? tolerant : options);
}

static enum error_code find(struct path *command, struct error *error)
{
    return path_command(launcher_prterun.name, launcher_prterun.variable, command, error);
}

static enum error_code start(const struct launch_order *order, struct launched *launched,
                             struct error *error)
{
    return launcher_fork(order, launched, become, error);
}

const struct launcher launcher_prterun = {
    .name = "mpirun.openmpi",
    .product = "Open MPI's mpirun",
    .package = "openmpi-bin",
    .variable = "FAULTLINE_MPIRUN",
    .mark = "(Open MPI) 5",
    .shared_bytes_of_rank = 17u << 20, /* btl_sm_segment_size */
    .survivors = true,
    .find = find,
    .start = start,
    .poll = launcher_has_ended,
    .stop = launcher_end_all,
    .explain = launcher_explain,
};
