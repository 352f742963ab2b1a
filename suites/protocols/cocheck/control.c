/* See control.h. */
#include "cocheck/control.h"

#include <stdio.h>
#include <stdlib.h>

#define PHASE_BYTES 64
#define WORDS 2 /* of a message: line and value; wire.lua reads the first */
#define PAIR_BITS 32

/* A message on its way out; done ones are used again. */
struct sending {
    struct sending *following;
    MPI_Request request;
    uint64_t words[WORDS];
};

static MPI_Comm comm = MPI_COMM_NULL;
static struct sending *sendings;
static uint64_t arriving[WORDS];
static MPI_Request arrival = MPI_REQUEST_NULL; /* always posted between open and close */
static int *sent_to;                           /* messages, by process */
static int received;

/* What a process tells itself does not go through the library: MPICH 4.0.2 may give a wildcard
 * receive of a communicator of one process what its own collective calls send. */
static struct {
    struct control_message *row;
    size_t next, count, room;
} own;

const char *control_name(enum control_kind kind)
{
    static const char *const names[CONTROL_KINDS] = {
        [CONTROL_REQUEST] = "request",   [CONTROL_NOTIFICATION] = "notification",
        [CONTROL_SAVED] = "saved",       [CONTROL_ADDRESS] = "address",
        [CONTROL_MAPPING] = "mapping",   [CONTROL_RESUME] = "resume",
        [CONTROL_FINISHED] = "finished", [CONTROL_END] = "end",
    };
    return kind > 0 && kind < CONTROL_KINDS ? names[kind] : "unknown";
}

MPI_Comm control_comm(void)
{
    return comm;
}

static void post(void)
{
    if (self.processes > 1)
        PMPI_Irecv(arriving, WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &arrival);
}

void control_open(void)
{
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    sent_to = memory((size_t)self.processes, sizeof *sent_to);
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

static void keep_own(const struct control_message *message)
{
    if (own.count == own.room) {
        own.room = own.room ? 2 * own.room : 8;
        own.row = realloc(own.row, own.room * sizeof *own.row);
        if (!own.row)
            die("out of memory for %zu control messages", own.room);
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

void control_send(enum control_kind kind, int process, uint64_t line, uint64_t value)
{
    named_phase("before-send", kind);
    if (process == self.process) {
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

void control_send_all(enum control_kind kind, uint64_t line, uint64_t value)
{
    for (int process = 0; process < self.processes; process++)
        control_send(kind, process, line, value);
}

bool control_take(struct control_message *message)
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
    *message = (struct control_message){.kind = (enum control_kind)status.MPI_TAG,
                                        .source = status.MPI_SOURCE,
                                        .line = arriving[0],
                                        .value = arriving[1]};
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

void control_close(void)
{
    int *to_me = memory((size_t)self.processes, sizeof *to_me);
    struct control_message dropped;
    PMPI_Alltoall(sent_to, 1, MPI_INT, to_me, 1, MPI_INT, comm);
    int expected = 0;
    for (int process = 0; process < self.processes; process++)
        expected += to_me[process];
    while (received < expected)
        control_take(&dropped);
    finish_sending();
    if (arrival != MPI_REQUEST_NULL)
        PMPI_Cancel(&arrival);
    PMPI_Wait(&arrival, MPI_STATUS_IGNORE);
    free(to_me);
    free(sent_to);
    free(own.row);
    PMPI_Comm_free(&comm);
}

uint64_t control_pair(int first, int second)
{
    return (uint64_t)(uint32_t)first << PAIR_BITS | (uint32_t)second;
}

int control_first(uint64_t pair)
{
    return (int)(pair >> PAIR_BITS);
}

int control_second(uint64_t pair)
{
    return (int)(uint32_t)pair;
}
