/* See transfer.h: receiving. send.c sends.
 *
 * Every receive of the program becomes a receive of a header (the piggyback) and the payload. It
 * has a *place*: its number among the receives of this rank, over all epochs. Its way:
 *   1. transfer_receive gives it its place and posts it;
 *   2. transfer_poll asks whether it is in; while this rank logs it also waits for earlier open
 *      receives (ahead.c);
 *   3. transfer_before may stop logging, if the sender has;
 *   4. transfer_hand_over classifies the message by its header, now and not at its arrival: as late
 *      (it is logged), early (its id is remembered) or intra; and gives it to the program.
 *
 * In recovery the log holds outcomes by place. A receive whose place has one is not open any more:
 * a late message comes from the log, a cancelled receive is cancelled, and a wildcard that took an
 * intra message is posted for just that source and tag (`bound`). A wildcard without an outcome was
 * not complete when logging ended, or is not logged for another reason; it is posted as it is:
 *
 *     place 1: Recv(any), got one from 2    place 2: Irecv(any), open    place 3: got one from 0
 *
 * Here 2 could take the message from rank 0 that 3 is to get. So there is no such log: where a
 * place is logged, the earlier ones that could have taken its message are (ahead.c, and
 * requests_log_matched). */
#include "c3/transfer.h"

#include "c3/collectives/nonblocking.h"
#include "c3/line.h"
#include "c3/replay.h"
#include "faultline.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define SPINS 256 /* polls before the processor is offered to others */

static bool is_wildcard(const struct request *request)
{
    return request->peer == MPI_ANY_SOURCE || request->tag == MPI_ANY_TAG;
}

/* --- posting ---------------------------------------------------------------------------------- */

/* Fills the header with what no sender writes. If a message is too long for its receive, the
 * library may write nothing at all; has_header then sees that the header never came. */
static void blank_header(struct request *request)
{
    memset(request->row, 0xff, piggyback_bytes());
}

static bool has_header(const struct request *request)
{
    char blank[PIGGYBACK_MAX_BYTES];
    memset(blank, 0xff, sizeof blank);
    return memcmp(request->row, blank, piggyback_bytes()) != 0;
}

/* How the library is to receive it. *owned: free the type. */
static int receive_into(struct request *request, void **buffer, int *count, MPI_Datatype *type,
                        bool *owned)
{
    uint64_t room = payload_bytes(&request->payload);
    request->framed = room > COPY_BYTES;
    *owned = request->framed;
    if (room < SMALL_BYTES)
        room = SMALL_BYTES;
    request_row(request, request->framed ? 0 : room);
    blank_header(request);
    if (request->framed) {
        *buffer = MPI_BOTTOM;
        *count = 1;
        return payload_framed(&request->payload, request->row, piggyback_bytes(), type);
    }
    *buffer = request->row;
    *count = (int)(piggyback_bytes() + room);
    *type = MPI_BYTE;
    return MPI_SUCCESS;
}

static int post_as(struct request *request, int source, int tag)
{
    void *buffer;
    int count;
    MPI_Datatype type;
    bool owned;
    int error = receive_into(request, &buffer, &count, &type, &owned);
    if (error != MPI_SUCCESS)
        return error;
    error =
        PMPI_Irecv(buffer, count, type, source, tag, request->communicator->real, &request->wire);
    if (owned)
        PMPI_Type_free(&type);
    return error;
}

/* If a message that was received before this receive was posted matches it, it is this receive's.
 */
static bool take_arrived(struct request *request, int source, int tag)
{
    struct request *message = arrived_find(request->communicator, source, tag);
    if (!message)
        return false;
    arrived_remove(message);
    transfer_receive_matched(request, message);
    return true;
}

/* Posts a wildcard for the source and tag that it received from while logging. From then on it is a
 * receive like any other. */
static void bind(struct request *request, int *source, int *tag)
{
    *source = request->outcome->source;
    *tag = request->outcome->tag;
    replay_outcome_used(request->outcome);
    request->outcome = NULL;
    request->bound = true;
}

/* The source and tag that the receive is posted with. If these are not those that the program gave,
 * which message it takes is decided (`bound`). */
static void find_envelope(struct request *request, int *source, int *tag)
{
    *source = request->peer;
    *tag = request->tag;
    if (request->outcome)
        bind(request, source, tag);
    else if (probed_find(request->communicator, source, tag))
        request->bound = true;
    probed_received(request->communicator, *source, *tag);
}

static int post(struct request *request)
{
    int source, tag;
    if (request->peer == MPI_PROC_NULL) {
        request->done = true;
        return MPI_SUCCESS;
    }
    request->outcome = replay_outcome(request->place, &request->outcome_data);
    if (request->outcome && request->outcome->kind != LOG_MATCHED) {
        request->done = true;
        if (request->outcome->kind == LOG_LATE)
            probed_received(request->communicator, request->outcome->source, request->outcome->tag);
        return MPI_SUCCESS;
    }
    find_envelope(request, &source, &tag);
    return take_arrived(request, source, tag) ? MPI_SUCCESS : post_as(request, source, tag);
}

