/* See channels.h. */
#include "common/logging/channels.h"

#include "common/logging/teams.h"
#include "common/newcomers/newcomers.h"

#include <limits.h>
#include <stdlib.h>

struct outgoing {
    struct outgoing *next;
    MPI_Request request;
    int process;
    struct letter_bytes *bytes;
};

static struct {
    MPI_Comm *comm; /* by number; MPI_COMM_NULL: of before this process came */
    int count;
    int *since; /* by rank: the first communicator that its process is in */
    struct outgoing *first;
} channels;

struct letter_bytes *letter_bytes_new(size_t size)
{
    struct letter_bytes *bytes = larger(NULL, sizeof *bytes + size);
    bytes->holds = 1;
    bytes->size = size;
    return bytes;
}

struct letter_bytes *letter_bytes_hold(struct letter_bytes *bytes)
{
    bytes->holds++;
    return bytes;
}

void letter_bytes_drop(struct letter_bytes *bytes)
{
    if (--bytes->holds == 0)
        free(bytes);
}

int *channels_since(void)
{
    if (!channels.since)
        channels.since = memory((size_t)self.ranks, sizeof *channels.since);
    return channels.since;
}

int channels_count(void)
{
    return channels.count;
}

void channels_begin_at(int count)
{
    channels.comm = memory((size_t)count, sizeof(MPI_Comm));
    for (int i = 0; i < count; i++)
        channels.comm[i] = MPI_COMM_NULL;
    channels.count = count;
}

void channels_add(MPI_Comm comm, int newest)
{
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    channels.comm = larger(channels.comm, (size_t)(channels.count + 1) * sizeof(MPI_Comm));
    channels.comm[channels.count] = comm;
    for (int i = 0; newest != NOBODY && i < team_count(newest); i++)
        channels_since()[newest + i] = channels.count;
    channels.count++;
}

static MPI_Comm between(int one, int other)
{
    const int *since = channels_since();
    return channels.comm[since[one] > since[other] ? since[one] : since[other]];
}

void channels_send(struct letter_bytes *bytes, int to, int kind)
{
    struct outgoing *one = memory(1, sizeof *one);
    one->process = newcomers_process(to);
    if (bytes->size > INT_MAX)
        die("a message of %zu bytes; accepted: less than 2 GiB", bytes->size);
    if (newcomers_is_dead(one->process) ||
        PMPI_Isend(bytes->data, (int)bytes->size, MPI_BYTE, one->process, kind,
                   between(self.rank, to), &one->request) != MPI_SUCCESS) {
        free(one);
        return;
    }
    one->bytes = letter_bytes_hold(bytes);
    one->next = channels.first;
    channels.first = one;
}

/* True: nothing is on its way out but to the dead: that may be over, or go on for ever. */
bool channels_look_after_sent(void)
{
    bool all = true;
    for (struct outgoing **link = &channels.first; *link;) {
        struct outgoing *one = *link;
        int done = 0;
        if (PMPI_Test(&one->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
            all = all && newcomers_is_dead(one->process);
            link = &one->next;
            continue;
        }
        *link = one->next;
        letter_bytes_drop(one->bytes);
        free(one);
    }
    return all;
}

/* False: who sent it has died meanwhile, and the library may still write to the bytes. */
static bool receive(struct letter_bytes *bytes, MPI_Message *message, int from)
{
    MPI_Request request;
    int done = 0;
    if (newcomers_calls_end())
        return PMPI_Mrecv(bytes->data, (int)bytes->size, MPI_BYTE, message, MPI_STATUS_IGNORE) ==
               MPI_SUCCESS;
    if (PMPI_Imrecv(bytes->data, (int)bytes->size, MPI_BYTE, message, &request) != MPI_SUCCESS)
        return false;
    while (!done) {
        if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            (!done && newcomers_is_dead(from)))
            return false;
        newcomers_look();
    }
    return true;
}

/* What somebody sent before he died may come still; that he is dead is asked elsewhere. */
static struct letter_bytes *take_from(MPI_Comm comm)
{
    int there = 0, size;
    MPI_Message message;
    MPI_Status status;
    if (PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &message, &status) != MPI_SUCCESS) {
        PMPIX_Comm_failure_ack(comm);
        return NULL;
    }
    if (!there)
        return NULL;
    PMPI_Get_count(&status, MPI_BYTE, &size);
    struct letter_bytes *bytes = letter_bytes_new((size_t)size);
    return receive(bytes, &message, status.MPI_SOURCE) ? bytes : NULL;
}

struct letter_bytes *channels_take(void)
{
    struct letter_bytes *bytes = NULL;
    for (int i = 0; i < channels.count && !bytes; i++)
        if (channels.comm[i] != MPI_COMM_NULL)
            bytes = take_from(channels.comm[i]);
    return bytes;
}

void channels_close(void)
{
    while (!channels_look_after_sent())
        newcomers_look();
    for (int i = 0; i < channels.count && newcomers_calls_end(); i++)
        if (channels.comm[i] != MPI_COMM_NULL)
            PMPI_Comm_free(&channels.comm[i]);
    free(channels.comm);
    free(channels.since);
    channels.comm = NULL;
    channels.since = NULL;
    channels.count = 0;
}
