/* A send and a receive in one call: MPI_Sendrecv and its like. */
#include "engine/library.h"
#include "engine/messages/operation.h"

#include "engine/core/core.h"

#include <stdlib.h>

struct exchange {
    struct operation send, receive;
};

static int begin(struct exchange *exchange)
{
    int class = operation_check(&exchange->send, false);
    if (class == MPI_SUCCESS)
        class = operation_check(&exchange->receive, true);
    if (class == MPI_SUCCESS)
        class = send_begin(&exchange->send);
    if (class == MPI_SUCCESS)
        class = receive_begin(&exchange->receive);
    return class;
}

static bool ready(void *data)
{
    struct exchange *exchange = data;
    bool sent = send_kind.ready(&exchange->send);
    return receive_kind.ready(&exchange->receive) && sent;
}

static int finish(void *data, MPI_Status *status)
{
    MPI_Status sent;
    struct exchange *exchange = data;
    int of_send = send_kind.finish(&exchange->send, &sent);
    int of_receive = receive_kind.finish(&exchange->receive, status);
    return of_receive != MPI_SUCCESS ? of_receive : of_send;
}

static int complete(struct exchange *exchange, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status unseen;
    engine_turn();
    int class = begin(exchange);
    if (class == MPI_SUCCESS)
        engine_wait(ready, exchange);
    if (class == MPI_SUCCESS)
        class = finish(exchange, status == MPI_STATUS_IGNORE ? &unseen : status);
    return communicator_raise(comm, class);
}

/* --- later ------------------------------------------------------------------------------------ */

static void release(void *data)
{
    struct exchange *exchange = data;
    if (exchange->receive.side.owned)
        local.Type_free(&exchange->receive.side.type);
    view_drop(exchange->receive.view);
    free(exchange);
}

static const struct request_kind kind = {
    .name = "exchange", .ready = ready, .finish = finish, .release = release};

static int complete_later(struct exchange *exchange, MPI_Comm comm, MPI_Request *request)
{
    engine_turn();
    int class = begin(exchange);
    struct exchange *kept = class == MPI_SUCCESS ? malloc(sizeof *kept) : NULL;
    struct operation *receive = kept ? operation_keep(&exchange->receive) : NULL;
    if (receive) {
        *kept = *exchange;
        kept->receive = *receive;
        free(receive);
        *request = request_make(&kind, kept, false, comm);
    } else if (class == MPI_SUCCESS) {
        free(kept);
        class = MPI_ERR_NO_MEM;
    }
    return communicator_raise(comm, class);
}

/* --- the calls -------------------------------------------------------------------------------- */

#define EXCHANGE                                                                                   \
    struct exchange exchange = {                                                                   \
        .send.view = communicator_view(comm),                                                      \
        .send.side.from = from,                                                                    \
        .send.side.count = send_count,                                                             \
        .send.side.type = send_type,                                                               \
        .send.side.peer = destination,                                                             \
        .send.side.tag = send_tag,                                                                 \
        .receive.view = communicator_view(comm),                                                   \
        .receive.side.into = into,                                                                 \
        .receive.side.count = receive_count,                                                       \
        .receive.side.type = receive_type,                                                         \
        .receive.side.peer = source,                                                               \
        .receive.side.tag = receive_tag,                                                           \
    }

#define TWO_BUFFERS(number)                                                                        \
    const void *from, number send_count, MPI_Datatype send_type, int destination, int send_tag,    \
        void *into, number receive_count, MPI_Datatype receive_type, int source, int receive_tag,  \
        MPI_Comm comm

#define ONE_BUFFER(number)                                                                         \
    void *into, number receive_count, MPI_Datatype receive_type, int destination, int send_tag,    \
        int source, int receive_tag, MPI_Comm comm

/* What is sent is packed before anything is received, so one buffer can be both. */
#define SAME_BUFFER                                                                                \
    const void *from = into;                                                                       \
    MPI_Count send_count = receive_count;                                                          \
    MPI_Datatype send_type = receive_type

#define EXCHANGE_FORMS(number, suffix)                                                             \
    static int do_Sendrecv##suffix(TWO_BUFFERS(number), MPI_Status *status)                        \
    {                                                                                              \
        EXCHANGE;                                                                                  \
        return complete(&exchange, comm, status);                                                  \
    }                                                                                              \
    static int do_Sendrecv_replace##suffix(ONE_BUFFER(number), MPI_Status *status)                 \
    {                                                                                              \
        SAME_BUFFER;                                                                               \
        EXCHANGE;                                                                                  \
        return complete(&exchange, comm, status);                                                  \
    }                                                                                              \
    static int do_Isendrecv##suffix(TWO_BUFFERS(number), MPI_Request *request)                     \
    {                                                                                              \
        EXCHANGE;                                                                                  \
        return complete_later(&exchange, comm, request);                                           \
    }                                                                                              \
    static int do_Isendrecv_replace##suffix(ONE_BUFFER(number), MPI_Request *request)              \
    {                                                                                              \
        SAME_BUFFER;                                                                               \
        EXCHANGE;                                                                                  \
        return complete_later(&exchange, comm, request);                                           \
    }

EXCHANGE_FORMS(int, )
EXCHANGE_FORMS(MPI_Count, _c)

void exchanges_fill(struct library *table)
{
    table->Sendrecv = do_Sendrecv;
    table->Sendrecv_c = do_Sendrecv_c;
    table->Sendrecv_replace = do_Sendrecv_replace;
    table->Sendrecv_replace_c = do_Sendrecv_replace_c;
    table->Isendrecv = do_Isendrecv;
    table->Isendrecv_c = do_Isendrecv_c;
    table->Isendrecv_replace = do_Isendrecv_replace;
    table->Isendrecv_replace_c = do_Isendrecv_replace_c;
}

void messages_fill(struct library *table)
{
    sends_fill(table);
    receives_fill(table);
    exchanges_fill(table);
}
