/* MPI_Recv and its like; probes, and the receives of the messages that they found. */
#include "engine/library.h"
#include "engine/messages/operation.h"

#include "base/mix.h"
#include "engine/core/core.h"

#include <stdlib.h>
#include <string.h>

static struct operation describe(void *into, MPI_Count count, MPI_Datatype type, int source,
                                 int tag, MPI_Comm comm)
{
    return (struct operation){
        .view = communicator_view(comm),
        .side = {.into = into, .count = count, .type = type, .peer = source, .tag = tag},
    };
}

/* A blocking receive cannot stay pending. */
static int blocking_class(int class)
{
    return class == MPIX_ERR_PROC_FAILED_PENDING ? MPIX_ERR_PROC_FAILED : class;
}

static int receive_c(void *into, MPI_Count count, MPI_Datatype type, int source, int tag,
                     MPI_Comm comm, MPI_Status *status)
{
    struct operation receive = describe(into, count, type, source, tag, comm);
    engine_turn();
    int class = operation_check(&receive, true);
    if (class == MPI_SUCCESS) {
        receive_begin(&receive);
        class = operation_complete(&receive_kind, &receive, status);
    }
    if (class == MPIX_ERR_PROC_FAILED_PENDING)
        receive_kind.cancel(&receive);
    return communicator_raise(comm, blocking_class(class));
}

static int receive(void *into, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    return receive_c(into, count, type, source, tag, comm, status);
}

static int keep(struct operation *receive, MPI_Comm comm, bool persistent, MPI_Request *request)
{
    struct operation *kept = operation_keep(receive);
    if (!kept)
        return communicator_raise(comm, MPI_ERR_NO_MEM);
    *request = request_make(&receive_kind, kept, persistent, comm);
    return MPI_SUCCESS;
}

static int receive_later(void *into, MPI_Count count, MPI_Datatype type, int source, int tag,
                         MPI_Comm comm, bool persistent, MPI_Request *request)
{
    struct operation receive = describe(into, count, type, source, tag, comm);
    engine_turn();
    int class = operation_check(&receive, true);
    if (class != MPI_SUCCESS)
        return communicator_raise(comm, class);
    if (!persistent)
        receive_kind.start(&receive);
    return keep(&receive, comm, persistent, request);
}

#define RECEIVE_FORMS(number, suffix)                                                              \
    static int do_Irecv##suffix(void *into, number count, MPI_Datatype type, int source, int tag,  \
                                MPI_Comm comm, MPI_Request *request)                               \
    {                                                                                              \
        return receive_later(into, count, type, source, tag, comm, false, request);                \
    }                                                                                              \
    static int do_Recv_init##suffix(void *into, number count, MPI_Datatype type, int source,       \
                                    int tag, MPI_Comm comm, MPI_Request *request)                  \
    {                                                                                              \
        return receive_later(into, count, type, source, tag, comm, true, request);                 \
    }                                                                                              \
    static int do_Mrecv##suffix(void *into, number count, MPI_Datatype type, MPI_Message *message, \
                                MPI_Status *status)                                                \
    {                                                                                              \
        return receive_found(into, count, type, message, status);                                  \
    }                                                                                              \
    static int do_Imrecv##suffix(void *into, number count, MPI_Datatype type,                      \
                                 MPI_Message *message, MPI_Request *request)                       \
    {                                                                                              \
        return receive_found_later(into, count, type, message, request);                           \
    }

/* --- messages that were found ----------------------------------------------------------------- */

/* By handle: MPI_MESSAGE_NULL + place + 1. */
static struct found {
    struct message *message;
    MPI_Comm comm;
} * found;
static uint32_t found_room;

static MPI_Message found_add(struct message *message, MPI_Comm comm)
{
    uint32_t place = 0;
    while (place < found_room && found[place].message)
        place++;
    if (place == found_room) {
        found_room += 16;
        found = realloc(found, found_room * sizeof *found);
        if (!found)
            abort();
        memset(found + place, 0, 16 * sizeof *found);
    }
    found[place] = (struct found){message, comm};
    return (MPI_Message)((uint32_t)MPI_MESSAGE_NULL + place + 1);
}

static struct found *found_by(MPI_Message handle)
{
    uint32_t place = (uint32_t)handle - (uint32_t)MPI_MESSAGE_NULL - 1;
    return place < found_room && found[place].message ? &found[place] : NULL;
}

/* The receive of a found message: its handle means nothing from now on. False: it meant none. */
static bool claim(void *into, MPI_Count count, MPI_Datatype type, MPI_Message *handle,
                  struct operation *receive, MPI_Comm *comm)
{
    struct found *entry = found_by(*handle);
    *comm = entry ? entry->comm : MPI_COMM_WORLD;
    *receive = describe(into, count, type, MPI_PROC_NULL, MPI_ANY_TAG, *comm);
    if (entry) {
        receive->message = entry->message;
        entry->message = NULL;
    } else if (*handle != MPI_MESSAGE_NO_PROC) {
        return false;
    }
    *handle = MPI_MESSAGE_NULL;
    return receive->view != NULL;
}

static int receive_found(void *into, MPI_Count count, MPI_Datatype type, MPI_Message *handle,
                         MPI_Status *status)
{
    struct operation receive;
    MPI_Comm comm;
    engine_turn();
    if (!claim(into, count, type, handle, &receive, &comm))
        return communicator_raise(comm, MPI_ERR_REQUEST);
    return communicator_raise(comm, operation_complete(&receive_kind, &receive, status));
}

