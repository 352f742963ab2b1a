/* See bits.h. */
#include "c3/collectives/bits.h"

#include <stdlib.h>
#include <string.h>

enum { LOGGING = 1, COLOR = 2 };

static enum { SEPARATE, PIGGYBACK, AUTO } way;

void bits_choose(void)
{
    const char *text = getenv("C3_COLLECTIVE_BITS");
    if (!text || !*text || strcmp(text, "auto") == 0)
        way = AUTO;
    else if (strcmp(text, "separate") == 0)
        way = SEPARATE;
    else if (strcmp(text, "piggyback") == 0)
        way = PIGGYBACK;
    else
        die("C3_COLLECTIVE_BITS=%s; accepted: separate, piggyback, auto", text);
}

bool bits_ride_on(uint64_t bytes)
{
    return way == PIGGYBACK || (way == AUTO && bytes <= BITS_AUTO_BYTES);
}

bool bits_ride_always(void)
{
    return way == PIGGYBACK;
}

bits bits_own(void)
{
    return (bits)((self.epoch & 1 ? COLOR : 0) | (self.logging ? LOGGING : 0));
}

/* Epochs differ by at most one, so another colour means the epoch before or the one to come; while
 * this rank logs nobody can be an epoch ahead, while it does not nobody can be one behind. */
struct bits_stand bits_read(bits other)
{
    bool same = (other & COLOR) == (bits_own() & COLOR);
    return (struct bits_stand){
        .crossing = same           ? CROSSING_INTRA
                    : self.logging ? CROSSING_LATE
                                   : CROSSING_EARLY,
        .stopped = self.logging && same && !(other & LOGGING),
    };
}

int bits_broadcast(struct handle *communicator, int root, bits *one)
{
    if (communicator->rank == root)
        *one = bits_own();
    if (communicator->size == 1)
        return MPI_SUCCESS;
    return PMPI_Bcast(one, 1, MPI_UNSIGNED_CHAR, root, communicator->hidden);
}

int bits_gather(struct handle *communicator, int root, bits *all)
{
    bits own = bits_own();
    if (communicator->size == 1) {
        all[0] = own;
        return MPI_SUCCESS;
    }
    return PMPI_Gather(&own, 1, MPI_UNSIGNED_CHAR, all, 1, MPI_UNSIGNED_CHAR, root,
                       communicator->hidden);
}

int bits_allgather(struct handle *communicator, bits *all)
{
    bits own = bits_own();
    if (communicator->size == 1) {
        all[0] = own;
        return MPI_SUCCESS;
    }
    return PMPI_Allgather(&own, 1, MPI_UNSIGNED_CHAR, all, 1, MPI_UNSIGNED_CHAR,
                          communicator->hidden);
}
