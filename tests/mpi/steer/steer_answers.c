/* Calls whose answer the scenario gives: steer_answers CALL ANSWER, for 2 ranks. Rank 1 sends three
 * messages. ANSWER "no3": the call says no three times although all have arrived, then the truth.
 * "yes": it says yes at once although nothing had been sent when it was called. "pick": of all
 * complete it names the last ("any" forms), or the last and the first ("some" forms). */
#include <faultline.h>
#include <mpi.h>

#include <string.h>
#include <unistd.h>

#include "mpi/expect.h"

#define MESSAGES 3

static int rank;
static MPI_Comm world = MPI_COMM_WORLD, other;
static MPI_Request requests[MESSAGES];
static int data[MESSAGES], completed[MESSAGES], asked;

static int is(const char *name, const char *call)
{
    return strcmp(name, call) == 0;
}

static void done(int i, const MPI_Status *status)
{
    expect(i >= 0 && i < MESSAGES && !completed[i] && data[i] == 100 + i);
    expect(status->MPI_TAG == i && status->MPI_SOURCE == 1 && requests[i] == MPI_REQUEST_NULL);
    completed[i] = 1;
}

/* One call; how many messages it completes, -1 for all of a probe's. */
static int ask(const char *name, int *which)
{
    int flag = 0, count = 0, indices[MESSAGES];
    MPI_Status status[MESSAGES];
    MPI_Message message;
    asked++;
    if (is(name, "test")) {
        MPI_Test(&requests[0], &flag, status);
        which[0] = 0;
    } else if (is(name, "testany")) {
        MPI_Testany(MESSAGES, requests, which, &flag, status);
    } else if (is(name, "waitany")) {
        MPI_Waitany(MESSAGES, requests, which, status);
        flag = 1;
    } else if (is(name, "testall")) {
        MPI_Testall(MESSAGES, requests, &flag, status);
        for (int i = 0; flag && i < MESSAGES; i++)
            done(i, &status[i]);
        return flag ? MESSAGES : 0;
    } else if (is(name, "testsome") || is(name, "waitsome")) {
        if (is(name, "testsome"))
            MPI_Testsome(MESSAGES, requests, &count, indices, status);
        else
            MPI_Waitsome(MESSAGES, requests, &count, indices, status);
        for (int i = 0; i < count; i++)
            done(which[i] = indices[i], &status[i]);
        return count;
    } else if (is(name, "iprobe")) {
        MPI_Iprobe(1, 0, world, &flag, MPI_STATUS_IGNORE);
        return flag ? -1 : 0;
    } else {
        MPI_Improbe(MPI_ANY_SOURCE, 0, world, &flag, &message, MPI_STATUS_IGNORE);
        if (flag)
            MPI_Imrecv(&data[0], 1, MPI_INT, &message, &requests[0]);
        return flag ? -1 : 0;
    }
    if (flag)
        done(which[0], &status[0]);
    return flag;
}

/* The call, before what it asks for. */
static int comes_first(const char *answer)
{
    return is(answer, "yes") || is(answer, "late");
}

static void judge(const char *answer, int yes, int count, const int *which)
{
    if (is(answer, "no3"))
        expect(asked != 4 || yes); /* all has arrived long ago */
    if (is(answer, "no3") && asked <= 3)
        expect(!yes);
    if (is(answer, "yes"))
        expect(yes);
    if (is(answer, "pick") && asked == 1 && count == 1)
        expect(which[0] == MESSAGES - 1);
    if (is(answer, "pick") && asked == 1 && count > 1)
        expect(count == 2 && which[0] == MESSAGES - 1 && which[1] == 0);
}

static void receiver(const char *name, const char *answer)
{
    int which[MESSAGES] = {-1, -1, -1}, yes = 0, go = 1;
    int posted = strstr(name, "probe") == NULL;
    for (int i = 0; i < MESSAGES; i++)
        requests[i] = MPI_REQUEST_NULL;
    for (int i = 0; posted && i < MESSAGES; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 1, i, world, &requests[i]);
    MPI_Send(&go, 1, MPI_INT, 1, 0, other);
    if (!comes_first(answer)) /* all have been sent and can be seen */
        MPI_Recv(&go, 1, MPI_INT, 1, 0, other, MPI_STATUS_IGNORE);
    if (!comes_first(answer) && !posted)
        MPI_Probe(1, MESSAGES - 1, world, MPI_STATUS_IGNORE);
    while (!yes) {
        int count = ask(name, which);
        yes = count != 0;
        judge(answer, yes, count, which);
    }
    if (is(name, "iprobe"))
        MPI_Recv(&data[0], 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
    for (int i = 1; !posted && i < MESSAGES; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 1, i, world, &requests[i]);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        expect(data[i] == 100 + i);
}

static void sender(const char *answer, int synchronous)
{
    int go;
    MPI_Recv(&go, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
    if (comes_first(answer))
        usleep(3000); /* so that the call comes first, most of the time; nothing depends on it */
    for (int i = 0; i < MESSAGES; i++) {
        int value = 100 + i;
        if (synchronous)
            MPI_Ssend(&value, 1, MPI_INT, 0, i, world);
        else
            MPI_Send(&value, 1, MPI_INT, 0, i, world);
    }
    if (!comes_first(answer))
        MPI_Send(&go, 1, MPI_INT, 0, 0, other);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_dup(world, &other);
    const char *name = argc > 1 ? argv[1] : "test";
    const char *answer = argc > 2 ? argv[2] : "";
    if (rank == 0)
        receiver(name, answer);
    else
        sender(answer, strstr(name, "probe") == NULL);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return expect_end(name, rank);
}
