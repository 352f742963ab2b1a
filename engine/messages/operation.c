/* See operation.h. The payload is packed when the message is sent and unpacked when the receive
 * completes. */
#include "engine/messages/operation.h"
#include "engine/library.h"

#include "engine/communicators/members.h"
#include "engine/core/core.h"
#include "engine/data/packing.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- arguments -------------------------------------------------------------------------------- */

MPI_Count packed_bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    return local.Type_size_x(type, &size) == MPI_SUCCESS ? size * count : -1;
}

static int largest_tag(void)
{
    static int largest;
    int *value, found = 0;
    if (largest == 0 &&
        local.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&value, &found) == MPI_SUCCESS)
        largest = found ? *value : INT_MAX;
    return largest;
}

static bool peer_is_valid(const struct comm_view *view, int peer, bool receives)
{
    return (peer >= 0 && peer < view->peers_count) || peer == MPI_PROC_NULL ||
           (receives && peer == MPI_ANY_SOURCE);
}

int operation_check(const struct operation *operation, bool receives)
{
    const struct side *side = &operation->side;
    if (!operation->view)
        return MPI_ERR_COMM;
    if (side->count < 0)
        return MPI_ERR_COUNT;
    if (side->type == MPI_DATATYPE_NULL || packed_bytes(side->count, side->type) < 0)
        return MPI_ERR_TYPE;
    if (!peer_is_valid(operation->view, side->peer, receives))
        return MPI_ERR_RANK;
    if ((side->tag < 0 || side->tag > largest_tag()) && !(receives && side->tag == MPI_ANY_TAG))
        return MPI_ERR_TAG;
    if (view_revoked(operation->view, false))
        return MPIX_ERR_REVOKED;
    return MPI_SUCCESS;
}

/* A type that is derived may be freed while it is in use. */
static bool is_derived(MPI_Datatype type)
{
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    local.Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner != MPI_COMBINER_NAMED;
}

struct operation *operation_keep(const struct operation *operation)
{
    struct operation *kept = malloc(sizeof *kept);
    if (!kept)
        return NULL;
    *kept = *operation;
    view_hold(kept->view);
    kept->side.owned = is_derived(kept->side.type) &&
                       local.Type_dup(operation->side.type, &kept->side.type) == MPI_SUCCESS;
    return kept;
}

static void release(void *data)
{
    struct operation *operation = data;
    if (operation->side.owned)
        local.Type_free(&operation->side.type);
    view_drop(operation->view);
    free(operation);
}

static int32_t process_of(const struct operation *operation)
{
    return operation->view->peers[operation->side.peer];
}

/* --- sending ---------------------------------------------------------------------------------- */

static bool waits_for_match(enum send_mode mode, size_t bytes)
{
    return mode == SEND_SYNCHRONOUS || (mode == SEND_STANDARD && bytes > ENGINE_EAGER_BYTES &&
                                        engine_decide(DECIDE_BUFFER, 2) == 1);
}

static int pack(const struct side *side, struct message *message)
{
    return packing_pack(side->from, side->count, side->type, message->payload, message->bytes);
}