int transfer_receive_at_place(struct request *request)
{
    int error = post(request);
    if (error == MPI_SUCCESS)
        request_is_pending(request);
    return error;
}

int transfer_receive(struct request *request)
{
    request->place = self.next_place++;
    return transfer_receive_at_place(request);
}

/* --- messages that a matched probe has found -------------------------------------------------- */

static int receive_from_library(struct request *receive, struct request *message)
{
    void *buffer;
    int count;
    MPI_Datatype type;
    bool owned;
    int error = receive_into(receive, &buffer, &count, &type, &owned);
    if (error != MPI_SUCCESS)
        return error;
    error = PMPI_Imrecv(buffer, count, type, &message->message, &receive->wire);
    if (owned)
        PMPI_Type_free(&type);
    return error;
}

/* The receive takes over the row of the message: with the message in it, or with the library's
 * receive that will fill it. */
static void hand_on_row(struct request *receive, struct request *message)
{
    char *row = receive->row;
    uint64_t row_bytes = receive->row_bytes;
    receive->row = message->row;
    receive->row_bytes = message->row_bytes;
    message->row = row;
    message->row_bytes = row_bytes;
    receive->wire = message->wire;
    receive->done = message->done;
    receive->status = message->status;
    receive->error = message->error;
}

int transfer_receive_matched(struct request *receive, struct request *message)
{
    int error = MPI_SUCCESS;
    receive->outcome = message->outcome;
    receive->outcome_data = message->outcome_data;
    if (receive->outcome)
        receive->done = true;
    else if (message->message != MPI_MESSAGE_NULL)
        error = receive_from_library(receive, message);
    else
        hand_on_row(receive, message);
    if (error == MPI_SUCCESS)
        request_free(message);
    return error;
}

void transfer_take_in(struct request *message, MPI_Message library, const MPI_Status *status)
{
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    request_row(message, (uint64_t)bytes);
    if ((uint64_t)bytes > INT32_MAX)
        die("a message of %lld bytes is probed for while logging", (long long)bytes);
    message->error = PMPI_Mrecv(message->row, (int)bytes, MPI_BYTE, &library, &message->status);
    message->done = true;
}

void transfer_restore_probed(struct request *message, uint64_t bytes)
{
    status_fill(&message->status, message->peer, message->tag, piggyback_bytes() + bytes, false);
    message->outcome = replay_outcome(message->place, &message->outcome_data);
    message->done = message->outcome != NULL;
    struct request *arrived =
        message->done ? NULL : arrived_find(message->communicator, message->peer, message->tag);
    if (arrived) {
        arrived_remove(arrived);
        hand_on_row(message, arrived);
        request_free(arrived);
    } else if (!message->done) {
        request_row(message, bytes);
        blank_header(message);
        message->error =
            PMPI_Irecv(message->row, (int)(piggyback_bytes() + bytes), MPI_BYTE, message->peer,
                       message->tag, message->communicator->real, &message->wire);
        message->done = message->error != MPI_SUCCESS;
    }
}

void transfer_describe(const struct request *message, MPI_Status *status)
{
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(&message->status, MPI_BYTE, &bytes);
    status_fill(status, message->status.MPI_SOURCE, message->status.MPI_TAG,
                (uint64_t)bytes - piggyback_bytes(), false);
}

/* --- completion ------------------------------------------------------------------------------- */

bool transfer_is_in(struct request *request)
{
    if (request->kind == REQUEST_COLLECTIVE)
        return nonblocking_poll(request);
    if (request->done)
        return true;
    int done = 0;
    int error = PMPI_Test(&request->wire, &done, &request->status);
    if (done || error != MPI_SUCCESS) {
        request->done = true;
        request->error = error;
    }
    return request->done;
}

bool transfer_is_cancelled(const struct request *request)
{
    int cancelled = 0;
    if (request->cancel && request->done)
        PMPI_Test_cancelled(&request->status, &cancelled);
    return cancelled;
}

/* Did a message arrive for it from the wire? */
static bool has_message(const struct request *request)
{
    if (request->kind == REQUEST_SEND || request->kind == REQUEST_COLLECTIVE ||
        request->peer == MPI_PROC_NULL || request->outcome)
        return false;
    return !transfer_is_cancelled(request) && has_header(request);
}

bool transfer_poll(struct request *request)
{
    return transfer_is_in(request) &&
           (!self.logging || !has_message(request) ||
            ahead_is_over(request->communicator, request->status.MPI_SOURCE,
                          request->status.MPI_TAG, request->place));
}

