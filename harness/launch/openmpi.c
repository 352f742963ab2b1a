/* The mpirun of Open MPI 4, and that of Open MPI 5, which is PRRTE's prterun. They start the parent
 * of each rank (rank.h) by themselves, which starts the rank, and so prterun does with processes
 * that are spawned. When a rank ends badly they end the others (mpirun sends SIGTERM to their
 * parents, who pass it on), or with fault tolerance inform them. */
#include "launch/launcher.h"

#include "launch/leftovers.h"
#include "launch/rank.h"

#include <stdlib.h>

/* There are more ranks than cores, and other jobs run beside this one. Nothing leaves this machine:
 * the ranks talk by `transports`, and with mpirun by the loopback device. The launcher has two
 * variables of its own for its files and its device. */
static bool set_environment(const struct launch_order *order, const char *files_variable,
                            const char *device_variable, const char *transports)
{
    struct path files;
    if (path_format(&files, NULL, "%s/" LAUNCHER_FILES, order->folder) != OK)
        return false;
    setenv(files_variable, files.text, 1);
    setenv(device_variable, "lo", 1);
    setenv("OMPI_MCA_pml", "ob1", 1);
    setenv("OMPI_MCA_btl", transports, 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    return true;
}

static const char *const options[] = {"--oversubscribe", "--bind-to", "none", NULL};

static void become_mpirun(const struct launch_order *order, pid_t driver)
{
    if (set_environment(order, "OMPI_MCA_orte_tmpdir_base", "OMPI_MCA_oob_tcp_if_include",
                        "vader,self"))
        launcher_start_parents(order, driver, options);
}

/* What MPI_Finalize of Open MPI 5.0.7 does where a process has died: it says goodbye over TCP also
 * to processes that are gone (mca_btl_tcp_endpoint_close), and it waits for a fence of the
 * launcher's that often does not end (of 30 jobs without Faultline 8 hung in it). */
static void mend_finalize(void)
{
    setenv(SIGPIPE_ENVIRONMENT, "ignored", 1);
    setenv("OMPI_MCA_async_mpi_finalize", "1", 1);
}

/* With processes that were spawned the ranks talk by the loopback device. */
static void become_prterun(const struct launch_order *order, pid_t driver)
{
    static const char *const tolerant[] = {"--oversubscribe", "--bind-to", "none",
                                           "--with-ft",       "ulfm",      NULL};
    if (!set_environment(order, "PRTE_MCA_prte_tmpdir_base", "PRTE_MCA_prte_if_include",
                         "sm,tcp,self"))
        return;
    setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
    if (order->survivors)
        mend_finalize();
    launcher_start_parents(order, driver, order->survivors ? tolerant : options);
}

const struct launcher launcher_mpirun = {
    .name = "mpirun.openmpi",
    .product = "Open MPI's mpirun",
    .package = "openmpi-bin",
    .variable = "FAULTLINE_MPIRUN",
    .mark = "(OpenRTE)",
    .shared_bytes_of_rank = 5u << 20,
    .find = launcher_find,
    .start = launcher_fork,
    .become = become_mpirun,
    .poll = launcher_has_ended,
    .stop = launcher_end_all,
    .explain = launcher_explain,
};

const struct launcher launcher_prterun = {
    .name = "mpirun.openmpi",
    .product = "Open MPI's mpirun",
    .package = "openmpi-bin",
    .variable = "FAULTLINE_MPIRUN",
    .mark = "(Open MPI) 5",
    .shared_bytes_of_rank = 17u << 20, /* btl_sm_segment_size */
    .survivors = true,
    .find = launcher_find,
    .start = launcher_fork,
    .become = become_prterun,
    .poll = launcher_has_ended,
    .stop = launcher_end_all,
    .explain = launcher_explain,
};
