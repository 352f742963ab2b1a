/* Small jobs whose outcome depends on the schedule, by the first argument:
 *
 *   order      rank 0 takes a message of each other rank, by a wildcard: its result is the order
 *   some       the same by MPI_Irecv of each and MPI_Waitsome
 *   sent       rank 0 sends to each other rank, and takes the sends by MPI_Waitsome: all are
 *              complete at once
 *   poll       rank 0 looks with MPI_Iprobe at most twice before it receives: its result is how
 *              often there was nothing
 *   look       the same with one look
 *   spin       rank 0 asks in turn whether a message of rank 1 is there, and whether one of rank 2,
 *              until it has both: its result is how often it was told no before each of them
 *   tags       rank 0 looks once for the second of two messages of rank 1, by its tag: its result
 *              is whether that was there
 *   each       rank 0 asks once whether it has got a message of each other rank (MPI_Testall)
 *   any        rank 0 asks once which it has got (MPI_Testany)
 *   met        rank 0 asks once whether all have come to a barrier (MPI_Ibarrier)
 *   found      rank 1 makes a file, and each other rank looks whether it is there
 *   synced     rank 1 makes a file of a line and does not sync its folder, rank 0 syncs the folder,
 *              and then notes that the line is committed
 *   race       rank 0 takes any message, then one of rank 1: a deadlock where rank 1's came first
 *   none       each rank sends to the next and receives from the one before, and all meet in
 *              collectives: nothing depends on the schedule
 *   list       rank 0 lists the store while each other rank makes a file there: its result is how
 *              many it has seen
 *   there      each rank makes the folder of the store, which is there: nothing depends on the
 *              schedule
 *   commit     as order, and rank 0 notes that a line is committed, though there is none
 */
#include "faultline.h"

#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_RANKS 8

static int rank, ranks;

