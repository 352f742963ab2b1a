/* The probes, and receives of what a matched probe has found. */
#include "common/messages/calls.h"

struct sought {
    struct comm *comm;
    int source;
    int tag;
    struct packet *found;
};

static bool is_here(void *context)
{
    struct sought *sought = context;
    sought->found = matching_find(sought->comm, sought->source, sought->tag);
    return sought->found != NULL;
}

/* What a probe says, of nobody's messages too. false: there is nothing. */
static bool look(bool wait, struct sought *sought, MPI_Status *status)
{
    if (sought->source == MPI_PROC_NULL) {
        status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        return true;
    }
    if (wait)
        steps_wait(is_here, sought);
    if (!is_here(sought))
        return false;
    const struct packet_head *head = &sought->found->head;
    status_fill(status, head->source, head->tag, head->bytes, false);
    return true;
}

static int begin(struct sought *sought, int source, int tag, MPI_Comm user)
{
    const struct payload nothing = {.type = MPI_BYTE};
    *sought = (struct sought){.comm = call_begin(user), .source = source, .tag = tag};
    return sought->comm ? call_check(sought->comm, source, tag, &nothing, true) : MPI_ERR_COMM;
}

LAYER_EXPORTED int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct sought sought;
    int error = begin(&sought, source, tag, comm);
    if (error == MPI_SUCCESS)
        look(true, &sought, status);
    return error;
}

LAYER_EXPORTED int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct sought sought;
    int error = begin(&sought, source, tag, comm);
    if (error == MPI_SUCCESS)
        *flag = look(false, &sought, status);
    return error;
}

/* --- matched ---------------------------------------------------------------------------------- */

static MPI_Message take(struct sought *sought)
{
    if (sought->source == MPI_PROC_NULL)
        return MPI_MESSAGE_NO_PROC;
    const struct payload nothing = {.type = MPI_BYTE};
    const struct packet_head *head = &sought->found->head;
    struct request *message =
        request_new(REQUEST_MESSAGE, sought->comm, head->source, head->tag, &nothing);
    matching_take(sought->found);
    message->packet = sought->found;
    message->done = true;
    return (MPI_Message)request_handle(message);
}

LAYER_EXPORTED int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                              MPI_Status *status)
{
    struct sought sought;
    int error = begin(&sought, source, tag, comm);
    if (error != MPI_SUCCESS)
        return error;
    look(true, &sought, status);
    *message = take(&sought);
    return MPI_SUCCESS;
}

LAYER_EXPORTED int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                               MPI_Status *status)
{
    struct sought sought;
    int error = begin(&sought, source, tag, comm);
    if (error != MPI_SUCCESS)
        return error;
    *flag = look(false, &sought, status);
    *message = *flag ? take(&sought) : MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

/* The message becomes a receive that is done. NULL: it is none; *error says so. */
static struct request *receive(void *buffer, int count, MPI_Datatype type, MPI_Message *handle,
                               int *error)
{
    struct payload payload = {buffer, count, type};
    call_begin_anywhere();
    struct request *message = request_of((MPI_Request)*handle);
    bool nobody = *handle == MPI_MESSAGE_NO_PROC;
    if (!nobody && (!message || message->kind != REQUEST_MESSAGE)) {
        *error = call_error(MPI_ERR_REQUEST);
        return NULL;
    }
    struct comm *comm = nobody ? comm_of(MPI_COMM_WORLD) : message->comm;
    *error = call_check(comm, MPI_PROC_NULL, MPI_ANY_TAG, &payload, true);
    if (*error != MPI_SUCCESS)
        return NULL;
    int peer = nobody ? MPI_PROC_NULL : message->peer;
    struct request *receive = request_new(REQUEST_RECEIVE, comm, peer, MPI_ANY_TAG, &payload);
    receive->done = true;
    if (message) {
        receive->packet = message->packet;
        message->packet = NULL;
        request_free(message);
    }
    *handle = MPI_MESSAGE_NULL;
    return receive;
}

LAYER_EXPORTED int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
                             MPI_Status *status)
{
    int error;
    struct request *one = receive(buf, count, datatype, message, &error);
    if (!one)
        return error;
    error = call_hand_over(one, status);
    request_free(one);
    return error;
}

LAYER_EXPORTED int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
                              MPI_Request *request)
{
    int error;
    struct request *one = receive(buf, count, datatype, message, &error);
    if (one)
        *request = request_handle(one);
    return error;
}
