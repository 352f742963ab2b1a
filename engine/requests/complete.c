/* MPI_Wait and MPI_Test in all forms, and what else is done with a request. */
#include "engine/requests/parts.h"

#include "base/mix.h"
#include "engine/communicators/communicator.h"
#include "engine/core/core.h"
#include "engine/core/transition.h"
#include "engine/library.h"

static MPI_Status *status_of(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static bool is_request(MPI_Request handle)
{
    uint32_t number = (uint32_t)handle - (uint32_t)MPI_REQUEST_NULL;
    return number == 0 || number >= REQUEST_NUMBERS || request_find(handle) != NULL;
}

static bool are_requests(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (!is_request(requests[i]))
            return false;
    return count >= 0;
}

static void begin_polling(void)
{
    engine_turn_to_poll();
    requests_sweep();
}

static int refuse(int class)
{
    return communicator_raise(MPI_COMM_WORLD, class);
}

/* A name for a question about these requests. */
static uint64_t question(int count, const MPI_Request *requests)
{
    uint64_t name = (uint64_t)count;
    for (int i = 0; i < count; i++)
        name = mix_two(name, (uint32_t)requests[i]);
    return name;
}

static bool is_ready(void *request)
{
    return request_is_ready(*(const MPI_Request *)request);
}

/* --- one -------------------------------------------------------------------------------------- */

static int wait_one(MPI_Request *request, MPI_Status *status)
{
    engine_turn();
    if (!is_request(*request))
        return refuse(MPI_ERR_REQUEST);
    MPI_Comm comm = request_comm(*request);
    return communicator_raise(comm, request_complete(request, status));
}

static int test_one(MPI_Request *request, int *flag, MPI_Status *status)
{
    begin_polling();
    *flag = 0;
    if (!is_request(*request))
        return refuse(MPI_ERR_REQUEST);
    if (!engine_poll(question(1, request), is_ready, request))
        return MPI_SUCCESS;
    *flag = 1;
    MPI_Comm comm = request_comm(*request);
    return communicator_raise(comm, request_finish(request, status));
}

static int get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    MPI_Status unseen;
    struct request *request = request_find(handle);
    begin_polling();
    if (!request && handle != MPI_REQUEST_NULL)
        return local.Request_get_status(handle, flag, status);
    *flag = 0;
    if (!engine_poll(question(1, &handle), is_ready, &handle))
        return MPI_SUCCESS;
    *flag = 1;
    if (status == MPI_STATUS_IGNORE)
        status = &unseen;
    status_clear(status);
    if (request && request->active && request->kind->peek)
        request->kind->peek(request->data, status);
    return MPI_SUCCESS;
}

/* --- all -------------------------------------------------------------------------------------- */

/* Looks only up to the first that is not ready: what comes for one after it changes nothing. */
static bool all_ready(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (!request_is_ready(requests[i]))
            return false;
    return true;
}

/* Several at once: *all_well says what the call as a whole returns. The error of each is in its
 * status. */
static void finish_some(MPI_Request *request, MPI_Status *status, int *class, MPI_Comm *comm)
{
    MPI_Comm own = request_comm(*request);
    int result = request_finish(request, status);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = error_code_of(result);
    if (result == MPI_SUCCESS || *class != MPI_SUCCESS)
        return;
    *class = MPI_ERR_IN_STATUS;
    *comm = own;
}

static int finish_all(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int class = MPI_SUCCESS;
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int i = 0; i < count; i++)
        finish_some(&requests[i], status_of(statuses, i), &class, &comm);
    return communicator_raise(comm, class);
}

struct waited {
    int count;
    MPI_Request *requests;
};

static bool are_ready(void *data)
{
    const struct waited *waited = data;
    return all_ready(waited->count, waited->requests);
}

static int wait_all(int count, MPI_Request *requests, MPI_Status *statuses)
{
    engine_turn();
    if (!are_requests(count, requests))
        return refuse(MPI_ERR_REQUEST);
    engine_wait(are_ready, &(struct waited){count, requests});
    return finish_all(count, requests, statuses);
}

static int test_all(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    begin_polling();
    *flag = 0;
    if (!are_requests(count, requests))
        return refuse(MPI_ERR_REQUEST);
    if (!engine_poll(question(count, requests), are_ready, &(struct waited){count, requests}))
        return MPI_SUCCESS;
    *flag = 1;
    return finish_all(count, requests, statuses);
}

/* --- any -------------------------------------------------------------------------------------- */

/* Counts those that are waited for, and those of them that are ready. */
static int count_ready(int count, const MPI_Request *requests, int *active)
{
    int ready = 0;
    *active = 0;
    for (int i = 0; i < count; i++) {
        if (!request_counts(requests[i]))
            continue;
        ++*active;
        ready += request_is_ready(requests[i]);
    }
    return ready;
}

/* One of them is ready, or there is none to wait for. */
static bool some_ready(void *data)
{
    const struct waited *waited = data;
    int active, ready = count_ready(waited->count, waited->requests, &active);
    return ready > 0 || active == 0;
}

/* Returns how many are ready. */
static int wait_for_some(int count, MPI_Request *requests, int *active)
{
    engine_wait_for_one(some_ready, &(struct waited){count, requests});
    return count_ready(count, requests, active);
}

