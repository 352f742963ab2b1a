/* The probes. What is there when is a non-deterministic answer; and that something is there tells
 * the program what its sender did, so while others may have stopped logging a probe looks at the
 * piggyback: the message is taken in and waits for its receive (arrived.c). */
#include "c3/calls.h"
#include "c3/line.h"
#include "c3/replay.h"

#include <sched.h>

#define SPINS 256 /* polls before the processor is offered to others */

/* A message, as `request`, whose handle the program does not have yet. */
static struct request *new_message(struct handle *communicator, const MPI_Status *status)
{
    struct request *message = request_new(REQUEST_MESSAGE);
    message->communicator = communicator;
    message->peer = status->MPI_SOURCE;
    message->tag = status->MPI_TAG;
    message->status = *status;
    message->place = self.next_place;
    return message;
}

static uint64_t bytes_of(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    return (uint64_t)bytes;
}

static bool must_look(void)
{
    return self.logging && line_is_ready();
}

/* What the library has and the program may know of. */
static int in_turn(struct handle *communicator, int source, int tag, int *there, MPI_Status *status)
{
    int error = PMPI_Iprobe(source, tag, communicator->real, there, status);
    if (error == MPI_SUCCESS && *there)
        *there = ahead_is_over(communicator, status->MPI_SOURCE, status->MPI_TAG, self.next_place);
    return error;
}

/* Was a message taken in that source and tag match? *message: the first one; NULL: the program may
 * not know of it yet. */
static bool find_arrived(struct handle *communicator, int source, int tag, struct request **message)
{
    struct request *one = arrived_find(communicator, source, tag);
    *message = NULL;
    if (!one)
        return false;
    one->place = self.next_place;
    if (ahead_is_over(communicator, one->status.MPI_SOURCE, one->status.MPI_TAG, one->place)) {
        transfer_before(one);
        *message = one;
    }
    return true;
}

/* Takes in the message that the library has for this source and tag, and before it all older ones
 * of the same sender: a receive with any tag must get the oldest first. */
static int take_in(struct handle *communicator, int source, int tag)
{
    int there = 0;
    MPI_Message library;
    MPI_Status found, status;
    int error = in_turn(communicator, source, tag, &there, &found);
    for (bool last = false; error == MPI_SUCCESS && there && !last;) {
        error = PMPI_Improbe(found.MPI_SOURCE, MPI_ANY_TAG, communicator->real, &there, &library,
                             &status);
        if (error != MPI_SUCCESS || !there)
            break;
        struct request *message = new_message(communicator, &status);
        transfer_take_in(message, library, &status);
        arrived_add(message);
        last = status.MPI_TAG == found.MPI_TAG;
    }
    return error;
}

/* What the library has, as *message: removed from its queue, and in a row where the piggyback must
 * be looked at. */
static int improbe(struct handle *communicator, int source, int tag, struct request **message)
{
    int there = 0;
    MPI_Message library;
    MPI_Status status;
    *message = NULL;
    int error = in_turn(communicator, source, tag, &there, &status);
    if (error != MPI_SUCCESS || !there)
        return error;
    error = PMPI_Improbe(status.MPI_SOURCE, status.MPI_TAG, communicator->real, &there, &library,
                         &status);
    if (error != MPI_SUCCESS || !there)
        return error;
    *message = new_message(communicator, &status);
    if (must_look()) {
        transfer_take_in(*message, library, &status);
        transfer_before(*message);
    } else {
        (*message)->message = library;
    }
    return error;
}

static void keep_answer(enum log_kind kind, const MPI_Status *status, bool taken_in)
{
    if (!self.logging)
        return;
    struct log_entry entry = {.kind = kind, .number = 1, .taken_in = taken_in};
    if (status) {
        entry.positive = 1;
        entry.source = status->MPI_SOURCE;
        entry.tag = status->MPI_TAG;
        entry.bytes = bytes_of(status);
    }
    log_append(&entry, NULL);
}

static void copy_status(MPI_Status *status, const MPI_Status *found)
{
    status_fill(status, found->MPI_SOURCE, found->MPI_TAG, bytes_of(found), false);
}

