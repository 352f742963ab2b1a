/* See status.h. */
#include "common/job/status.h"

void status_fill(MPI_Status *status, int source, int tag, uint64_t bytes, bool cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    PMPI_Status_set_cancelled(status, cancelled);
    PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
}

void status_empty(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_ERROR = MPI_SUCCESS;
    status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
}
