/* The last STANDBY_PROCESSES processes of the job are in reserve: they are no ranks when the
 * program sees MPI_Init return. All else is the program's: see programs/lives/outlive.c. */
#include "faultline.h"

#include <mpi.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int standby_processes(void);

int standby_processes(void)
{
    const char *text = getenv("STANDBY_PROCESSES");
    return text != NULL ? (int)strtol(text, NULL, 10) : 0;
}

static int begun(int result)
{
    int process, processes;
    if (result != MPI_SUCCESS)
        return result;
    PMPI_Comm_rank(MPI_COMM_WORLD, &process);
    PMPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (process >= processes - standby_processes())
        faultline_becomes(FAULTLINE_NO_RANK);
    return result;
}

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    return begun(PMPI_Init(argc, argv));
}

EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return begun(PMPI_Init_thread(argc, argv, required, provided));
}
