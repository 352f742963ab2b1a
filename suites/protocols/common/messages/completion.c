/* Wait and Test in all forms, persistent requests, cancel and free. */
#include "common/messages/calls.h"

#include "common/base/sends.h"

#include <stdlib.h>

/* Requests that a call is about: by index, NULL where there is nothing to complete. */
struct asked {
    int count;
    int active;
    struct request **request; /* owned */
};

static struct asked look_up(int count, const MPI_Request *handles)
{
    struct asked asked = {.count = count};
    asked.request = memory((size_t)count + 1, sizeof *asked.request);
    for (int i = 0; i < count; i++) {
        struct request *one = handles[i] == MPI_REQUEST_NULL ? NULL : request_of(handles[i]);
        if (!one && handles[i] != MPI_REQUEST_NULL)
            layer_refuse("a request that was not made by a send, a receive or a collective call",
                         "requests of those");
        if (one && one->active) {
            asked.request[i] = one;
            asked.active++;
        }
    }
    return asked;
}

static bool one_is_done(void *context)
{
    const struct asked *asked = context;
    for (int i = 0; i < asked->count; i++)
        if (asked->request[i] && asked->request[i]->done)
            return true;
    return asked->active == 0;
}

static bool all_are_done(void *context)
{
    const struct asked *asked = context;
    for (int i = 0; i < asked->count; i++)
        if (asked->request[i] && !asked->request[i]->done)
            return false;
    return true;
}

/* The request is given to the program, and its handle is gone unless it is persistent. */
static int give(struct request *request, MPI_Request *handle, MPI_Status *status)
{
    int error = call_hand_over(request, status);
    if (request->persistent)
        return error;
    request_free(request);
    *handle = MPI_REQUEST_NULL;
    return error;
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* --- all -------------------------------------------------------------------------------------- */

static int give_all(struct asked *asked, MPI_Request *handles, MPI_Status *statuses)
{
    int answer = MPI_SUCCESS;
    for (int i = 0; i < asked->count; i++) {
        int error = MPI_SUCCESS;
        if (asked->request[i])
            error = give(asked->request[i], &handles[i], status_at(statuses, i));
        else
            status_empty(status_at(statuses, i));
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = error;
        if (error != MPI_SUCCESS)
            answer = MPI_ERR_IN_STATUS;
    }
    return answer;
}

static int complete_all(bool wait, int count, MPI_Request *handles, int *flag, MPI_Status *statuses)
{
    int error = MPI_SUCCESS;
    call_begin_anywhere();
    struct asked asked = look_up(count, handles);
    if (wait)
        steps_wait(all_are_done, &asked);
    *flag = all_are_done(&asked);
    if (*flag)
        error = give_all(&asked, handles, statuses);
    free(asked.request);
    return error;
}

LAYER_EXPORTED int MPI_Waitall(int count, MPI_Request array_of_requests[],
                               MPI_Status *array_of_statuses)
{
    int flag;
    return complete_all(true, count, array_of_requests, &flag, array_of_statuses);
}

LAYER_EXPORTED int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
                               MPI_Status *array_of_statuses)
{
    return complete_all(false, count, array_of_requests, flag, array_of_statuses);
}

/* --- any -------------------------------------------------------------------------------------- */

static int complete_any(bool wait, int count, MPI_Request *handles, int *index, int *flag,
                        MPI_Status *status)
{
    int error = MPI_SUCCESS, chosen = 0;
    call_begin_anywhere();
    struct asked asked = look_up(count, handles);
    if (wait)
        steps_wait(one_is_done, &asked);
    while (chosen < count && !(asked.request[chosen] && asked.request[chosen]->done))
        chosen++;
    *index = chosen < count ? chosen : MPI_UNDEFINED;
    *flag = chosen < count || asked.active == 0;
    if (chosen < count)
        error = give(asked.request[chosen], &handles[chosen], status);
    else if (*flag)
        status_empty(status);
    free(asked.request);
    return error;
}

LAYER_EXPORTED int MPI_Waitany(int count, MPI_Request array_of_requests[], int *indx,
                               MPI_Status *status)
{
    int flag;
    return complete_any(true, count, array_of_requests, indx, &flag, status);
}

LAYER_EXPORTED int MPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag,
                               MPI_Status *status)
{
    return complete_any(false, count, array_of_requests, indx, flag, status);
}

LAYER_EXPORTED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int flag, index;
    return complete_any(true, 1, request, &index, &flag, status);
}

LAYER_EXPORTED int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int index;
    return complete_any(false, 1, request, &index, flag, status);
}

LAYER_EXPORTED int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    call_begin_anywhere();
    struct asked asked = look_up(1, &request);
    *flag = one_is_done(&asked);
    if (asked.active > 0 && *flag)
        call_foretell(asked.request[0], status);
    else if (*flag)
        status_empty(status);
    free(asked.request);
    return MPI_SUCCESS;
}

/* --- some ------------------------------------------------------------------------------------- */

