/* See control.h. */
#include "common/job/control.h"

#include "common/job/job.h"

#include <stdio.h>
#include <stdlib.h>

#define PHASE_BYTES 64
#define WORDS 2 /* of a message: line and value; wire.lua reads the first */

/* A message on its way out; done ones are used again. */
struct sending {
    struct sending *following;
    MPI_Request request;
    uint64_t words[WORDS];
};

static const struct line_store *phases;
static const char *const *kind_name;
static int kind_count;
static MPI_Comm comm = MPI_COMM_NULL;
static struct sending *sendings;
static uint64_t arriving[WORDS];
static MPI_Request arrival = MPI_REQUEST_NULL; /* always posted between open and close */
static int *sent_to;                           /* messages, by process */
static int received;

/* What a process sends to itself: MPICH 4.0.2 may give a wildcard receive of a communicator of one
 * process what its own collective calls send. */
static struct {
    struct control_message *row;
    size_t next, count, room;
} own;

const char *control_name(int kind)
{
    return kind > 0 && kind < kind_count ? kind_name[kind] : "unknown";
}

MPI_Comm control_comm(void)
{
    return comm;
}

static void post(void)
{
    if (job.processes > 1)
        PMPI_Irecv(arriving, WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &arrival);
}

void control_open(const struct line_store *store, const char *const *names, int kinds)
{
    phases = store;
    kind_name = names;
    kind_count = kinds;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sent_to = memory((size_t)job.processes, sizeof *sent_to);
    received = 0;
    post();
}

static struct sending *unused(void)
{
    for (struct sending *one = sendings; one; one = one->following) {
        int done = one->request == MPI_REQUEST_NULL;
        if (!done)
            PMPI_Test(&one->request, &done, MPI_STATUS_IGNORE);
        if (done)
            return one;
    }
    struct sending *made = memory(1, sizeof *made);
    *made = (struct sending){.following = sendings, .request = MPI_REQUEST_NULL};
    sendings = made;
    return made;
}

static void named_phase(const char *moment, int kind)
{
    char name[PHASE_BYTES];
    snprintf(name, sizeof name, "%s-%s", moment, control_name(kind));
    line_phase(phases, name);
}

static void keep_own(const struct control_message *message)
{
    if (own.count == own.room) {
        own.room = own.room ? 2 * own.room : 8;
        own.row = larger(own.row, own.room * sizeof *own.row);
    }
    own.row[own.count++] = *message;
}

static bool take_own(struct control_message *message)
{
    if (own.next == own.count)
        return false;
    *message = own.row[own.next++];
    if (own.next == own.count)
        own.next = own.count = 0;
    return true;
}

void control_send(int kind, int process, uint64_t line, uint64_t value)
{
    named_phase("before-send", kind);
    if (process == job.process) {
        keep_own(&(struct control_message){kind, process, line, value});
    } else {
        struct sending *one = unused();
        one->words[0] = line;
        one->words[1] = value;
        sent_to[process]++;
        PMPI_Isend(one->words, WORDS, MPI_UINT64_T, process, kind, comm, &one->request);
    }
    named_phase("after-send", kind);
}

void control_send_all(int kind, uint64_t line, uint64_t value)
{
    for (int process = 0; process < job.processes; process++)
        control_send(kind, process, line, value);
}

static bool next_message(struct control_message *message)
{
    int there = 0;
    MPI_Status status;
    if (take_own(message))
        return true;
    if (arrival == MPI_REQUEST_NULL)
        return false;
    PMPI_Test(&arrival, &there, &status);
    if (!there)
        return false;
    *message =
        (struct control_message){status.MPI_TAG, status.MPI_SOURCE, arriving[0], arriving[1]};
    received++;
    post();
    return true;
}

void control_take_all(void (*take)(const struct control_message *message))
{
    struct control_message message;
    while (next_message(&message)) {
        named_phase("before-receive", message.kind);
        take(&message);
        named_phase("after-receive", message.kind);
    }
}

static void finish_sending(void)
{
    while (sendings) {
        struct sending *one = sendings;
        sendings = one->following;
        PMPI_Wait(&one->request, MPI_STATUS_IGNORE);
        free(one);
    }
}

/* What is still under way belongs to a line that was given up. */
void control_close(void)
{
    int *to_me = memory((size_t)job.processes, sizeof *to_me);
    struct control_message dropped;
    PMPI_Alltoall(sent_to, 1, MPI_INT, to_me, 1, MPI_INT, comm);
    int expected = 0;
    for (int process = 0; process < job.processes; process++)
        expected += to_me[process];
    while (received < expected)
        next_message(&dropped);
    finish_sending();
    if (arrival != MPI_REQUEST_NULL)
        PMPI_Cancel(&arrival);
    PMPI_Wait(&arrival, MPI_STATUS_IGNORE);
    free(to_me);
    free(sent_to);
    free(own.row);
    PMPI_Comm_free(&comm);
}
