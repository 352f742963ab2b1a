/* The last STANDBY_PROCESSES processes of the job are in reserve: they are no ranks when the
 * program sees MPI_Init return. All else is the program's: see programs/outlive.c. */
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

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    int process, processes, result = PMPI_Init(argc, argv);
    if (result != MPI_SUCCESS)
        return result;
    PMPI_Comm_rank(MPI_COMM_WORLD, &process);
    PMPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (process >= processes - standby_processes())
        faultline_becomes(FAULTLINE_NO_RANK);
    return result;
}