int send_begin(struct operation *send)
{
    const struct side *side = &send->side;
    send->message = NULL;
    send->was_cancelled = false;
    send->failed = MPI_SUCCESS;
    if (side->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int32_t to = process_of(send);
    if (engine_knows_dead(to)) {
        send->failed = MPIX_ERR_PROC_FAILED;
        return MPI_SUCCESS;
    }
    size_t bytes = (size_t)packed_bytes(side->count, side->type);
    bool awaited = waits_for_match(send->mode, bytes);
    struct message *message = mailbox_message(to, bytes, awaited);
    message->source = send->view->rank;
    message->tag = side->tag;
    message->context = send->view->shared->context;
    int result = pack(side, message);
    if (result != MPI_SUCCESS) {
        engine_release(message);
        return MPI_ERR_TYPE;
    }
    mailbox_send(message);
    if (awaited)
        send->message = message;
    return MPI_SUCCESS;
}

/* A death, or the end of the communicator, is why it will never be matched; MPI_SUCCESS: it may be.
 */
static int why_not_sent(const struct operation *send)
{
    if (send->failed != MPI_SUCCESS)
        return send->failed;
    if (engine_knows_dead(process_of(send)))
        return MPIX_ERR_PROC_FAILED;
    return view_ends_waiting(send->view) ? MPIX_ERR_REVOKED : MPI_SUCCESS;
}

/* A library may read the buffer until the send is complete. The engine reads it again each time the
 * sender looks whether the send is complete: a program or a protocol that changes the buffer before
 * changes what is received. */
static bool send_ready(void *data)
{
    const struct operation *send = data;
    if (send->message) {
        mailbox_see_matched(send->message);
        if (send->message->matched)
            view_could_be_revoked(send->view);
        else
            pack(&send->side, send->message);
    }
    return !send->message || send->message->matched || why_not_sent(send) != MPI_SUCCESS;
}

static int send_finish(void *data, MPI_Status *status)
{
    struct operation *send = data;
    int class = send->failed;
    if (send->message) {
        if (!send->message->matched && !send->was_cancelled)
            class = why_not_sent(send);
        if (class == MPIX_ERR_REVOKED)
            view_revoked(send->view, true);
        if (send->message->to != engine_self)
            engine_took();
        mailbox_drop(send->message);
        send->message = NULL;
    }
    if (send->was_cancelled)
        status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
    return class;
}

static void send_cancel(void *data)
{
    struct operation *send = data;
    if (!send->message || !mailbox_take_back(send->message))
        return;
    send->was_cancelled = true;
    mailbox_drop(send->message);
    send->message = NULL;
}

static int send_start(void *data)
{
    return send_begin(data);
}

const struct request_kind send_kind = {
    .name = "send",
    .ready = send_ready,
    .finish = send_finish,
    .start = send_start,
    .cancel = send_cancel,
    .release = release,
};

/* --- receiving -------------------------------------------------------------------------------- */

int receive_begin(struct operation *receive)
{
    receive->posted = NULL;
    receive->was_cancelled = false;
    if (receive->side.peer != MPI_PROC_NULL && !receive->message)
        receive->posted =
            mailbox_post(receive->view->shared->context, receive->side.peer, receive->side.tag);
    return MPI_SUCCESS;
}

/* A wildcard receive could be for a message of a dead rank: it fails until the failure is
 * acknowledged. */
int receive_hopeless(const struct operation *receive)
{
    const struct comm_view *view = receive->view;
    if (view_ends_waiting(view))
        return MPIX_ERR_REVOKED;
    if (receive->side.peer != MPI_ANY_SOURCE)
        return engine_knows_dead(process_of(receive)) &&
                       !mailbox_expects(view->shared->context, receive->side.peer,
                                        receive->side.tag)
                   ? MPIX_ERR_PROC_FAILED
                   : MPI_SUCCESS;
    for (int i = 0; i < view->peers_count; i++)
        if (engine_knows_dead(view->peers[i]) &&
            (!view->acked || members_find(view->acked, view->peers[i]) < 0))
            return MPIX_ERR_PROC_FAILED_PENDING;
    return MPI_SUCCESS;
}

void receive_see_alternatives(const struct operation *receive)
{
    const struct comm_view *view = receive->view;
    if (!engine->transitions)
        return;
    view_could_be_revoked(view);
    for (int i = 0; receive->side.peer == MPI_ANY_SOURCE && i < view->peers_count; i++)
        if (!view->acked || members_find(view->acked, view->peers[i]) < 0)
            engine_could_be_informed(engine_death_of(view->peers[i]));
}

static bool receive_ready(void *data)
{
    const struct operation *receive = data;
    if (receive->posted)
        mailbox_see_posted(receive->posted);
    if (receive->posted && receive->posted->message)
        receive_see_alternatives(receive);
    return receive->was_cancelled || receive->message || !receive->posted ||
           receive->posted->message || receive_hopeless(receive) != MPI_SUCCESS;
}

/* Of an incomplete last element the library stores the bytes that have come. */
static int unpack(const struct side *side, const struct message *message, MPI_Count bytes)
{
    MPI_Count size = packed_bytes(1, side->type);
    if (bytes == 0 || size <= 0)
        return MPI_SUCCESS;
    int result = packing_unpack(side->into, (bytes + size - 1) / size, side->type, message->payload,
                                (size_t)bytes);
    return result == MPI_SUCCESS || result == MPI_ERR_TRUNCATE ? result : MPI_ERR_OTHER;
}

static MPI_Count what_fits(const struct side *side, const struct message *message)
{
    MPI_Count room = packed_bytes(side->count, side->type);
    return (MPI_Count)message->bytes < room ? (MPI_Count)message->bytes : room;
}

static void describe(const struct operation *receive, const struct message *message,
                     MPI_Status *status)
{
    if (message)
        status_set(status, message->source, message->tag, what_fits(&receive->side, message),
                   false);
    else if (receive->was_cancelled)
        status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
    else
        status_set(status, receive->side.peer,
                   receive->side.peer == MPI_PROC_NULL ? MPI_ANY_TAG : receive->side.tag, 0, false);
}

/* The receive fails without a message; a wildcard receive with a pending failure stays posted. */
static int receive_fail(struct operation *receive, MPI_Status *status)
{
    int class = receive_hopeless(receive);
    if (class == MPIX_ERR_PROC_FAILED_PENDING)
        return class;
    mailbox_unpost(receive->posted);
    receive->posted = NULL;
    if (class == MPIX_ERR_REVOKED)
        view_revoked(receive->view, true);
    describe(receive, NULL, status);
    return class;
}

static int receive_finish(void *data, MPI_Status *status)
{
    struct operation *receive = data;
    struct message *message = receive->message;
    if (receive->posted && !receive->posted->message)
        return receive_fail(receive, status);
    if (receive->posted)
        message = mailbox_unpost(receive->posted);
    receive->posted = NULL;
    receive->message = NULL;
    describe(receive, message, status);
    if (!message)
        return MPI_SUCCESS;
    if (message->from != engine_self)
        engine_took();
    MPI_Count bytes = what_fits(&receive->side, message);
    int class = unpack(&receive->side, message, bytes);
    if ((MPI_Count)message->bytes > bytes)
        class = MPI_ERR_TRUNCATE;
    mailbox_drop(message);
    return class;
}

static void receive_peek(void *data, MPI_Status *status)
{
    const struct operation *receive = data;
    describe(receive, receive->posted ? receive->posted->message : receive->message, status);
}

static void receive_cancel(void *data)
{
    struct operation *receive = data;
    if (receive->posted)
        mailbox_see_none(receive->view->shared->context, receive->side.peer, receive->side.tag);
    if (!receive->posted || receive->posted->message)
        return;
    mailbox_unpost(receive->posted);
    receive->posted = NULL;
    receive->was_cancelled = true;
}

/* A library may write to the buffer at any time from here on. The engine does so at once where the
 * message has arrived: a program or a protocol that still uses what was in the buffer gets the
 * message instead. */
static int receive_start(void *data)
{
    struct operation *receive = data;
    int class = receive_begin(receive);
    const struct message *message = receive->posted ? receive->posted->message : NULL;
    if (message)
        unpack(&receive->side, message, what_fits(&receive->side, message));
    return class;
}

const struct request_kind receive_kind = {
    .name = "receive",
    .ready = receive_ready,
    .finish = receive_finish,
    .peek = receive_peek,
    .start = receive_start,
    .cancel = receive_cancel,
    .release = release,
};

int operation_complete(const struct request_kind *kind, struct operation *operation,
                       MPI_Status *status)
{
    MPI_Status unseen;
    if (status == MPI_STATUS_IGNORE)
        status = &unseen;
    engine_wait(kind->ready, operation);
    return kind->finish(operation, status);
}
