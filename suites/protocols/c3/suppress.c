/* See suppress.h. */
#include "c3/suppress.h"

#include <limits.h>
#include <stdlib.h>

#define FIRST_ROOM 64

static struct {
    struct early *early; /* owned */
    size_t count;
    size_t room;
} list;

void suppress_add(int sender, uint64_t id)
{
    if (list.count == list.room) {
        list.room = list.room ? 2 * list.room : FIRST_ROOM;
        list.early = larger(list.early, list.room * sizeof *list.early);
    }
    list.early[list.count++] = (struct early){.id = id, .sender = sender};
}

void suppress_clear(void)
{
    list.count = 0;
}

const struct early *suppress_list(size_t *count)
{
    *count = list.count;
    return list.early;
}

/* Where each rank's part begins, from how long each is; returns the length of all. */
static int offsets_of(const int *counts, int *offsets)
{
    int64_t all = 0;
    for (int rank = 0; rank < self.ranks; rank++) {
        offsets[rank] = (int)all;
        all += counts[rank];
        if (all > INT_MAX)
            die("more than %d early messages", INT_MAX);
    }
    return (int)all;
}

/* The ids, those for one sender after each other. Owned by the caller. */
static uint64_t *by_sender(const struct early *early, size_t count, const int *offsets)
{
    uint64_t *ids = memory(count, sizeof *ids);
    int *filled = memory((size_t)self.ranks, sizeof *filled);
    for (size_t i = 0; i < count; i++) {
        size_t sender = (size_t)early[i].sender;
        ids[offsets[sender] + filled[sender]++] = early[i].id;
    }
    free(filled);
    return ids;
}

uint64_t *suppress_exchange(MPI_Comm comm, const struct early *early, size_t count,
                            size_t *received)
{
    int *counts = memory(4 * (size_t)self.ranks, sizeof *counts);
    int *offsets = counts + self.ranks, *received_counts = offsets + self.ranks,
        *received_offsets = received_counts + self.ranks;
    for (size_t i = 0; i < count; i++) {
        if (early[i].sender < 0 || early[i].sender >= self.ranks)
            die("the list of early messages names rank %lld of %d", (long long)early[i].sender,
                self.ranks);
        counts[early[i].sender]++;
    }
    offsets_of(counts, offsets);
    uint64_t *ids = by_sender(early, count, offsets);
    PMPI_Alltoall(counts, 1, MPI_INT, received_counts, 1, MPI_INT, comm);
    *received = (size_t)offsets_of(received_counts, received_offsets);
    uint64_t *received_ids = memory(*received, sizeof *received_ids);
    PMPI_Alltoallv(ids, counts, offsets, MPI_UINT64_T, received_ids, received_counts,
                   received_offsets, MPI_UINT64_T, comm);
    free(ids);
    free(counts);
    return received_ids;
}
