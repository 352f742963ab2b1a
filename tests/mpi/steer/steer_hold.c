/* A message of every kind of send while it is held, for 2 ranks: steer_hold KIND; one of no bytes:
 * steer_hold KIND empty; for 3 ranks, over an intercommunicator: steer_hold KIND across. Rank 0
 * sends it and says so on another communicator (which a blocking synchronous send cannot do before
 * it is received). Rank 1 looks for it, in vain while it is held (phase "unseen"), says that it has
 * looked (phase "looked", which the scenario takes for the release), and receives it. Meanwhile
 * rank 0 goes on, into a receive of what rank 1 sends only then: if that waited inside the MPI
 * library, the job would hang. What is sent after the held message arrives after it, whatever its
 * tag. */
#include <faultline.h>
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "mpi/expect.h"

#define WORDS 300
#define LOOKS 200
#define BEHIND 5

enum { TAG_HELD = 1, TAG_ASIDE, TAG_BACK };

static int rank, words = WORDS;
static MPI_Comm world = MPI_COMM_WORLD, other;
static char attached[2 * WORDS * sizeof(int) + 4 * MPI_BSEND_OVERHEAD];
static MPI_Request request = MPI_REQUEST_NULL;

static void fill(int *data, int what)
{
    for (int i = 0; i < WORDS; i++)
        data[i] = what * 1009 + i;
}

static int good(const int *data, int what)
{
    for (int i = 0; i < WORDS; i++)
        if (data[i] != what * 1009 + i)
            return 0;
    return 1;
}

/* Its call ends when the message has been received. */
static int is_late(const char *name)
{
    return strcmp(name, "ssend") == 0;
}

/* --- rank 0 ----------------------------------------------------------------------------------- */

struct kind {
    const char *name;
    int (*blocking)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*starting)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int persistent;
    int synchronous;
};

static const struct kind kinds[] = {
    {"send", MPI_Send, NULL, 0, 0},
    {"bsend", MPI_Bsend, NULL, 0, 0},
    {"rsend", MPI_Rsend, NULL, 0, 0},
    {"ssend", MPI_Ssend, NULL, 0, 1},
    {"isend", NULL, MPI_Isend, 0, 0},
    {"ibsend", NULL, MPI_Ibsend, 0, 0},
    {"irsend", NULL, MPI_Irsend, 0, 0},
    {"issend", NULL, MPI_Issend, 0, 1},
    {"send_init", NULL, MPI_Send_init, 1, 0},
    {"bsend_init", NULL, MPI_Bsend_init, 1, 0},
    {"rsend_init", NULL, MPI_Rsend_init, 1, 0},
    {"ssend_init", NULL, MPI_Ssend_init, 1, 1},
};

static const struct kind *find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* The buffer is spoilt as soon as MPI gives it back. */
static void send_held(const struct kind *kind, int *data)
{
    int flag = 0;
    if (kind->blocking)
        kind->blocking(data, words, MPI_INT, 1, TAG_HELD, world);
    else
        kind->starting(data, words, MPI_INT, 1, TAG_HELD, world, &request);
    if (kind->persistent)
        MPI_Start(&request);
    if (kind->blocking) {
        memset(data, 0, WORDS * sizeof *data);
        return;
    }
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (kind->synchronous)
        expect(!flag); /* rank 1 waits to be told of it */
    else if (!flag)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!kind->synchronous)
        memset(data, 0, WORDS * sizeof *data);
}