/* --- without taking the message --------------------------------------------------------------- */

/* Is there one? Then *found describes it. */
static int look(struct handle *communicator, int source, int tag, bool *there, MPI_Status *found)
{
    int flag = 0, error = MPI_SUCCESS;
    struct request *message;
    bool arrived = find_arrived(communicator, source, tag, &message);
    if (!arrived && must_look()) {
        error = take_in(communicator, source, tag);
        if (error != MPI_SUCCESS)
            return error;
        arrived = find_arrived(communicator, source, tag, &message);
    }
    *there = message != NULL;
    if (message)
        transfer_describe(message, found);
    if (arrived)
        return MPI_SUCCESS;
    error = in_turn(communicator, source, tag, &flag, found);
    if (error != MPI_SUCCESS || !flag)
        return error;
    if (must_look())
        return look(communicator, source, tag, there, found);
    *there = true;
    struct request described = {.status = *found};
    transfer_describe(&described, found);
    return MPI_SUCCESS;
}

/* In recovery what it said then. false: there is no answer to give again. */
static bool replayed(enum log_kind kind, int *flag, MPI_Status *found, bool *taken_in)
{
    struct log_entry entry;
    if (!replay_answer(kind, &entry, NULL))
        return false;
    *flag = entry.positive;
    *taken_in = entry.taken_in != 0;
    if (entry.positive)
        status_fill(found, entry.source, entry.tag, entry.bytes, false);
    return true;
}

/* Taking a message in completes its synchronous send. The sender's log may say that it was
 * complete, and then the sender waits until this rank has taken it in again. */
static int take_in_again(struct handle *communicator, const MPI_Status *found)
{
    int error = MPI_SUCCESS;
    unsigned spins = 0;
    while (error == MPI_SUCCESS && !arrived_find(communicator, found->MPI_SOURCE, found->MPI_TAG)) {
        error = take_in(communicator, found->MPI_SOURCE, found->MPI_TAG);
        line_progress();
        if (spins++ > SPINS)
            sched_yield();
    }
    return error;
}

/* Is the message that was found one that was taken in, and that will be sent again? */
static bool is_taken_in(const struct handle *communicator, const MPI_Status *found)
{
    const struct request *message = arrived_find(communicator, found->MPI_SOURCE, found->MPI_TAG);
    return message && transfer_comes_again(message);
}

static int probe(enum log_kind kind, bool wait, int source, int tag, MPI_Comm comm, int *flag,
                 MPI_Status *status)
{
    MPI_Status found;
    bool there = false, taken_in = false;
    int error = MPI_SUCCESS;
    struct handle *communicator = call_begin(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    *flag = 1;
    if (source == MPI_PROC_NULL) {
        status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        return MPI_SUCCESS;
    }
    error = call_check_sought(communicator, source, tag);
    if (error != MPI_SUCCESS)
        return error;
    bool given = replayed(kind, flag, &found, &taken_in);
    if (!given)
        wait |= probed_narrow(communicator, &source, &tag);
    for (unsigned spins = 0; !given && !there && error == MPI_SUCCESS; spins++) {
        error = look(communicator, source, tag, &there, &found);
        if (!wait)
            break;
        line_progress();
        if (spins > SPINS)
            sched_yield();
    }
    if (error != MPI_SUCCESS)
        return error;
    if (!given) {
        *flag = there;
        keep_answer(kind, there ? &found : NULL, there && is_taken_in(communicator, &found));
    } else if (*flag) {
        probed_add(communicator, source, tag, found.MPI_SOURCE, found.MPI_TAG);
        if (taken_in)
            error = take_in_again(communicator, &found);
    }
    if (*flag)
        copy_status(status, &found);
    return error;
}

EXPORTED int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return probe(LOG_IPROBE, false, source, tag, comm, flag, status);
}

EXPORTED int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int flag;
    return probe(LOG_PROBE, true, source, tag, comm, &flag, status);
}

/* --- taking it -------------------------------------------------------------------------------- */

