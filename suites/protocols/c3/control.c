/* See control.h. */
#include "c3/control.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PHASE_BYTES 64

/* As on the wire: wire.lua reads it. */
struct body {
    uint64_t line;
    uint64_t value;
};
#define BODY_WORDS 2

/* A message on its way out; done ones are used again. */
struct sending {
    struct sending *following;
    MPI_Request request;
    struct body body;
};

static MPI_Comm comm = MPI_COMM_NULL;
static struct sending *sendings;
static struct body arriving;
static MPI_Request arrival = MPI_REQUEST_NULL; /* always posted between open and close */
static int *sent_to;                           /* messages, by rank */
static int received;

const char *control_name(enum control_kind kind)
{
    static const char *const names[CONTROL_KINDS] = {
        [CONTROL_PLEASE_CHECKPOINT] = "pleaseCheckpoint",
        [CONTROL_MY_SEND_COUNT] = "mySendCount",
        [CONTROL_READY] = "readyToStopLogging",
        [CONTROL_STOP_LOGGING] = "stopLogging",
        [CONTROL_STOPPED] = "stoppedLogging",
        [CONTROL_REPLAY_OVER] = "replayIsOver",
    };
    return kind > 0 && kind < CONTROL_KINDS ? names[kind] : "unknown";
}

MPI_Comm control_comm(void)
{
    return comm;
}

/* A single rank has nobody to hear from. (MPICH 4.0.2 gives a wildcard receive of a communicator of
 * one rank what its own collective calls send to themselves.) */
static void post(void)
{
    if (self.ranks > 1)
        PMPI_Irecv(&arriving, BODY_WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                   &arrival);
}

void control_open(void)
{
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sent_to = memory((size_t)self.ranks, sizeof *sent_to);
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

static void named_phase(const char *moment, enum control_kind kind)
{
    char name[PHASE_BYTES];
    snprintf(name, sizeof name, "%s-%s", moment, control_name(kind));
    phase(name);
}

void control_send(enum control_kind kind, int to, uint64_t line, uint64_t value)
{
    named_phase("before-send", kind);
    struct sending *one = unused();
    one->body = (struct body){.line = line, .value = value};
    sent_to[to]++;
    PMPI_Isend(&one->body, BODY_WORDS, MPI_UINT64_T, to, kind, comm, &one->request);
    named_phase("after-send", kind);
}

void control_send_others(enum control_kind kind, uint64_t line, uint64_t value)
{
    for (int rank = 0; rank < self.ranks; rank++)
        if (rank != self.rank)
            control_send(kind, rank, line, value);
}

bool control_take(struct control_message *message)
{
    int there = 0;
    MPI_Status status;
    if (arrival == MPI_REQUEST_NULL)
        return false;
    PMPI_Test(&arrival, &there, &status);
    if (!there)
        return false;
    *message = (struct control_message){.kind = (enum control_kind)status.MPI_TAG,
                                        .source = status.MPI_SOURCE,
                                        .line = arriving.line,
                                        .value = arriving.value};
    received++;
    post();
    return true;
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
    int *to_me = memory((size_t)self.ranks, sizeof *to_me);
    struct control_message dropped;
    PMPI_Alltoall(sent_to, 1, MPI_INT, to_me, 1, MPI_INT, comm);
    int expected = 0;
    for (int rank = 0; rank < self.ranks; rank++)
        expected += to_me[rank];
    while (received < expected)
        control_take(&dropped);
    finish_sending();
    if (arrival != MPI_REQUEST_NULL)
        PMPI_Cancel(&arrival);
    PMPI_Wait(&arrival, MPI_STATUS_IGNORE);
    free(to_me);
    free(sent_to);
    PMPI_Comm_free(&comm);
}
