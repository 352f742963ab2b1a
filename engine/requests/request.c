/* The table of requests, and what every Wait and Test is made of. See request.h, parts.h. */
#include "engine/requests/request.h"

#include "engine/communicators/communicator.h"
#include "engine/core/core.h"
#include "engine/library.h"
#include "engine/requests/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library's handles of requests are MPI_REQUEST_NULL or have one of the two highest bits set:
 * numbers above MPI_REQUEST_NULL it never gives out. */
#define FIRST_ROOM 64

static struct {
    struct request **request; /* by number, from 1 */
    uint32_t room;
    uint32_t first_free; /* none below it is free */
} table;

static uint32_t free_number(void)
{
    for (uint32_t i = table.first_free; i < table.room; i++)
        if (!table.request[i])
            return i;
    uint32_t room = table.room == 0 ? FIRST_ROOM : 2 * table.room;
    struct request **more = realloc(table.request, room * sizeof *more);
    if (!more || room > REQUEST_NUMBERS) {
        fputs("faultline: no memory for another request\n", stderr);
        abort();
    }
    memset(more + table.room, 0, (room - table.room) * sizeof *more);
    uint32_t number = table.room == 0 ? 1 : table.room;
    table.request = more;
    table.room = room;
    return number;
}

MPI_Request request_make(const struct request_kind *kind, void *data, bool persistent,
                         MPI_Comm comm)
{
    struct request *request = calloc(1, sizeof *request);
    if (!request)
        abort();
    uint32_t number = free_number();
    *request = (struct request){kind, data, number, comm, persistent, !persistent, false};
    table.request[number] = request;
    table.first_free = number + 1;
    return (MPI_Request)((uint32_t)MPI_REQUEST_NULL + number);
}

struct request *request_find(MPI_Request handle)
{
    uint32_t number = (uint32_t)handle - (uint32_t)MPI_REQUEST_NULL;
    return number > 0 && number < table.room ? table.request[number] : NULL;
}

static void forget(struct request *request)
{
    table.request[request->number] = NULL;
    if (request->number < table.first_free)
        table.first_free = request->number;
    if (request->kind->release)
        request->kind->release(request->data);
    free(request);
}

/* --- one request ------------------------------------------------------------------------------ */

bool request_counts(MPI_Request handle)
{
    const struct request *request = request_find(handle);
    return request ? request->active : handle != MPI_REQUEST_NULL;
}

bool request_is_ready(MPI_Request handle)
{
    int flag = 1;
    struct request *request = request_find(handle);
    if (request)
        return !request->active || request->kind->ready(request->data);
    if (handle != MPI_REQUEST_NULL)
        local.Request_get_status(handle, &flag, MPI_STATUS_IGNORE);
    return flag;
}

int request_finish(MPI_Request *handle, MPI_Status *status)
{
    MPI_Status unseen;
    struct request *request = request_find(*handle);
    if (status == MPI_STATUS_IGNORE)
        status = &unseen;
    if (!request && *handle != MPI_REQUEST_NULL)
        return local.Wait(handle, status);
    status_clear(status);
    if (!request || !request->active)
        return MPI_SUCCESS;
    int class = request->kind->finish(request->data, status);
    if (class == MPIX_ERR_PROC_FAILED_PENDING) /* it may be completed yet */
        return class;
    request->active = false;
    if (!request->persistent) {
        forget(request);
        *handle = MPI_REQUEST_NULL;
    }
    return class;
}

static bool is_ready(void *handle)
{
    return request_is_ready(*(const MPI_Request *)handle);
}

int request_complete(MPI_Request *handle, MPI_Status *status)
{
    engine_wait(is_ready, handle);
    return request_finish(handle, status);
}

MPI_Comm request_comm(MPI_Request handle)
{
    const struct request *request = request_find(handle);
    return request ? request->comm : MPI_COMM_WORLD;
}

/* --- requests that were given up while they were active --------------------------------------- */

static bool any_abandoned;

void requests_sweep(void)
{
    if (!any_abandoned)
        return;
    any_abandoned = false;
    for (uint32_t i = 1; i < table.room; i++) {
        struct request *request = table.request[i];
        MPI_Status unseen;
        if (!request || !request->abandoned)
            continue;
        if (!request->kind->ready(request->data)) {
            any_abandoned = true;
            continue;
        }
        request->kind->finish(request->data, &unseen);
        forget(request);
    }
}

void request_abandon(struct request *request)
{
    if (!request->active) {
        forget(request);
        return;
    }
    request->abandoned = any_abandoned = true;
    engine_when_waited(requests_sweep);
    requests_sweep();
}

/* --- statuses --------------------------------------------------------------------------------- */

void status_set(MPI_Status *status, int source, int tag, MPI_Count bytes, bool cancelled)
{
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    local.Status_set_elements_x(status, MPI_BYTE, bytes);
    local.Status_set_cancelled(status, cancelled);
}

void status_clear(MPI_Status *status)
{
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
}