static void send_own(void)
{
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

static void take_any(int order[MOST_RANKS])
{
    for (int i = 1; i < ranks; i++)
        MPI_Recv(&order[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* request[i]: of rank i. */
static void wait_some(MPI_Request request[MOST_RANKS], int order[MOST_RANKS])
{
    int index[MOST_RANKS], count, taken = 0;
    for (;;) {
        MPI_Waitsome(ranks - 1, request + 1, &count, index, MPI_STATUSES_IGNORE);
        if (count == MPI_UNDEFINED)
            return;
        for (int i = 0; i < count; i++)
            order[taken++] = index[i] + 10 * count;
    }
}

static void take_some(int order[MOST_RANKS])
{
    MPI_Request request[MOST_RANKS];
    int value[MOST_RANKS];
    for (int i = 1; i < ranks; i++)
        MPI_Irecv(&value[i], 1, MPI_INT, i, 0, MPI_COMM_WORLD, &request[i]);
    wait_some(request, order);
}

static void sent(int order[MOST_RANKS])
{
    MPI_Request request[MOST_RANKS];
    int value;
    if (rank > 0) {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int i = 1; i < ranks; i++)
        MPI_Isend(&rank, 1, MPI_INT, i, 0, MPI_COMM_WORLD, &request[i]);
    wait_some(request, order);
}

static void poll(int order[MOST_RANKS], int looks)
{
    int there = 0;
    for (int i = 0; i < looks && !there; i++) {
        MPI_Iprobe(1, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        order[0] += !there;
    }
    MPI_Recv(&order[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void spin(int order[MOST_RANKS])
{
    MPI_Request request;
    int value, there = 0, done = 0, both = 0;
    MPI_Irecv(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &request);
    while (both < 2) {
        if (!there) {
            MPI_Iprobe(1, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
            both += there;
            order[1] = 10 * order[1] + 1 + there;
        }
        if (!done) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            both += done;
            order[2] = 10 * order[2] + 1 + done;
        }
    }
    MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ask_once(int order[MOST_RANKS], bool for_any)
{
    MPI_Request request[MOST_RANKS];
    int value[MOST_RANKS], index = -1;
    for (int i = 1; i < ranks; i++)
        MPI_Irecv(&value[i], 1, MPI_INT, i, 0, MPI_COMM_WORLD, &request[i]);
    if (for_any)
        MPI_Testany(ranks - 1, request + 1, &index, &order[0], MPI_STATUS_IGNORE);
    else
        MPI_Testall(ranks - 1, request + 1, &order[0], MPI_STATUSES_IGNORE);
    order[1] = index;
    MPI_Waitall(ranks - 1, request + 1, MPI_STATUSES_IGNORE);
}

static void tags(int order[MOST_RANKS])
{
    for (int tag = 0; rank == 1 && tag < 2; tag++)
        MPI_Send(&rank, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Iprobe(1, 1, MPI_COMM_WORLD, &order[0], MPI_STATUS_IGNORE);
    for (int tag = 0; rank == 0 && tag < 2; tag++)
        MPI_Recv(&order[1], 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void meet(int order[MOST_RANKS])
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank == 0)
        MPI_Test(&request, &order[0], MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void find(int order[MOST_RANKS])
{
    struct stat status;
    char path[4096];
    snprintf(path, sizeof path, "%s/1", getenv("FAULTLINE_STORE"));
    if (rank == 1)
        close(open(path, O_CREAT | O_WRONLY, 0600));
    else
        order[0] = stat(path, &status) == 0;
}

static void sync_folder(void)
{
    int folder = open(getenv("FAULTLINE_STORE"), O_RDONLY | O_DIRECTORY);
    fsync(folder);
    close(folder);
}

static void synced(void)
{
    char path[4096];
    faultline_checkpoint(1);
    if (rank == 1) {
        snprintf(path, sizeof path, "%s/1", getenv("FAULTLINE_STORE"));
        close(open(path, O_CREAT | O_WRONLY, 0600));
    } else {
        sync_folder();
    }
    faultline_saved(1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        faultline_commit(1);
}

static void race(void)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void none(int order[MOST_RANKS])
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &order[0], 1, MPI_INT, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &order[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&order[1], 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&rank, &order[2], 1, MPI_INT, MPI_MAX, ranks - 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void list(int order[MOST_RANKS])
{
    const char *store = getenv("FAULTLINE_STORE");
    char path[4096];
    if (rank > 0) {
        snprintf(path, sizeof path, "%s/%d", store, rank);
        close(open(path, O_CREAT | O_WRONLY, 0600));
        return;
    }
    DIR *folder = opendir(store);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        order[0] += entry->d_name[0] != '.';
    closedir(folder);
}

int main(int argc, char **argv)
{
    int order[MOST_RANKS] = {0};
    const char *what = argc > 1 ? argv[1] : "order";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(what, "none") == 0)
        none(order);
    else if (strcmp(what, "list") == 0)
        list(order);
    else if (strcmp(what, "tags") == 0)
        tags(order);
    else if (strcmp(what, "met") == 0)
        meet(order);
    else if (strcmp(what, "found") == 0)
        find(order);
    else if (strcmp(what, "synced") == 0)
        synced();
    else if (strcmp(what, "there") == 0)
        mkdir(getenv("FAULTLINE_STORE"), 0700);
    else if (strcmp(what, "sent") == 0)
        sent(order);
    else if (rank > 0)
        send_own();
    else if (strcmp(what, "order") == 0 || strcmp(what, "commit") == 0)
        take_any(order);
    else if (strcmp(what, "spin") == 0)
        spin(order);
    else if (strcmp(what, "some") == 0)
        take_some(order);
    else if (strcmp(what, "each") == 0 || strcmp(what, "any") == 0)
        ask_once(order, strcmp(what, "any") == 0);
    else if (strcmp(what, "poll") == 0)
        poll(order, 2);
    else if (strcmp(what, "look") == 0)
        poll(order, 1);
    else
        race();
    if (strcmp(what, "commit") == 0 && rank == 0)
        faultline_commit(1);
    faultline_result("order", order, sizeof order);
    MPI_Finalize();
    return 0;
}
