/* Wait and Test in all forms. Which request is complete when is a non-deterministic answer: while
 * this rank logs it is kept, in recovery it is given again [C3, section 2.3]. */
#include "c3/calls.h"
#include "c3/collectives/kept.h"
#include "c3/line.h"
#include "c3/replay.h"

#include <sched.h>
#include <stdlib.h>

/* Those of `count` handles that are active, by index; NULL where nothing is to be completed. */
static struct request **look_up(int count, const MPI_Request *handles, int *active)
{
    struct request **requests = memory((size_t)count, sizeof *requests);
    *active = 0;
    for (int i = 0; i < count; i++) {
        struct request *one = handles[i] == MPI_REQUEST_NULL ? NULL : request_of(handles[i]);
        if (!one && handles[i] != MPI_REQUEST_NULL)
            refuse("a request that was not made by a send, a receive or a collective call",
                   "requests of point-to-point messages and non-blocking collective calls");
        if (one && one->active) {
            requests[i] = one;
            ++*active;
        }
    }
    return requests;
}

/* The request is given to the program, and its handle is gone unless it is persistent. */
static int give(struct request *request, MPI_Request *handle, MPI_Status *status)
{
    int error = transfer_hand_over(request, status);
    if (request->persistent)
        return error;
    request_free(request);
    *handle = MPI_REQUEST_NULL;
    return error;
}

/* The one active request behind a handle, NULL if there is nothing to complete. */
static struct request *active_of(MPI_Request handle)
{
    int active;
    struct request **requests = look_up(1, &handle, &active), *request = requests[0];
    free(requests);
    return request;
}

static void keep_answer(enum log_kind kind, bool positive, const int32_t *indices, int count)
{
    if (!self.logging)
        return;
    struct log_entry entry = {.kind = kind,
                              .positive = positive,
                              .number = 1,
                              .data_bytes = positive ? (uint64_t)count * sizeof *indices : 0};
    log_append(&entry, indices);
}

/* --- one -------------------------------------------------------------------------------------- */

EXPORTED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    call_begin_anywhere();
    struct request *one = active_of(*request);
    if (!one) {
        status_empty(status);
        return MPI_SUCCESS;
    }
    transfer_finish(one);
    transfer_before(one);
    return give(one, request, status);
}

/* In recovery as it was then; else as it is. */
static bool test(enum log_kind kind, struct request *one)
{
    struct log_entry entry;
    if (!replay_answer(kind, &entry, NULL)) {
        bool there = transfer_poll(one);
        if (there)
            transfer_before(one);
        keep_answer(kind, there, NULL, 0);
        return there;
    }
    if (entry.positive) {
        transfer_finish(one);
        transfer_before(one);
    }
    return entry.positive;
}

EXPORTED int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    call_begin_anywhere();
    struct request *one = active_of(*request);
    *flag = !one || test(LOG_TEST, one);
    if (one && *flag)
        return give(one, request, status);
    if (*flag)
        status_empty(status);
    return MPI_SUCCESS;
}

EXPORTED int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    call_begin_anywhere();
    struct request *one = active_of(request);
    *flag = !one || test(LOG_GET_STATUS, one);
    if (one && *flag)
        transfer_foretell(one, status);
    else if (*flag)
        status_empty(status);
    return MPI_SUCCESS;
}

/* --- all -------------------------------------------------------------------------------------- */

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Every one is over. Those whose senders have stopped logging first, so that nothing is handed over
 * before this rank has. */
static int give_all(int count, struct request **requests, MPI_Request *handles,
                    MPI_Status *statuses)
{
    int answer = MPI_SUCCESS;
    for (int i = 0; i < count; i++)
        if (requests[i])
            transfer_before(requests[i]);
    for (int i = 0; i < count; i++) {
        int error = MPI_SUCCESS;
        if (requests[i])
            error = give(requests[i], &handles[i], status_at(statuses, i));
        else
            status_empty(status_at(statuses, i));
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = error;
        if (error != MPI_SUCCESS)
            answer = MPI_ERR_IN_STATUS;
    }
    return answer;
}

static void finish_all(int count, struct request **requests)
{
    for (int i = 0; i < count; i++)
        if (requests[i])
            transfer_finish(requests[i]);
}

EXPORTED int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    int active;
    call_begin_anywhere();
    struct request **requests = look_up(count, array_of_requests, &active);
    finish_all(count, requests);
    int error = give_all(count, requests, array_of_requests, array_of_statuses);
    free(requests);
    return error;
}

static bool poll_all(int count, struct request **requests)
{
    bool all = true;
    for (int i = 0; i < count; i++)
        if (requests[i] && !transfer_poll(requests[i]))
            all = false;
    return all;
}

EXPORTED int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
                         MPI_Status *array_of_statuses)
{
    int active, error = MPI_SUCCESS;
    struct log_entry entry;
    call_begin_anywhere();
    struct request **requests = look_up(count, array_of_requests, &active);
    bool replayed = active > 0 && replay_answer(LOG_TESTALL, &entry, NULL);
    if (replayed && entry.positive)
        finish_all(count, requests);
    *flag = replayed ? entry.positive : poll_all(count, requests);
    for (int i = 0; *flag && i < count; i++)
        if (requests[i])
            transfer_before(requests[i]);
    if (active > 0 && !replayed)
        keep_answer(LOG_TESTALL, *flag, NULL, 0);
    if (*flag)
        error = give_all(count, requests, array_of_requests, array_of_statuses);
    free(requests);
    return error;
}