/* The program holds it from now on: its place is that of its receive. */
static void publish(struct request *message, MPI_Message *handle)
{
    message->place = self.next_place++;
    request_is_pending(message);
    *handle = (MPI_Message)request_handle(message);
}

static struct request *replayed_message(enum log_kind kind, struct handle *communicator,
                                        bool *given, MPI_Status *found)
{
    int flag = 0;
    bool taken_in;
    *given = replayed(kind, &flag, found, &taken_in);
    return *given && flag ? new_message(communicator, found) : NULL;
}

static int mprobe(enum log_kind kind, bool wait, int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Message *handle, MPI_Status *status)
{
    MPI_Status found;
    bool given;
    int error = MPI_SUCCESS;
    struct handle *communicator = call_begin(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    *flag = 1;
    if (source == MPI_PROC_NULL) {
        *handle = MPI_MESSAGE_NO_PROC;
        status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        return MPI_SUCCESS;
    }
    error = call_check_sought(communicator, source, tag);
    if (error != MPI_SUCCESS)
        return error;
    struct request *message = replayed_message(kind, communicator, &given, &found);
    if (!given)
        wait |= probed_narrow(communicator, &source, &tag);
    for (unsigned spins = 0; !given && !message && error == MPI_SUCCESS; spins++) {
        if (!find_arrived(communicator, source, tag, &message))
            error = improbe(communicator, source, tag, &message);
        else if (message)
            arrived_remove(message);
        if (!wait)
            break;
        line_progress();
        if (spins > SPINS)
            sched_yield();
    }
    if (error != MPI_SUCCESS)
        return error;
    *flag = message != NULL;
    if (message) {
        if (!given)
            transfer_describe(message, &found);
        copy_status(status, &found);
        probed_received(communicator, found.MPI_SOURCE, found.MPI_TAG);
        publish(message, handle);
        if (given)
            transfer_restore_probed(message, bytes_of(&found));
    }
    if (!given)
        keep_answer(kind, message ? &found : NULL, false);
    return MPI_SUCCESS;
}

EXPORTED int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                         MPI_Status *status)
{
    return mprobe(LOG_IMPROBE, false, source, tag, comm, flag, message, status);
}

EXPORTED int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                        MPI_Status *status)
{
    int flag;
    return mprobe(LOG_MPROBE, true, source, tag, comm, &flag, message, status);
}

/* --- receiving what was taken ----------------------------------------------------------------- */

/* An active receive of the message, which is gone; NULL and *error: there is none. */
static struct request *receive_message(void *buffer, int count, MPI_Datatype type,
                                       MPI_Message *handle, int *error)
{
    call_begin_anywhere();
    struct handle *communicator = handles_of(MPI_COMM_WORLD);
    bool nobody = *handle == MPI_MESSAGE_NO_PROC;
    struct request *message = nobody ? NULL : request_of((MPI_Request)*handle);
    if (!nobody && (!message || message->kind != REQUEST_MESSAGE)) {
        *error = call_error(communicator, MPI_ERR_REQUEST);
        return NULL;
    }
    struct arguments arguments = {buffer,
                                  count,
                                  type,
                                  nobody ? MPI_PROC_NULL : message->peer,
                                  nobody ? MPI_ANY_TAG : message->tag,
                                  nobody ? communicator : message->communicator};
    *error = call_check(&arguments);
    if (*error != MPI_SUCCESS)
        return NULL;
    struct request *receive = call_receive(&arguments);
    if (nobody) {
        *error = transfer_receive(receive);
    } else {
        receive->place = message->place;
        request_is_not_pending(message);
        *error = transfer_receive_matched(receive, message);
        request_is_pending(receive);
    }
    *handle = MPI_MESSAGE_NULL;
    return receive;
}

EXPORTED int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
                       MPI_Status *status)
{
    int error;
    struct request *receive = receive_message(buf, count, datatype, message, &error);
    return receive && error == MPI_SUCCESS ? call_complete(receive, status) : error;
}

EXPORTED int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
                        MPI_Request *request)
{
    int error;
    struct request *receive = receive_message(buf, count, datatype, message, &error);
    if (receive && error == MPI_SUCCESS)
        *request = request_handle(receive);
    return error;
}