void transfer_finish(struct request *request)
{
    for (unsigned spins = 0; !transfer_poll(request); spins++) {
        line_progress();
        if (spins > SPINS)
            sched_yield();
    }
}

bool transfer_sender_stopped(const struct request *request)
{
    if (!self.logging || !has_message(request))
        return false;
    int world = world_rank(request->communicator, request->status.MPI_SOURCE);
    return piggyback_read(request->row, world).sender_stopped;
}

void transfer_before(struct request *request)
{
    if (request->kind == REQUEST_COLLECTIVE)
        nonblocking_before(request);
    if (!self.logging || !has_message(request))
        return;
    ahead_before(request->communicator, request->status.MPI_SOURCE, request->status.MPI_TAG,
                 request->place);
    if (transfer_sender_stopped(request))
        line_stop_logging();
}

int transfer_cancel(struct request *request)
{
    if (request->done || request->bound)
        return MPI_SUCCESS;
    request->cancel = true;
    return PMPI_Cancel(&request->wire);
}

void transfer_restore_cancelled(struct request *request)
{
    request->cancel = request->done = true;
    request->outcome = replay_outcome(request->place, &request->outcome_data);
    PMPI_Status_set_cancelled(&request->status, 1);
    request_is_pending(request);
}

/* --- handing over ----------------------------------------------------------------------------- */

/* The message as a row of bytes: in the request's row, or packed again from its place. *owned: the
 * caller's, free. */
static const char *as_row(struct request *request, uint64_t bytes, char **owned)
{
    *owned = NULL;
    if (!request->framed)
        return request->row + piggyback_bytes();
    uint64_t element = payload_bytes(&request->payload) / (uint64_t)request->payload.count;
    struct payload elements = request->payload;
    elements.count = (int)((bytes + element - 1) / element);
    *owned = memory(1, payload_bytes(&elements));
    payload_pack(&elements, *owned);
    return *owned;
}

static void log_late(const struct request *request, const char *row, uint64_t bytes)
{
    struct log_entry entry = {.kind = LOG_LATE,
                              .positive = 1,
                              .source = request->status.MPI_SOURCE,
                              .tag = request->status.MPI_TAG,
                              .error = request->error,
                              .number = request->place,
                              .bytes = bytes,
                              .data_bytes = bytes};
    log_append(&entry, row);
    faultline_logged(self.epoch, (uint64_t)request->communicator->user, entry.source, entry.tag,
                     row, bytes);
}

/* Logs what the receive must do in recovery: take a message of this source and tag, which will be
 * sent again, or be cancelled. */
static void log_outcome(const struct request *request, enum log_kind kind)
{
    struct log_entry entry = {.kind = kind,
                              .positive = 1,
                              .source = request->status.MPI_SOURCE,
                              .tag = request->status.MPI_TAG,
                              .number = request->place};
    if (kind == LOG_CANCELLED)
        entry.source = entry.tag = 0;
    log_append(&entry, NULL);
}

static void late(struct request *request, int world, uint64_t bytes)
{
    char *owned;
    const char *row = as_row(request, bytes, &owned);
    self.previous[world]++;
    log_late(request, row, bytes);
    free(owned);
}

static void early(struct request *request, int world, uint64_t id, uint64_t bytes)
{
    char *owned = NULL;
    line_early(world, id);
    if (!faultline_present())
        return;
    const char *row = as_row(request, bytes, &owned);
    faultline_early(self.epoch + 1, (uint64_t)request->communicator->user,
                    request->status.MPI_SOURCE, request->status.MPI_TAG, row, bytes);
    free(owned);
}

static void intra(struct request *request, int world)
{
    self.current[world]++;
    if (self.logging && (is_wildcard(request) || request->cancel))
        log_outcome(request, LOG_MATCHED);
}

/* The message counts from here on: it is late, intra or early as of now. */
static void classify(struct request *request, uint64_t bytes)
{
    int world = world_rank(request->communicator, request->status.MPI_SOURCE);
    struct piggyback piggyback = piggyback_read(request->row, world);
    if (piggyback.crossing == CROSSING_LATE)
        late(request, world, bytes);
    else if (piggyback.crossing == CROSSING_EARLY)
        early(request, world, piggyback.id, bytes);
    else
        intra(request, world);
}

static int raise_error(const struct request *request, int error)
{
    PMPI_Comm_call_errhandler(request->communicator->real, error);
    return error;
}

/* From a row to its place; a message that is too long is cut, as MPI says. */
static int put_in_place(const struct request *request, const char *row, uint64_t *bytes)
{
    uint64_t room = payload_bytes(&request->payload);
    bool too_long = *bytes > room;
    if (too_long)
        *bytes = room;
    int error = payload_unpack(&request->payload, row, *bytes);
    return too_long ? MPI_ERR_TRUNCATE : error;
}

