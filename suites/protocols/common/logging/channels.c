/* See channels.h. */
#include "common/logging/channels.h"

#include "common/logging/logger.h"

#include <limits.h>
#include <stdlib.h>

struct outgoing {
    struct outgoing *next;
    MPI_Request request;
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
    struct letter_bytes *bytes = memory(1, sizeof *bytes + size);
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
    if (newest != NOBODY)
        channels_since()[newest] = channels.count;
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
    if (bytes->size > INT_MAX)
        die("a message of %zu bytes; accepted: less than 2 GiB", bytes->size);
    if (PMPI_Isend(bytes->data, (int)bytes->size, MPI_BYTE, to, kind, between(self.rank, to),
                   &one->request) != MPI_SUCCESS) {
        free(one);
        return;
    }
    one->bytes = letter_bytes_hold(bytes);
    one->next = channels.first;
    channels.first = one;
}

/* A send to a process that has died is over, too. */
void channels_look_after_sent(void)
{
    for (struct outgoing **link = &channels.first; *link;) {
        struct outgoing *one = *link;
        int done = 0;
        if (PMPI_Test(&one->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        letter_bytes_drop(one->bytes);
        free(one);
    }
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
    PMPI_Mrecv(bytes->data, size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return bytes;
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
    while (channels.first)
        channels_look_after_sent();
    for (int i = 0; i < channels.count; i++)
        if (channels.comm[i] != MPI_COMM_NULL)
            PMPI_Comm_free(&channels.comm[i]);
    free(channels.comm);
    free(channels.since);
    channels.comm = NULL;
    channels.since = NULL;
    channels.count = 0;
}