static int complete_some(bool wait, int count, MPI_Request *handles, int *outcount, int *indices,
                         MPI_Status *statuses)
{
    int answer = MPI_SUCCESS, found = 0;
    call_begin_anywhere();
    struct asked asked = look_up(count, handles);
    if (wait)
        steps_wait(one_is_done, &asked);
    for (int i = 0; i < count; i++) {
        if (!asked.request[i] || !asked.request[i]->done)
            continue;
        int error = give(asked.request[i], &handles[i], status_at(statuses, found));
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[found].MPI_ERROR = error;
        if (error != MPI_SUCCESS)
            answer = MPI_ERR_IN_STATUS;
        indices[found++] = i;
    }
    *outcount = asked.active > 0 ? found : MPI_UNDEFINED;
    free(asked.request);
    return answer;
}

LAYER_EXPORTED int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                                int array_of_indices[], MPI_Status array_of_statuses[])
{
    return complete_some(true, incount, array_of_requests, outcount, array_of_indices,
                         array_of_statuses);
}

LAYER_EXPORTED int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                                int array_of_indices[], MPI_Status array_of_statuses[])
{
    return complete_some(false, incount, array_of_requests, outcount, array_of_indices,
                         array_of_statuses);
}

/* --- cancel and free -------------------------------------------------------------------------- */

/* A receive that nothing has matched is cancelled, any other goes on. */
LAYER_EXPORTED int MPI_Cancel(MPI_Request *request)
{
    call_begin_anywhere();
    struct request *one = request_of(*request);
    if (!one || !one->active)
        return call_error(MPI_ERR_REQUEST);
    if (one->kind != REQUEST_RECEIVE)
        layer_refuse("MPI_Cancel of what is no receive", "MPI_Cancel of a receive");
    if (!one->done) {
        request_unpost(one);
        one->cancelled = one->done = true;
    }
    return MPI_SUCCESS;
}

/* A synchronous send that is freed goes when it is acknowledged. */
LAYER_EXPORTED int MPI_Request_free(MPI_Request *request)
{
    call_begin_anywhere();
    struct request *one = request_of(*request);
    if (!one)
        return call_error(MPI_ERR_REQUEST);
    if (one->active && one->kind != REQUEST_SEND)
        layer_refuse("MPI_Request_free of an active receive or collective call", "MPI_Wait first");
    *request = MPI_REQUEST_NULL;
    if (one->active && !one->done)
        request_detach(one);
    else
        request_free(one);
    return MPI_SUCCESS;
}

/* --- persistent ------------------------------------------------------------------------------- */

static int keep(enum request_kind kind, const void *buffer, int count, MPI_Datatype type, int peer,
                int tag, MPI_Comm user, enum send_mode mode, MPI_Request *handle)
{
    struct payload payload = {(void *)buffer, count, type};
    struct comm *comm = call_begin(user);
    int error =
        comm ? call_check(comm, peer, tag, &payload, kind == REQUEST_RECEIVE) : MPI_ERR_COMM;
    if (error != MPI_SUCCESS)
        return error;
    struct request *request = request_new(kind, comm, peer, tag, &payload);
    request->mode = mode;
    request->persistent = true;
    request->active = false;
    *handle = request_handle(request);
    return MPI_SUCCESS;
}

static int send_init(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                     MPI_Comm comm, enum send_mode mode, MPI_Request *request)
{
    return keep(REQUEST_SEND, buffer, count, type, peer, tag, comm, mode, request);
}

REQUESTS_SEND(LAYER_EXPORTED, MPI_Send_init, send_init, SEND_STANDARD)
REQUESTS_SEND(LAYER_EXPORTED, MPI_Ssend_init, send_init, SEND_SYNCHRONOUS)
REQUESTS_SEND(LAYER_EXPORTED, MPI_Bsend_init, send_init, SEND_BUFFERED)
REQUESTS_SEND(LAYER_EXPORTED, MPI_Rsend_init, send_init, SEND_STANDARD)

LAYER_EXPORTED int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                                 MPI_Comm comm, MPI_Request *request)
{
    return keep(REQUEST_RECEIVE, buf, count, datatype, source, tag, comm, SEND_STANDARD, request);
}

static int start(MPI_Request handle)
{
    struct request *request = request_of(handle);
    if (!request || !request->persistent || request->active)
        return call_error(MPI_ERR_REQUEST);
    if (request->lost_buffer)
        layer_refuse("a persistent request from before a potential checkpoint whose buffer is not "
                     "in registered state",
                     "registered buffers, or requests that are made before checkpoint_restore");
    if (request->kind == REQUEST_RECEIVE)
        call_receive(request);
    else
        call_send(request);
    return MPI_SUCCESS;
}

LAYER_EXPORTED int MPI_Start(MPI_Request *request)
{
    layer_begin_sending();
    call_begin_anywhere();
    int error = start(*request);
    layer_end_sending();
    return error;
}

LAYER_EXPORTED int MPI_Startall(int count, MPI_Request array_of_requests[])
{
    int error = MPI_SUCCESS;
    layer_begin_sending();
    call_begin_anywhere();
    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        error = start(array_of_requests[i]);
    layer_end_sending();
    return error;
}