static int hand_over_logged(struct request *request, MPI_Status *status)
{
    const struct log_entry *entry = request->outcome;
    uint64_t bytes = entry->bytes;
    replay_outcome_used(entry);
    if (entry->kind == LOG_CANCELLED) {
        status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
        return MPI_SUCCESS;
    }
    int error = put_in_place(request, request->outcome_data, &bytes);
    status_fill(status, entry->source, entry->tag, bytes, false);
    faultline_replayed(self.epoch, (uint64_t)request->communicator->user, entry->source, entry->tag,
                       request->outcome_data, entry->bytes);
    return error == MPI_SUCCESS ? error : raise_error(request, error);
}

static int hand_over_message(struct request *request, MPI_Status *status)
{
    MPI_Count received = 0;
    PMPI_Get_elements_x(&request->status, MPI_BYTE, &received);
    uint64_t bytes = (uint64_t)received - piggyback_bytes();
    int error = request->error;
    if (!request->framed && error == MPI_SUCCESS) {
        uint64_t whole = bytes;
        error = put_in_place(request, request->row + piggyback_bytes(), &bytes);
        request->error = error;
        classify(request, whole);
        if (error != MPI_SUCCESS)
            raise_error(request, error);
    } else {
        uint64_t room = payload_bytes(&request->payload);
        bytes = bytes < room ? bytes : room;
        classify(request, bytes);
    }
    status_fill(status, request->status.MPI_SOURCE, request->status.MPI_TAG, bytes, false);
    return error;
}

/* The library gives nothing of a message that is too long, not even the piggyback, without which
 * nobody knows what to do with the message after a crash. */
_Noreturn static void lost_header(const struct request *request)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    PMPI_Error_string(request->error, text, &length);
    die("a message of more than %d bytes from rank %d, tag %d, is longer than its receive: %s",
        SMALL_BYTES, request->status.MPI_SOURCE, request->status.MPI_TAG, text);
}

static int hand_over_receive(struct request *request, MPI_Status *status)
{
    if (request->peer == MPI_PROC_NULL) {
        status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        return MPI_SUCCESS;
    }
    if (request->outcome)
        return hand_over_logged(request, status);
    bool cancelled = transfer_is_cancelled(request);
    if (cancelled && self.logging)
        log_outcome(request, LOG_CANCELLED);
    if (cancelled) {
        status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
        return MPI_SUCCESS;
    }
    if (!has_header(request))
        lost_header(request);
    return hand_over_message(request, status);
}

void transfer_foretell(const struct request *request, MPI_Status *status)
{
    if (request->kind == REQUEST_SEND || request->kind == REQUEST_COLLECTIVE)
        status_empty(status);
    else if (request->peer == MPI_PROC_NULL)
        status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
    else if (request->outcome && request->outcome->kind == LOG_LATE)
        status_fill(status, request->outcome->source, request->outcome->tag,
                    request->outcome->bytes, false);
    else if (request->outcome)
        status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
    else if (transfer_is_cancelled(request))
        status_fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
    else
        transfer_describe(request, status);
}

int transfer_hand_over(struct request *request, MPI_Status *status)
{
    int error = request->error;
    request->active = false;
    if (request->kind == REQUEST_RECEIVE) {
        request_is_not_pending(request);
        error = hand_over_receive(request, status);
    } else {
        status_empty(status);
    }
    if (request->kind == REQUEST_COLLECTIVE)
        error = nonblocking_hand_over(request);
    return error;
}

/* A sender that has stopped may send something else after recovery, so what it sent is not kept. */
bool transfer_comes_again(const struct request *message)
{
    int world = world_rank(message->communicator, message->status.MPI_SOURCE);
    struct piggyback piggyback = piggyback_read(message->row, world);
    return piggyback.crossing == CROSSING_INTRA && !piggyback.sender_stopped;
}

/* One of which an earlier receive could have taken the message is left out where that is: in
 * recovery the earlier one may take another, and a later one of the same sender would overtake what
 * this one is bound to. The program has seen the message of none that is left out, for ahead_before
 * would have stopped the logging before. */
void requests_log_matched(void)
{
    for (struct request *one = requests_pending(); one; one = one->after) {
        bool open = is_wildcard(one) || one->cancel;
        one->logged = false;
        if (one->kind != REQUEST_RECEIVE || !open || one->outcome || !transfer_is_in(one))
            continue;
        bool cancelled = transfer_is_cancelled(one);
        one->logged =
            cancelled || (has_message(one) && transfer_comes_again(one) && ahead_are_logged(one));
        if (one->logged)
            log_outcome(one, cancelled ? LOG_CANCELLED : LOG_MATCHED);
    }
}
