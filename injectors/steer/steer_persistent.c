/* Requests that are complete when we say so, and the persistent sends that are made of them: see
 * steer_parts.h.
 *
 * Such a request is a receive from this process to itself, on a communicator that nobody else knows
 * and with a tag of its own; a message without data completes it. So all that MPI does with
 * requests works with it: Wait and Test in all forms, MPI_Start, MPI_Request_free, MPI_Cancel.
 *
 * A persistent send of the program is one of these for its life, where messages may be held.
 * Starting it starts the receive, and the message goes as any other: now, from the program's
 * buffer, or later from a copy. What becomes of the message then is not told: a receiver that dies
 * raises nothing. */
#include "injectors/steer/steer_parts.h"

#include <stdlib.h>

#define PERSISTENT_BUCKETS 256u

struct persistent {
    struct persistent *next;
    MPI_Request request;
    int signal;
};

static struct tap_lock lock;
static MPI_Comm self;
static bool has_self;
static int largest_tag;
static int signals;
static struct persistent *bucket[PERSISTENT_BUCKETS];

static struct persistent **bucket_of(MPI_Request request)
{
    return &bucket[((HANDLE(request) * 0x9e3779b97f4a7c15u) >> 32) % PERSISTENT_BUCKETS];
}

/* Split and not dup: attributes of MPI_COMM_SELF are the program's. */
static bool open_self(void)
{
    int *tag_limit, known = 0;
    if (has_self)
        return true;
    if (library.Comm_split(handles.COMM_SELF, 0, 0, &self) != MPI_SUCCESS)
        return false;
    has_self = true;
    library.Comm_get_attr(self, MPI_TAG_UB, &tag_limit, &known);
    largest_tag = known ? *tag_limit : 32767;
    return true;
}

int steer_signal_request(bool persistent, int *signal, MPI_Request *request)
{
    tap_lock(&lock);
    bool open = open_self();
    *signal = signals;
    signals = signals < largest_tag ? signals + 1 : 0;
    tap_unlock(&lock);
    if (!open)
        return MPI_ERR_OTHER;
    return persistent ? library.Recv_init(NULL, 0, handles.BYTE, 0, *signal, self, request)
                      : library.Irecv(NULL, 0, handles.BYTE, 0, *signal, self, request);
}

void steer_signal(int signal)
{
    MPI_Request request;
    if (library.Isend(NULL, 0, handles.BYTE, 0, signal, self, &request) == MPI_SUCCESS)
        library.Request_free(&request);
}

void steer_signals_close(void)
{
    if (has_self)
        library.Comm_free(&self);
}

/* --- persistent sends ------------------------------------------------------------------------- */

/* *request is the library's own, which has found nothing wrong with the arguments. */
int steer_send_init(MPI_Request *request)
{
    if (!runtime_carrying)
        return MPI_SUCCESS;
    struct persistent *made = calloc(1, sizeof *made);
    MPI_Request ours;
    if (!made)
        return MPI_ERR_NO_MEM;
    int result = steer_signal_request(true, &made->signal, &ours);
    if (result != MPI_SUCCESS) {
        free(made);
        return result;
    }
    library.Request_free(request);
    *request = made->request = ours;
    tap_lock(&lock);
    struct persistent **head = bucket_of(ours);
    made->next = *head;
    *head = made;
    tap_unlock(&lock);
    return MPI_SUCCESS;
}

int steer_request_free(MPI_Request *request)
{
    tap_lock(&lock);
    struct persistent **link = request ? bucket_of(*request) : NULL;
    while (link && *link && (*link)->request != *request)
        link = &(*link)->next;
    if (link && *link) {
        struct persistent *gone = *link;
        *link = gone->next;
        free(gone);
    }
    tap_unlock(&lock);
    return library.Request_free(request);
}

/* -1: not one of ours. */
static int signal_of(MPI_Request request)
{
    tap_lock(&lock);
    const struct persistent *found = *bucket_of(request);
    while (found && found->request != request)
        found = found->next;
    int signal = found ? found->signal : -1;
    tap_unlock(&lock);
    return signal;
}

static int start_send(const struct request *known, const struct record *sent, uint32_t step,
                      MPI_Request *request)
{
    struct outgoing outgoing = {sent,          step,         steer_mode(known->call),
                                known->buffer, known->count, known->type,
                                known->peer,   known->tag,   known->communicator->wire};
    struct carrier carrier = {CARRIER_SIGNALS, signal_of(*request), *request};
    if (carrier.signal < 0) {
        if (step)
            rules_give_back(step - 1);
        return library.Start(request);
    }
    int result = library.Start(request);
    if (result != MPI_SUCCESS || steer_hold(&outgoing, &carrier))
        return result;
    result = steer_carry(&outgoing, &carrier);
    if (result != MPI_SUCCESS) { /* nothing will complete it: it has not been started */
        library.Cancel(request);
        library.Wait(request, MPI_STATUS_IGNORE);
    }
    return result;
}

static int start_one(const struct start *start, int i, MPI_Request *request)
{
    const struct record *record = i < start->count ? start->record[i] : NULL;
    uint32_t step = record ? start->step[i] : 0;
    const struct request *known = record ? start->request[i] : NULL;
    if (known && known->kind == REQUEST_SEND)
        return start_send(known, record, step, request);
    if (step)
        rules_give_back(step - 1);
    if (known && known->kind == REQUEST_RECEIVE)
        steer_settle(known->peer, known->tag, known->communicator->wire);
    return library.Start(request);
}

int steer_start(const struct start *start, int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        int result = start_one(start, i, &requests[i]);
        if (result != MPI_SUCCESS)
            return result;
    }
    return MPI_SUCCESS;
}