static void sender(const char *name)
{
    int data[WORDS], back[WORDS], aside = 7;
    const struct kind *kind = find(name);
    fill(data, 1);
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Barrier(world); /* the receive for a ready send is posted */
    if (kind)
        send_held(kind, data);
    else if (strcmp(name, "sendrecv") == 0)
        MPI_Sendrecv(data, WORDS, MPI_INT, 1, TAG_HELD, back, WORDS, MPI_INT, 1, TAG_ASIDE, world,
                     MPI_STATUS_IGNORE);
    else if (strcmp(name, "sendrecv_replace") == 0)
        MPI_Sendrecv_replace(data, words, MPI_INT, 1, TAG_HELD, 1, TAG_ASIDE, world,
                             MPI_STATUS_IGNORE);
    else if (strcmp(name, "isendrecv") == 0)
        MPI_Isendrecv(data, WORDS, MPI_INT, 1, TAG_HELD, back, WORDS, MPI_INT, 1, TAG_ASIDE, world,
                      &request);
    else
        MPI_Isendrecv_replace(data, WORDS, MPI_INT, 1, TAG_HELD, 1, TAG_ASIDE, world, &request);
    if (!kind && request != MPI_REQUEST_NULL)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!is_late(name))
        MPI_Send(&aside, 1, MPI_INT, 1, TAG_ASIDE, other);
    for (int i = 0; i < BEHIND; i++) /* other tags too: nothing overtakes */
        MPI_Send(&i, 1, MPI_INT, 1, TAG_HELD + 10 * i, world);
    /* in each of these the held message has to go out */
    MPI_Recv(back, WORDS, MPI_INT, 1, TAG_BACK, world, MPI_STATUS_IGNORE);
    expect(good(back, 2));
    if (request != MPI_REQUEST_NULL && !kind->persistent)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (kind && kind->persistent) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(request != MPI_REQUEST_NULL);
        fill(data, 3);
        MPI_Start(&request);
        MPI_Waitany(1, &request, &aside, MPI_STATUS_IGNORE);
        expect(aside == 0);
        MPI_Request_free(&request);
    }
    int bytes;
    void *detached;
    MPI_Buffer_detach(&detached, &bytes);
}

/* --- rank 1 ----------------------------------------------------------------------------------- */

/* What is there of it: to be probed, or in the receive that was posted for a ready send. */
static int is_there(MPI_Request posted)
{
    int flag = 0;
    MPI_Iprobe(0, MPI_ANY_TAG, world, &flag, MPI_STATUS_IGNORE);
    if (!flag && posted != MPI_REQUEST_NULL)
        MPI_Request_get_status(posted, &flag, MPI_STATUS_IGNORE);
    return flag;
}

static void look(MPI_Request posted)
{
    int there = 0;
    for (int i = 0; i < LOOKS && !there; i++)
        there = is_there(posted);
    if (!there)
        faultline_phase("unseen");
    do
        faultline_phase("looked");
    while (!is_there(posted));
}

static void receiver(const char *name)
{
    int data[WORDS], number;
    int ready = strstr(name, "rsend") != NULL;
    MPI_Status status;
    MPI_Request posted = MPI_REQUEST_NULL;
    memset(data, 0, sizeof data);
    if (ready)
        MPI_Irecv(data, WORDS, MPI_INT, 0, TAG_HELD, world, &posted);
    MPI_Barrier(world);
    if (strstr(name, "recv")) { /* the other half of an exchange */
        fill(data, 4);
        MPI_Send(data, words, MPI_INT, 0, TAG_ASIDE, world);
    }
    if (!is_late(name))
        MPI_Recv(&number, 1, MPI_INT, 0, TAG_ASIDE, other, MPI_STATUS_IGNORE);
    look(posted);
    if (ready)
        MPI_Wait(&posted, &status);
    else
        MPI_Recv(data, WORDS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    expect((words == 0 || good(data, 1)) && status.MPI_TAG == TAG_HELD && status.MPI_SOURCE == 0);
    for (int i = 0; i < BEHIND; i++) {
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
        expect(number == i && status.MPI_TAG == TAG_HELD + 10 * i);
    }
    fill(data, 2);
    MPI_Send(data, WORDS, MPI_INT, 0, TAG_BACK, world);
    if (strstr(name, "_init")) {
        MPI_Recv(data, WORDS, MPI_INT, 0, TAG_HELD, world, &status);
        expect(good(data, 3));
    }
}

/* Between rank 0 and the others. Rank 1 is the last of them, so that both know each other by the
 * same numbers as ever. */
static MPI_Comm across(void)
{
    MPI_Comm half, made;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, -rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 2 : 0, 9, &made);
    MPI_Comm_free(&half);
    return made;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const char *name = argc > 1 ? argv[1] : "send";
    int is_across = argc > 2 && strcmp(argv[2], "across") == 0;
    if (is_across)
        world = across();
    else if (argc > 2)
        words = 0;
    if (rank == 0)
        sender(name);
    else if (rank == 1)
        receiver(name);
    else
        MPI_Barrier(world);
    if (is_across)
        MPI_Comm_free(&world);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return expect_end(name, rank);
}
