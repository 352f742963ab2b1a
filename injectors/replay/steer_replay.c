/* What the library is asked in a run that follows the decisions of another one: see replay.h. A
 * "no" is said at once, while the library makes progress; for a "yes", and for what a call
 * completed then, it waits: it came then, so it comes now. */
#include "injectors/replay/replay.h"
#include "injectors/steer/steer_parts.h"

#include <stdlib.h>

static void make_progress(void)
{
    int flag;
    MPI_Status status;
    library.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, handles.COMM_SELF, &flag, &status);
}

void steer_idle(void)
{
    if (!tap_ready)
        return;
    library_begin();
    steer_hold_look(false);
    steer_choose_look();
    make_progress();
    library_end();
}

/* --- which message ---------------------------------------------------------------------------- */

static bool match(const struct record *r, int *source, int *tag, MPI_Comm comm)
{
    int32_t peer, its_tag;
    bool open = *source == MPI_ANY_SOURCE || *tag == MPI_ANY_TAG;
    if (!open)
        return true;
    if (!replay_source(r, &peer, &its_tag))
        return !replay_is_open_ended(r);
    int chosen = steer_rank_of(communicator_find(LEVEL_WIRE, comm), peer);
    if (*source == MPI_ANY_SOURCE && chosen >= 0)
        *source = chosen;
    if (*tag == MPI_ANY_TAG)
        *tag = its_tag;
    replay_note(r);
    return true;
}

static int nothing_received(void *extra, MPI_Status *status)
{
    (void)extra;
    library.Status_set_elements_x(status, handles.BYTE, 0);
    library.Status_set_cancelled(status, 1);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return MPI_SUCCESS;
}

static int freed(void *extra)
{
    free(extra);
    return MPI_SUCCESS;
}

static int cancelled(void *extra, int complete)
{
    if (!complete)
        library.Grequest_complete(*(MPI_Request *)extra);
    return MPI_SUCCESS;
}

