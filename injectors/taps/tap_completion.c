/* MPI_Wait and MPI_Test in all forms: see tap_completion.h. */
#include "injectors/taps/tap_completion.h"

#include "injectors/taps/tap_message.h"

#include <stdlib.h>

/* --- one request ------------------------------------------------------------------------------ */

/* The known request at `handle`, claimed; an inactive persistent one completes nothing. */
static struct request *claim_active(enum level level, const MPI_Request *handle)
{
    if (!tap_ready || !handle)
        return NULL;
    struct request *request = request_claim(level, HANDLE(*handle), handle, false);
    if (request && !request->active) {
        request_unclaim(request);
        return NULL;
    }
    return request;
}

/* So that steering knows the program's requests from those of the protocol's own. */
static void note_asked(enum level level, struct request *const *requests, int count)
{
    if (level != LEVEL_APP)
        return;
    thread_state.asked = requests;
    thread_state.asked_count = (uint32_t)count;
}

static bool was_cancelled(const MPI_Status *status)
{
    int cancelled = 0;
    library_begin();
    library.Test_cancelled(status, &cancelled);
    library_end();
    return cancelled != 0;
}

/* What MPI says of it [MPI 4.0, 3.10]; in MPICH 4.0.2 MPI_Waitall says source 0. */
static void received_from_nobody(struct record *r)
{
    r->peer = PEER_NULL;
    r->tag = TAG_ANY;
    r->bytes = 0;
}

static void receive_completed(struct record *r, const struct request *request,
                              const MPI_Status *status, int class)
{
    r->comm = request->communicator->id;
    if (class == 0 && request->from_nobody)
        received_from_nobody(r);
    else if (class == 0 && request->exchange)
        received_unseen(r, request, status);
    else if (class == 0)
        received(r, request->communicator, request->buffer, request->count, request->type, status);
    else
        received_error(r, request->communicator, status, class);
}

static void collective_completed(struct record *r, const struct request *request, int class)
{
    bool hashed = false;
    if (class == 0)
        r->hash = collective_result_hash(&request->collective, &hashed);
    if (!hashed)
        r->flags |= FLAG_NO_HASH;
}

/* Fills the COMPLETE record of a request that is complete. */
static void completed(struct record *r, const struct request *request, const MPI_Status *status,
                      int class)
{
    r->request = request->number;
    if (request->persistent)
        r->flags |= FLAG_PERSISTENT;
    bool cancel = __atomic_load_n(&request->cancel, __ATOMIC_ACQUIRE); /* by any thread */
    if (cancel && class == 0 && was_cancelled(status))
        r->flags |= FLAG_CANCELLED;
    else if (request->kind == REQUEST_RECEIVE)
        receive_completed(r, request, status, class);
    else if (request->kind == REQUEST_COLLECTIVE)
        collective_completed(r, request, class);
    else if (request->kind == REQUEST_MAKE && class == 0)
        communicator_made_as((enum level)request->level, request->call, request->communicator,
                             request->id, *request->made);
}

/* The library takes the handle of a request that it has completed, with or without an error. */
static bool handle_is_gone(const struct request *request, const MPI_Request *handle)
{
    return request->persistent || *handle == handles.REQUEST_NULL;
}

struct record *wait_begin(enum level level, unsigned call, const MPI_Request *request,
                          struct request **waited)
{
    *waited = claim_active(level, request);
    struct record *r = record_begin(level, *waited ? RECORD_COMPLETE : RECORD_CALL, call);
    if (*waited)
        r->request = (*waited)->number;
    record_publish(r);
    return r;
}

void wait_end(struct record *r, struct request *waited, const MPI_Request *request,
              const MPI_Status *status, int result)
{
    int class = error_class(result);
    if (waited && handle_is_gone(waited, request)) {
        completed(r, waited, status, class);
        request_done(waited);
    } else {
        request_unclaim(waited);
    }
    record_end(r, class);
}

struct record *test_begin(enum level level, unsigned call, const MPI_Request *request,
                          struct request **waited)
{
    *waited = claim_active(level, request);
    note_asked(level, waited, 1);
    struct record *r = record_poll_begin(level, *waited ? RECORD_COMPLETE : RECORD_CALL, call);
    if (*waited)
        r->request = (*waited)->number;
    record_publish(r);
    return r;
}

void test_end(struct record *r, struct request *waited, const MPI_Request *request, const int *flag,
              const MPI_Status *status, int result)
{
    int class = error_class(result);
    bool negative = class == 0 && !*flag;
    if (negative)
        r->flags |= FLAG_NEGATIVE;
    if (waited && !negative && handle_is_gone(waited, request)) {
        completed(r, waited, status, class);
        request_done(waited);
    } else {
        request_unclaim(waited);
    }
    record_poll_end(r, class);
}

struct record *get_status_begin(enum level level, unsigned call, const MPI_Request *request,
                                struct request **asked)
{
    *asked = claim_active(level, request);
    struct record *r = record_begin(level, RECORD_CALL, call);
    if (*asked)
        r->request = (*asked)->number;
    record_publish(r);
    return r;
}

void get_status_end(struct record *r, struct request *asked, const int *flag, int result)
{
    if (result == MPI_SUCCESS && !*flag)
        r->flags |= FLAG_NEGATIVE;
    request_unclaim(asked);
    call_end(r, result);
}

/* --- many ------------------------------------------------------------------------------------- */

