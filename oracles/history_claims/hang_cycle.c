/* See hang_cycle.h. A depth-first search in the graph of the stuck ranks, with an edge from each to
 * those that it waits for. state: 0, not visited; 1, on the current path; 2, done, no cycle was
 * found from it. An edge to a rank on the path closes a cycle: the path from that rank on. The
 * first cycle found is enough: it is shown to the user, and does not decide anything. Each rank is
 * entered once; the recursion is at most as deep as there are stuck ranks. */
#include "oracles/history_claims/hang_cycle.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static size_t place_of(const struct hang *hang, int rank)
{
    for (size_t i = 0; i < hang->count; i++)
        if (hang->waits[i].rank == rank)
            return i;
    return hang->count;
}

/* Walks from `at` along the targets; a rank met again closes a cycle. path holds places. */
static size_t walk(const struct hang *hang, size_t at, size_t *path, size_t length, char *state)
{
    path[length++] = at;
    state[at] = 1;
    const struct wait_for *wait = &hang->waits[at];
    for (unsigned i = 0; i < wait->target_count; i++) {
        size_t next = place_of(hang, wait->target[i]);
        if (next == hang->count || state[next] == 2)
            continue;
        if (state[next] == 1) {
            size_t first = 0;
            while (path[first] != next)
                first++;
            memmove(path, path + first, (length - first) * sizeof *path);
            return length - first;
        }
        size_t cycle = walk(hang, next, path, length, state);
        if (cycle > 0)
            return cycle;
    }
    state[at] = 2;
    return 0;
}

/* Moves the ranks of `path` to the front. */
static void put_first(struct hang *hang, const size_t *path, size_t length)
{
    struct wait_for *ordered = memory_new(hang->count, sizeof *ordered);
    size_t used = 0;
    for (size_t i = 0; i < length; i++)
        ordered[used++] = hang->waits[path[i]];
    for (size_t i = 0; i < hang->count; i++) {
        bool in_cycle = false;
        for (size_t j = 0; j < length; j++)
            in_cycle |= path[j] == i;
        if (!in_cycle)
            ordered[used++] = hang->waits[i];
    }
    free(hang->waits);
    hang->waits = ordered;
    hang->cycle = length;
}

void hang_find_cycle(struct hang *hang)
{
    size_t *path = memory_new(hang->count, sizeof *path);
    char *state = memory_new(hang->count, 1);
    size_t length = 0;
    for (size_t i = 0; i < hang->count && length == 0; i++)
        if (state[i] == 0)
            length = walk(hang, i, path, 0, state);
    if (length > 0)
        put_first(hang, path, length);
    free(path);
    free(state);
}