static int never(MPI_Request *request)
{
    MPI_Request *own = malloc(sizeof *own);
    if (!own)
        return MPI_ERR_NO_MEM;
    int result = library.Grequest_start(nothing_received, freed, cancelled, own, own);
    *request = *own;
    return result;
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* What is waited for, with the moment at which that is given up. */
struct patience {
    const struct record *recorded;
    uint64_t end_ns;
    unsigned round;
};

static struct patience patience_for(const struct record *recorded)
{
    return (struct patience){recorded, clock_monotonic_ns() + REPLAY_WAIT_MS * UINT64_C(1000000),
                             0};
}

static void wait_on(struct patience *patience)
{
    steer_round(&patience->round);
    if (clock_monotonic_ns() > patience->end_ns)
        replay_gave_up(patience->recorded);
}

static void await(const struct record *recorded, MPI_Request request)
{
    struct patience patience = patience_for(recorded);
    while (!steer_is_complete(request))
        wait_on(&patience);
}

static void stay(const struct record *recorded)
{
    unsigned round = 0;
    while (replay_never_returns(recorded)) {
        make_progress();
        steer_round(&round);
    }
}

/* true: this poll says no. */
static bool answers_no(const struct record *recorded)
{
    if (replay_answer() != REPLAY_NO)
        return false;
    steer_look();
    make_progress();
    replay_note(recorded);
    return true;
}

/* --- one request, all requests ---------------------------------------------------------------- */

static int test(const struct record *recorded, const struct request *waited, MPI_Request *request,
                int *flag, MPI_Status *status)
{
    (void)waited;
    *flag = 0;
    if (answers_no(recorded))
        return MPI_SUCCESS;
    await(recorded, *request);
    replay_note(recorded);
    return library.Test(request, flag, status);
}

static int testall(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                   int *flag, MPI_Status *statuses)
{
    *flag = 0;
    if (answers_no(recorded))
        return MPI_SUCCESS;
    for (int i = 0; i < batch->asked; i++)
        await(recorded, requests[i]);
    replay_note(recorded);
    return library.Testall(batch->asked, requests, flag, statuses);
}

/* --- some of many ----------------------------------------------------------------------------- */

static int find_request(const struct batch *batch, uint32_t number)
{
    for (int i = 0; i < batch->count; i++)
        if (batch->request[i] && batch->request[i]->number == number)
            return i;
    return -1;
}

/* Completes those that the call completed then, in that order. -1: there were none, or none that
 * Faultline knows. */
static int complete_those(const struct record *recorded, const struct batch *batch,
                          MPI_Request *requests, int *indices, MPI_Status *statuses, int *result)
{
    unsigned room = batch->count > 0 ? (unsigned)batch->count : 1;
    uint32_t *numbers = malloc(room * sizeof *numbers);
    if (!numbers)
        replay_gave_up(recorded);
    unsigned count = replay_completed(recorded, numbers, room), done = 0;
    for (unsigned k = 0; k < count && k < room; k++) {
        int i = find_request(batch, numbers[k]), flag = 0;
        if (i < 0)
            replay_gave_up(recorded);
        await(recorded, requests[i]);
        int code = library.Test(&requests[i], &flag, &statuses[done]);
        statuses[done].MPI_ERROR = code;
        if (code != MPI_SUCCESS)
            *result = code;
        indices[done++] = i;
    }
    free(numbers);
    replay_note(recorded);
    return done > 0 ? (int)done : -1;
}

static int waitany(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                   int *index, MPI_Status *status)
{
    int result = MPI_SUCCESS;
    stay(recorded);
    if (complete_those(recorded, batch, requests, index, status, &result) > 0)
        return result;
    struct patience patience = patience_for(recorded);
    for (;;) {
        int flag = 0;
        result = library.Testany(batch->asked, requests, index, &flag, status);
        if (result != MPI_SUCCESS || flag)
            return result;
        wait_on(&patience);
    }
}

static int testany(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                   int *index, int *flag, MPI_Status *status)
{
    *flag = 0;
    *index = MPI_UNDEFINED;
    if (answers_no(recorded))
        return MPI_SUCCESS;
    *flag = 1;
    return waitany(recorded, batch, requests, index, status);
}

static int waitsome(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                    int *completed, int *indices, MPI_Status *statuses)
{
    int result = MPI_SUCCESS;
    stay(recorded);
    int count = complete_those(recorded, batch, requests, indices, statuses, &result);
    if (count > 0) {
        *completed = count;
        return result == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_IN_STATUS;
    }
    struct patience patience = patience_for(recorded);
    for (;;) {
        result = library.Testsome(batch->asked, requests, completed, indices, statuses);
        if (result != MPI_SUCCESS || *completed != 0)
            return result;
        wait_on(&patience);
    }
}

static int testsome(const struct record *recorded, const struct batch *batch, MPI_Request *requests,
                    int *completed, int *indices, MPI_Status *statuses)
{
    *completed = 0;
    if (answers_no(recorded))
        return MPI_SUCCESS;
    return waitsome(recorded, batch, requests, completed, indices, statuses);
}

/* --- probes ----------------------------------------------------------------------------------- */

static int improbe(const struct record *recorded, int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status)
{
    *flag = 0;
    if (source != MPI_PROC_NULL && answers_no(recorded))
        return MPI_SUCCESS;
    match(recorded, &source, &tag, comm);
    struct patience patience = patience_for(recorded);
    for (;;) {
        int result = steer_ask(source, tag, comm, flag, message, status);
        if (result != MPI_SUCCESS || *flag) {
            replay_note(recorded);
            return result;
        }
        wait_on(&patience);
    }
}

void replay_steer(void)
{
    static const struct steer_answers as_then = {.match = match,
                                                 .never = never,
                                                 .stay = stay,
                                                 .test = test,
                                                 .testall = testall,
                                                 .testany = testany,
                                                 .testsome = testsome,
                                                 .waitany = waitany,
                                                 .waitsome = waitsome,
                                                 .improbe = improbe};
    steer_answers = &as_then;
}