/* As Testany says yes: one of them is ready, or there is none to wait for. */
static bool poll_for_some(int count, MPI_Request *requests)
{
    return engine_poll(question(count, requests), some_ready, &(struct waited){count, requests});
}

static int nth_ready(int count, const MPI_Request *requests, int n)
{
    for (int i = 0; i < count; i++)
        if (request_counts(requests[i]) && request_is_ready(requests[i]) && n-- == 0)
            return i;
    return MPI_UNDEFINED;
}

static int finish_any(int count, MPI_Request *requests, int ready, int *index, MPI_Status *status)
{
    *index = MPI_UNDEFINED;
    if (ready > 0)
        *index = nth_ready(count, requests, (int)engine_decide(DECIDE_WHICH, (unsigned)ready));
    if (*index == MPI_UNDEFINED) {
        if (status != MPI_STATUS_IGNORE)
            status_clear(status);
        return MPI_SUCCESS;
    }
    MPI_Comm comm = request_comm(requests[*index]);
    return communicator_raise(comm, request_finish(&requests[*index], status));
}

static int wait_any(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    int active;
    engine_turn();
    if (!are_requests(count, requests))
        return refuse(MPI_ERR_REQUEST);
    int ready = wait_for_some(count, requests, &active);
    return finish_any(count, requests, ready, index, status);
}

static int test_any(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    int active;
    begin_polling();
    *flag = 0;
    *index = MPI_UNDEFINED;
    if (!are_requests(count, requests))
        return refuse(MPI_ERR_REQUEST);
    if (!poll_for_some(count, requests))
        return MPI_SUCCESS;
    *flag = 1;
    int ready = count_ready(count, requests, &active);
    return finish_any(count, requests, ready, index, status);
}

/* --- some ------------------------------------------------------------------------------------- */

/* Completes all requests that are ready, or one of them: MPI asks for "at least one". */
static int finish_several(int count, MPI_Request *requests, int ready, int *out, int *indices,
                          MPI_Status *statuses)
{
    int class = MPI_SUCCESS, done = 0;
    MPI_Comm comm = MPI_COMM_WORLD;
    int only = ready > 1 ? (int)engine_decide(DECIDE_WHICH, (unsigned)ready + 1) - 1 : -1;
    for (int i = 0, n = 0; i < count; i++) {
        if (!request_counts(requests[i]) || !request_is_ready(requests[i]))
            continue;
        if (only >= 0 && n++ != only)
            continue;
        finish_some(&requests[i], status_of(statuses, done), &class, &comm);
        indices[done++] = i;
    }
    *out = done;
    return communicator_raise(comm, class);
}

static int wait_some(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses)
{
    int active;
    engine_turn();
    *out = MPI_UNDEFINED;
    if (!are_requests(count, requests))
        return refuse(MPI_ERR_REQUEST);
    int ready = wait_for_some(count, requests, &active);
    return active > 0 ? finish_several(count, requests, ready, out, indices, statuses)
                      : MPI_SUCCESS;
}

static int test_some(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses)
{
    int active;
    begin_polling();
    *out = 0;
    if (!are_requests(count, requests))
        return refuse(MPI_ERR_REQUEST);
    if (!poll_for_some(count, requests))
        return MPI_SUCCESS;
    *out = MPI_UNDEFINED;
    int ready = count_ready(count, requests, &active);
    return active > 0 ? finish_several(count, requests, ready, out, indices, statuses)
                      : MPI_SUCCESS;
}

/* --- the rest --------------------------------------------------------------------------------- */

static int start(MPI_Request *handle)
{
    struct request *request = request_find(*handle);
    engine_turn();
    if (!request || !request->persistent || request->active)
        return refuse(MPI_ERR_REQUEST);
    request->active = true;
    int class = request->kind->start(request->data);
    if (class != MPI_SUCCESS)
        request->active = false;
    return communicator_raise(request->comm, class);
}

static int start_all(int count, MPI_Request *requests)
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < count && result == MPI_SUCCESS; i++)
        result = start(&requests[i]);
    return result;
}

/* NULL: it is none of the engine's; *result is what `locally` returned, or the error. */
static struct request *find_own(MPI_Request *handle, int (*locally)(MPI_Request *handle),
                                int *result)
{
    struct request *request = request_find(*handle);
    engine_turn();
    if (!request)
        *result = *handle != MPI_REQUEST_NULL ? locally(handle) : refuse(MPI_ERR_REQUEST);
    return request;
}

static int free_request(MPI_Request *handle)
{
    int result;
    struct request *request = find_own(handle, local.Request_free, &result);
    if (!request)
        return result;
    request_abandon(request);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static int cancel(MPI_Request *handle)
{
    int result;
    struct request *request = find_own(handle, local.Cancel, &result);
    if (!request)
        return result;
    if (request->active && request->kind->cancel)
        request->kind->cancel(request->data);
    return MPI_SUCCESS;
}

void requests_fill(struct library *table)
{
    table->Wait = wait_one;
    table->Test = test_one;
    table->Waitall = wait_all;
    table->Testall = test_all;
    table->Waitany = wait_any;
    table->Testany = test_any;
    table->Waitsome = wait_some;
    table->Testsome = test_some;
    table->Request_get_status = get_status;
    table->Request_free = free_request;
    table->Start = start;
    table->Startall = start_all;
    table->Cancel = cancel;
}