/* --- any and some ----------------------------------------------------------------------------- */

/* The indices of those that are over now, at most `most`. */
static int find_done(int count, struct request **requests, int32_t *indices, int most)
{
    int found = 0;
    for (int i = 0; i < count && found < most; i++)
        if (requests[i] && transfer_poll(requests[i]))
            indices[found++] = i;
    return found;
}

/* What the log says was complete. */
static int replayed_indices(const struct log_entry *entry, const char *data, int count,
                            struct request **requests, int32_t *indices)
{
    int found = (int)(entry->data_bytes / sizeof *indices);
    const int32_t *kept = (const int32_t *)(const void *)data;
    for (int k = 0; entry->positive && k < found; k++) {
        if (kept[k] < 0 || kept[k] >= count || !requests[kept[k]])
            die("in recovery request %d of a call is not one that can be complete", kept[k]);
        indices[k] = kept[k];
        transfer_finish(requests[kept[k]]);
    }
    return entry->positive ? found : 0;
}

/* Which of the requests, at least one of them active, this call completes; it waits for one if it
 * must. At most `most`. */
static int choose(enum log_kind kind, bool wait, int count, struct request **requests,
                  int32_t *indices, int most)
{
    struct log_entry entry;
    const char *data;
    bool replayed = replay_answer(kind, &entry, &data);
    int found = replayed ? replayed_indices(&entry, data, count, requests, indices)
                         : find_done(count, requests, indices, most);
    while (wait && found == 0 && !replayed) {
        line_progress();
        sched_yield();
        found = find_done(count, requests, indices, most);
    }
    for (int k = 0; k < found; k++)
        transfer_before(requests[indices[k]]);
    if (!replayed)
        keep_answer(kind, found > 0, indices, found);
    return found;
}

static int any(enum log_kind kind, bool wait, int count, MPI_Request *handles, int *index,
               int *flag, MPI_Status *status)
{
    int active, error = MPI_SUCCESS;
    int32_t chosen;
    call_begin_anywhere();
    struct request **requests = look_up(count, handles, &active);
    *index = MPI_UNDEFINED;
    *flag = active == 0 || choose(kind, wait, count, requests, &chosen, 1) > 0;
    if (active == 0) {
        status_empty(status);
    } else if (*flag) {
        *index = chosen;
        error = give(requests[chosen], &handles[chosen], status);
    }
    free(requests);
    return error;
}

EXPORTED int MPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
    int flag;
    return any(LOG_WAITANY, true, count, array_of_requests, indx, &flag, status);
}

EXPORTED int MPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag,
                         MPI_Status *status)
{
    return any(LOG_TESTANY, false, count, array_of_requests, indx, flag, status);
}

static int some(enum log_kind kind, bool wait, int count, MPI_Request *handles, int *outcount,
                int *indices, MPI_Status *statuses)
{
    int active, answer = MPI_SUCCESS;
    call_begin_anywhere();
    struct request **requests = look_up(count, handles, &active);
    int found = active > 0 ? choose(kind, wait, count, requests, indices, count) : 0;
    *outcount = active > 0 ? found : MPI_UNDEFINED;
    for (int k = 0; k < found; k++) {
        int error = give(requests[indices[k]], &handles[indices[k]], status_at(statuses, k));
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[k].MPI_ERROR = error;
        if (error != MPI_SUCCESS)
            answer = MPI_ERR_IN_STATUS;
    }
    free(requests);
    return answer;
}

EXPORTED int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                          int array_of_indices[], MPI_Status array_of_statuses[])
{
    return some(LOG_WAITSOME, true, incount, array_of_requests, outcount, array_of_indices,
                array_of_statuses);
}

EXPORTED int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                          int array_of_indices[], MPI_Status array_of_statuses[])
{
    return some(LOG_TESTSOME, false, incount, array_of_requests, outcount, array_of_indices,
                array_of_statuses);
}

/* --- cancel and free -------------------------------------------------------------------------- */

EXPORTED int MPI_Cancel(MPI_Request *request)
{
    call_begin_anywhere();
    struct request *one = active_of(*request);
    if (!one)
        return call_error(handles_of(MPI_COMM_WORLD), MPI_ERR_REQUEST);
    if (one->kind == REQUEST_SEND)
        refuse("MPI_Cancel of a send", "MPI_Cancel of a receive");
    if (one->kind == REQUEST_COLLECTIVE)
        return call_error(one->communicator, MPI_ERR_REQUEST);
    return transfer_cancel(one);
}

EXPORTED int MPI_Request_free(MPI_Request *request)
{
    call_begin_anywhere();
    struct request *one = request_of(*request);
    if (!one)
        return call_error(handles_of(MPI_COMM_WORLD), MPI_ERR_REQUEST);
    if (one->active && one->kind == REQUEST_RECEIVE)
        refuse("MPI_Request_free of an active receive", "MPI_Wait first");
    if (one->kind == REQUEST_COLLECTIVE && one->active)
        return call_error(one->communicator, MPI_ERR_REQUEST);
    if (one->kind == REQUEST_COLLECTIVE)
        kept_free(one);
    *request = MPI_REQUEST_NULL;
    if (one->active) {
        request_forget_number(one);
        detached_add(one);
    } else {
        request_free(one);
    }
    return MPI_SUCCESS;
}