/* Room for what does not fit the batch itself. */
static void batch_open(struct batch *batch, int count, bool statuses)
{
    batch->count = count > 0 ? count : 0;
    batch->request = batch->few_requests;
    batch->own = statuses ? batch->few_statuses : NULL;
    if (batch->count <= BATCH_FEW)
        return;
    size_t each = sizeof *batch->request + (statuses ? sizeof *batch->own : 0);
    void *room = malloc((size_t)count * each);
    batch->request = room;
    batch->own = room && statuses ? (MPI_Status *)(batch->request + count) : NULL;
    if (!room)
        batch->count = 0;
}

MPI_Status *batch_begin(enum level level, unsigned call, struct batch *batch, int count,
                        const MPI_Request *requests, MPI_Status *statuses)
{
    batch->level = level;
    batch->call = call;
    batch->asked = count;
    batch_open(batch, requests ? count : 0, statuses == MPI_STATUSES_IGNORE);
    for (int i = 0; i < batch->count; i++)
        batch->request[i] = claim_active(level, &requests[i]);
    note_asked(level, batch->request, batch->count);
    return batch->own ? batch->own : statuses;
}

/* What is waited for is shown by the first of the requests. */
static void show_first(struct record *r, const struct batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        if (batch->request[i]) {
            r->request = batch->request[i]->number;
            return;
        }
}

struct record *wait_many_begin(const struct batch *batch)
{
    struct record *r = record_begin(batch->level, RECORD_CALL, batch->call);
    show_first(r, batch);
    record_publish(r);
    return r;
}

struct record *test_many_begin(const struct batch *batch)
{
    struct record *r = record_poll_begin(batch->level, RECORD_CALL, batch->call);
    show_first(r, batch);
    record_publish(r);
    return r;
}

static void batch_completed(struct batch *batch, int i, const MPI_Status *status, int class)
{
    struct request *request = batch->request[i];
    struct record *r = record_reserve(batch->level, RECORD_COMPLETE, batch->call);
    completed(r, request, status, class);
    record_instant(r, class);
    request_done(request);
    batch->request[i] = NULL;
}

/* Request i is complete if the library says so for the call as a whole, or in its status. */
static void judge_one(struct batch *batch, int i, const MPI_Request *requests,
                      const MPI_Status *status, int class)
{
    if (!batch->request[i])
        return;
    if (class == MPI_ERR_IN_STATUS)
        class = error_class(status->MPI_ERROR);
    if (class != MPI_ERR_PENDING && handle_is_gone(batch->request[i], &requests[i]))
        batch_completed(batch, i, status, class);
}

static void batch_close(struct batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        request_unclaim(batch->request[i]);
    if (batch->request != batch->few_requests)
        free(batch->request);
}

static void judge_all(struct batch *batch, const MPI_Request *requests, const MPI_Status *statuses,
                      int class)
{
    for (int i = 0; i < batch->count; i++)
        judge_one(batch, i, requests, &statuses[i], class);
}

/* `indices` count from 0; MPI_UNDEFINED: none was active. */
static void judge_some(struct batch *batch, const MPI_Request *requests, int count,
                       const int *indices, const MPI_Status *statuses, int class)
{
    for (int k = 0; count != MPI_UNDEFINED && k < count; k++)
        if (indices[k] >= 0 && indices[k] < batch->count)
            judge_one(batch, indices[k], requests, &statuses[k], class);
}

/* Errors other than these say that the call itself was wrong: nothing was completed. */
static bool has_outcome(int class)
{
    return class == 0 || class == MPI_ERR_IN_STATUS;
}

void waitall_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                 const MPI_Status *statuses, int result)
{
    int class = error_class(result);
    if (has_outcome(class))
        judge_all(batch, requests, statuses, class);
    batch_close(batch);
    record_end(r, class);
}

void waitany_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                 const int *index, const MPI_Status *status, int result)
{
    int class = error_class(result);
    judge_some(batch, requests, 1, index, status, class);
    batch_close(batch);
    record_end(r, class);
}

void waitsome_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                  const int *count, const int *indices, const MPI_Status *statuses, int result)
{
    int class = error_class(result);
    if (has_outcome(class))
        judge_some(batch, requests, *count, indices, statuses, class);
    batch_close(batch);
    record_end(r, class);
}

static void test_many_end(struct record *r, struct batch *batch, bool negative, int class)
{
    if (negative)
        r->flags |= FLAG_NEGATIVE;
    batch_close(batch);
    record_poll_end(r, class);
}

void testall_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                 const int *flag, const MPI_Status *statuses, int result)
{
    int class = error_class(result);
    bool negative = class == 0 && !*flag;
    if (!negative && has_outcome(class))
        judge_all(batch, requests, statuses, class);
    test_many_end(r, batch, negative, class);
}

void testany_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                 const int *index, const int *flag, const MPI_Status *status, int result)
{
    int class = error_class(result);
    bool negative = class == 0 && !*flag;
    if (!negative)
        judge_some(batch, requests, 1, index, status, class);
    test_many_end(r, batch, negative, class);
}

void testsome_end(struct record *r, struct batch *batch, const MPI_Request *requests,
                  const int *count, const int *indices, const MPI_Status *statuses, int result)
{
    int class = error_class(result);
    if (has_outcome(class))
        judge_some(batch, requests, *count, indices, statuses, class);
    test_many_end(r, batch, class == 0 && *count == 0, class);
}
