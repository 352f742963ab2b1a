/* See post.h. */
#include "common/newcomers/post.h"

#include "common/job/job.h"
#include "faultline_lives.h"

#include <stdlib.h>

/* What the library is still sending. */
struct outgoing {
    struct outgoing *next;
    MPI_Request request;
    int process;
    struct bytes bytes;
};

static struct {
    int processes;
    bool *dead; /* by process */
    int deaths;
    struct outgoing *first;
} post;

/* --- who has died ----------------------------------------------------------------------------- */

bool post_is_dead(int process)
{
    return post.dead[process];
}

void post_died(int process)
{
    post.dead[process] = true;
}

int post_deaths(void)
{
    return post.deaths;
}

static void hear_of_deaths(void)
{
    int count = faultline_deaths(NULL, 0);
    if (count == post.deaths)
        return;
    int *dead = memory((size_t)count, sizeof *dead);
    faultline_deaths(dead, count);
    for (post.deaths = 0; post.deaths < count; post.deaths++)
        if (dead[post.deaths] < post.processes)
            post.dead[dead[post.deaths]] = true;
    free(dead);
}

/* --- out -------------------------------------------------------------------------------------- */

void post_send(enum tag tag, int process, struct bytes bytes)
{
    struct outgoing *one = memory(1, sizeof *one);
    if (bytes.failed)
        die("out of memory for a message to process %d", process);
    *one = (struct outgoing){.next = post.first, .process = process, .bytes = bytes};
    if (post_is_dead(process) ||
        PMPI_Isend(bytes.data, (int)bytes.size, MPI_BYTE, process, (int)tag, MPI_COMM_WORLD,
                   &one->request) != MPI_SUCCESS) {
        bytes_release(&one->bytes);
        free(one);
        return;
    }
    post.first = one;
}

/* True: nothing is on its way out but to the dead. What the library sends to them it may go on
 * sending for ever, so the bytes stay. */
static bool look_after_sent(void)
{
    bool all = true;
    for (struct outgoing **link = &post.first; *link;) {
        struct outgoing *one = *link;
        int done = 0;
        if (PMPI_Test(&one->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
            all = all && post_is_dead(one->process);
            link = &one->next;
            continue;
        }
        *link = one->next;
        bytes_release(&one->bytes);
        free(one);
    }
    return all;
}

void post_look(void)
{
    hear_of_deaths();
    look_after_sent();
}

/* --- in --------------------------------------------------------------------------------------- */

/* Where the library knows of deaths it says so until they are acknowledged. */
static bool is_there(int process, enum tag tag, MPI_Status *status)
{
    int there = 0;
    if (PMPI_Iprobe(process, (int)tag, MPI_COMM_WORLD, &there, status) == MPI_SUCCESS)
        return there;
    PMPIX_Comm_failure_ack(MPI_COMM_WORLD);
    return false;
}

/* False: its sender has died, and nothing more of it comes. The library may still write to the
 * bytes then, so they stay. */
static bool receive(char *bytes, int size, const MPI_Status *status)
{
    MPI_Request request;
    int done = 0;
    if (PMPI_Irecv(bytes, size, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD,
                   &request) != MPI_SUCCESS)
        return false;
    while (!done) {
        if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (!done && post_is_dead(status->MPI_SOURCE))
            return false;
        if (!done)
            hear_of_deaths();
    }
    return true;
}

bool post_take(int process, enum tag tag, struct bytes *in)
{
    MPI_Status status;
    int size;
    if (!is_there(process, tag, &status))
        return false;
    PMPI_Get_count(&status, MPI_BYTE, &size);
    char *bytes = memory(1, (size_t)size);
    if (!receive(bytes, size, &status))
        return false;
    bytes_put(in, bytes, (size_t)size);
    free(bytes);
    return true;
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* UCX maps the memory of another process when the first message of that one comes. If that one is
 * dead by then it fails, and no message comes any more of those who live either. */
static void meet(void)
{
    for (int process = 0; process < job.processes; process++) {
        struct bytes hello = {0};
        bytes_put_number(&hello, 0);
        if (process != job.process)
            post_send(TAG_HERE, process, hello);
        else
            bytes_release(&hello);
    }
    for (int process = 0; process < job.processes; process++) {
        struct bytes in = {0};
        while (process != job.process && !post_is_dead(process) &&
               !post_take(process, TAG_HERE, &in))
            post_look();
        bytes_release(&in);
    }
}

void post_open(void)
{
    post.processes = job.processes;
    post.dead = memory((size_t)job.processes, sizeof *post.dead);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    meet();
}

void post_close(void)
{
    while (!look_after_sent())
        hear_of_deaths();
    free(post.dead);
    post.dead = NULL;
}
