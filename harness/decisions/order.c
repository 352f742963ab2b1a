/* See order.h. */
#include "decisions/order.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Where one rank stands when a call begins. */
struct standing {
    struct store_call *over; /* its newest call that is over */
    struct store_call *open; /* the one before it that has begun */
    struct store_call *newest;
    uint32_t count; /* calls that are over */
};

struct ordering {
    int ranks;
    struct standing *standing; /* by rank */
    uint32_t *known; /* by rank and other rank: how many of the other's calls it has waited for */
};

static int by_time(const void *left, const void *right)
{
    const struct store_call *a = left, *b = right;
    if (a->incarnation != b->incarnation)
        return a->incarnation < b->incarnation ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : (a->event > b->event) - 1;
}

static void look_on(struct standing *standing, uint64_t ticks)
{
    while (standing->open != NULL && standing->open->end != 0 && standing->open->end <= ticks) {
        standing->over = standing->open;
        standing->open = standing->open->next;
        standing->count++;
    }
}

static void add_call(struct standing *standing, struct store_call *call)
{
    call->next = NULL;
    if (standing->newest != NULL)
        standing->newest->next = call;
    standing->newest = call;
    if (standing->open == NULL)
        standing->open = call;
}

/* Of all calls that are over, the one that began last: it has waited for all that were over then.
 */
static uint64_t newest_begin(const struct ordering *ordering)
{
    uint64_t newest = 0;
    for (int rank = 0; rank < ordering->ranks; rank++) {
        const struct store_call *over = ordering->standing[rank].over;
        if (over != NULL && over->begin > newest)
            newest = over->begin;
    }
    return newest;
}

static bool order_one(struct ordering *ordering, struct store_call *call,
                      bool (*add)(void *context, const struct store_call *call, int32_t rank,
                                  uint32_t stored),
                      void *context)
{
    for (int rank = 0; rank < ordering->ranks; rank++)
        look_on(&ordering->standing[rank], call->begin);
    uint64_t newest = newest_begin(ordering);
    bool good = true;
    for (int rank = 0; rank < ordering->ranks && good; rank++) {
        const struct standing *other = &ordering->standing[rank];
        uint32_t *known = &ordering->known[call->rank * ordering->ranks + rank];
        if (rank == call->rank || other->count <= *known || other->over->end <= newest)
            continue;
        *known = other->count;
        good = add(context, call, rank, other->count);
    }
    add_call(&ordering->standing[call->rank], call);
    return good;
}

bool order_find(struct store_call *call, size_t count, int ranks,
                bool (*add)(void *context, const struct store_call *call, int32_t rank,
                            uint32_t stored),
                void *context)
{
    size_t room = (size_t)ranks;
    struct ordering ordering = {.ranks = ranks,
                                .standing = memory_new(room, sizeof *ordering.standing),
                                .known = memory_new(room * room, sizeof *ordering.known)};
    bool good = true;
    if (count > 0)
        qsort(call, count, sizeof *call, by_time);
    for (size_t i = 0; i < count && good; i++) {
        if (i > 0 && call[i].incarnation != call[i - 1].incarnation) {
            memset(ordering.standing, 0, room * sizeof *ordering.standing);
            memset(ordering.known, 0, room * room * sizeof *ordering.known);
        }
        good = order_one(&ordering, &call[i], add, context);
    }
    free(ordering.standing);
    free(ordering.known);
    return good;
}