static int receive_found_later(void *into, MPI_Count count, MPI_Datatype type, MPI_Message *handle,
                               MPI_Request *request)
{
    struct operation receive;
    MPI_Comm comm;
    engine_turn();
    if (!claim(into, count, type, handle, &receive, &comm))
        return communicator_raise(comm, MPI_ERR_REQUEST);
    return keep(&receive, comm, false, request);
}

RECEIVE_FORMS(int, )
RECEIVE_FORMS(MPI_Count, _c)

/* --- probes ----------------------------------------------------------------------------------- */

struct probe {
    struct operation asked;
    bool blocks, takes;
    MPI_Comm comm;
    MPI_Message *handle; /* when it takes */
    MPI_Status *status;
};

static void answer(const struct probe *probe, struct message *message)
{
    const struct side *side = &probe->asked.side;
    bool nobody = side->peer == MPI_PROC_NULL;
    if (probe->status != MPI_STATUS_IGNORE) {
        if (nobody)
            status_set(probe->status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        else
            status_set(probe->status, message->source, message->tag, (MPI_Count)message->bytes,
                       false);
    }
    if (!probe->takes)
        return;
    *probe->handle = nobody ? MPI_MESSAGE_NO_PROC : found_add(message, probe->comm);
    if (!nobody)
        mailbox_take(message);
}

/* Looks for a message as a receive would, and fails where such a receive would fail. */
static int look(struct probe *probe, struct message **message)
{
    const struct side *side = &probe->asked.side;
    *message = NULL;
    if (side->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    *message = mailbox_find(probe->asked.view->shared->context, side->peer, side->tag);
    return *message ? MPI_SUCCESS : blocking_class(receive_hopeless(&probe->asked));
}

/* There is an answer: a message, or a failure. */
static bool is_answered(void *data)
{
    struct probe *probe = data;
    struct message *message;
    return look(probe, &message) != MPI_SUCCESS || message != NULL ||
           probe->asked.side.peer == MPI_PROC_NULL;
}

static void see(const struct probe *probe, const struct message *message)
{
    const struct side *side = &probe->asked.side;
    if (message)
        receive_see_alternatives(&probe->asked);
    if (message)
        mailbox_see_found(message, side->peer, side->tag);
    else if (side->peer != MPI_PROC_NULL)
        mailbox_see_none(probe->asked.view->shared->context, side->peer, side->tag);
}

/* The same, and it shows to the program. */
static bool is_seen(void *data)
{
    struct probe *probe = data;
    struct message *message;
    look(probe, &message);
    see(probe, message);
    return is_answered(probe);
}

/* A name for what is asked. */
static uint64_t question(const struct probe *probe)
{
    const struct side *side = &probe->asked.side;
    return mix_two(mix_two(probe->asked.view->shared->context, (uint32_t)side->peer),
                   (uint32_t)side->tag);
}

static int do_probe(struct probe *probe, int *flag)
{
    struct message *message;
    int class = operation_check(&probe->asked, true);
    *flag = 0;
    if (class != MPI_SUCCESS)
        return communicator_raise(probe->comm, class);
    if (probe->blocks) {
        engine_wait(is_answered, probe);
        (void)is_seen(probe);
    } else if (!engine_poll(question(probe), is_seen, probe)) {
        return MPI_SUCCESS;
    }
    class = look(probe, &message);
    *flag = class == MPI_SUCCESS;
    if (*flag)
        answer(probe, message);
    return communicator_raise(probe->comm, class);
}

static int probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int flag;
    struct probe p = {
        describe(NULL, 0, MPI_BYTE, source, tag, comm), true, false, comm, NULL, status};
    engine_turn();
    return do_probe(&p, &flag);
}

static int matched_probe(int source, int tag, MPI_Comm comm, MPI_Message *handle,
                         MPI_Status *status)
{
    int flag;
    struct probe p = {
        describe(NULL, 0, MPI_BYTE, source, tag, comm), true, true, comm, handle, status};
    engine_turn();
    return do_probe(&p, &flag);
}

static int poll_probe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct probe p = {
        describe(NULL, 0, MPI_BYTE, source, tag, comm), false, false, comm, NULL, status};
    engine_turn_to_poll();
    return do_probe(&p, flag);
}

static int poll_matched_probe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *handle,
                              MPI_Status *status)
{
    struct probe p = {
        describe(NULL, 0, MPI_BYTE, source, tag, comm), false, true, comm, handle, status};
    engine_turn_to_poll();
    return do_probe(&p, flag);
}

void receives_fill(struct library *table)
{
    table->Recv = receive;
    table->Recv_c = receive_c;
    table->Irecv = do_Irecv;
    table->Irecv_c = do_Irecv_c;
    table->Recv_init = do_Recv_init;
    table->Recv_init_c = do_Recv_init_c;
    table->Mrecv = do_Mrecv;
    table->Mrecv_c = do_Mrecv_c;
    table->Imrecv = do_Imrecv;
    table->Imrecv_c = do_Imrecv_c;
    table->Probe = probe;
    table->Mprobe = matched_probe;
    table->Iprobe = poll_probe;
    table->Improbe = poll_matched_probe;
}
