/* MPI_Send and its like, in all modes and forms; the buffer of buffered sends. */
#include "engine/library.h"
#include "engine/messages/operation.h"

#include "engine/core/core.h"

static struct {
    void *address;
    MPI_Count bytes;
    bool attached;
} buffer;

static struct operation describe(enum send_mode mode, const void *from, MPI_Count count,
                                 MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
    return (struct operation){
        .view = communicator_view(comm),
        .side = {.from = from, .count = count, .type = type, .peer = destination, .tag = tag},
        .mode = mode,
    };
}

static int check(const struct operation *send)
{
    int class = operation_check(send, false);
    if (class != MPI_SUCCESS || send->mode != SEND_BUFFERED)
        return class;
    MPI_Count needed = packed_bytes(send->side.count, send->side.type) + MPI_BSEND_OVERHEAD;
    return buffer.attached && needed <= buffer.bytes ? MPI_SUCCESS : MPI_ERR_BUFFER;
}

static int send(enum send_mode mode, const void *from, MPI_Count count, MPI_Datatype type,
                int destination, int tag, MPI_Comm comm)
{
    struct operation send = describe(mode, from, count, type, destination, tag, comm);
    engine_turn();
    int class = check(&send);
    if (class == MPI_SUCCESS)
        class = send_begin(&send);
    if (class == MPI_SUCCESS)
        class = operation_complete(&send_kind, &send, MPI_STATUS_IGNORE);
    return communicator_raise(comm, class);
}

static int send_later(enum send_mode mode, const void *from, MPI_Count count, MPI_Datatype type,
                      int destination, int tag, MPI_Comm comm, bool persistent,
                      MPI_Request *request)
{
    struct operation send = describe(mode, from, count, type, destination, tag, comm);
    engine_turn();
    int class = check(&send);
    if (class == MPI_SUCCESS && !persistent)
        class = send_begin(&send);
    struct operation *kept = class == MPI_SUCCESS ? operation_keep(&send) : NULL;
    if (kept)
        *request = request_make(&send_kind, kept, persistent, comm);
    else if (class == MPI_SUCCESS)
        class = MPI_ERR_NO_MEM;
    return communicator_raise(comm, class);
}

#define SEND_FORMS(blocking, immediate, init, mode, number, suffix)                                \
    static int do_##blocking##suffix(const void *from, number count, MPI_Datatype type,            \
                                     int destination, int tag, MPI_Comm comm)                      \
    {                                                                                              \
        return send(mode, from, count, type, destination, tag, comm);                              \
    }                                                                                              \
    static int do_##immediate##suffix(const void *from, number count, MPI_Datatype type,           \
                                      int destination, int tag, MPI_Comm comm,                     \
                                      MPI_Request *request)                                        \
    {                                                                                              \
        return send_later(mode, from, count, type, destination, tag, comm, false, request);        \
    }                                                                                              \
    static int do_##init##suffix(const void *from, number count, MPI_Datatype type,                \
                                 int destination, int tag, MPI_Comm comm, MPI_Request *request)    \
    {                                                                                              \
        return send_later(mode, from, count, type, destination, tag, comm, true, request);         \
    }

#define MODES(X, number, suffix)                                                                   \
    X(Send, Isend, Send_init, SEND_STANDARD, number, suffix)                                       \
    X(Bsend, Ibsend, Bsend_init, SEND_BUFFERED, number, suffix)                                    \
    X(Ssend, Issend, Ssend_init, SEND_SYNCHRONOUS, number, suffix)                                 \
    X(Rsend, Irsend, Rsend_init, SEND_READY, number, suffix)

MODES(SEND_FORMS, int, )
MODES(SEND_FORMS, MPI_Count, _c)

/* --- the buffer ------------------------------------------------------------------------------- */

static int attach(void *address, MPI_Count bytes)
{
    if (buffer.attached || bytes < 0)
        return communicator_raise(MPI_COMM_WORLD, bytes < 0 ? MPI_ERR_ARG : MPI_ERR_BUFFER);
    buffer.address = address;
    buffer.bytes = bytes;
    buffer.attached = true;
    return MPI_SUCCESS;
}

static int attach_int(void *address, int bytes)
{
    return attach(address, bytes);
}

/* Payloads are packed when they are sent, so the buffer is always empty. */
static int detach(void *address, MPI_Count *bytes)
{
    engine_turn();
    *(void **)address = buffer.address;
    *bytes = buffer.bytes;
    buffer.address = NULL;
    buffer.bytes = 0;
    buffer.attached = false;
    return MPI_SUCCESS;
}

static int detach_int(void *address, int *bytes)
{
    MPI_Count all;
    int result = detach(address, &all);
    *bytes = (int)all;
    return result;
}

#define SET_FORMS(blocking, immediate, init, mode, number, suffix)                                 \
    table->blocking##suffix = do_##blocking##suffix;                                               \
    table->immediate##suffix = do_##immediate##suffix;                                             \
    table->init##suffix = do_##init##suffix;

void sends_fill(struct library *table)
{
    MODES(SET_FORMS, int, )
    MODES(SET_FORMS, MPI_Count, _c)
    table->Buffer_attach = attach_int;
    table->Buffer_attach_c = attach;
    table->Buffer_detach = detach_int;
    table->Buffer_detach_c = detach;
}
