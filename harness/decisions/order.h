/* In what order the ranks made their calls on the store, as far as the times show: which calls of
 * other ranks were over before one began. What follows from that of an earlier call is left out.
 * Must not know: traces. */
#ifndef DECISIONS_ORDER_H
#define DECISIONS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those of one rank in one incarnation stand in their order, and do not overlap. */
struct store_call {
    int32_t rank, incarnation;
    uint32_t section, event; /* the caller's own */
    uint64_t begin, end;     /* ticks; end 0: never */
    struct store_call *next; /* of the same rank. Of order_find */
};

/* Calls `add` for each call that is to wait until `rank` has made `stored` calls of its own in the
 * same incarnation. Sorts the calls by time. false: `add` said so. */
bool order_find(struct store_call *call, size_t count, int ranks,
                bool (*add)(void *context, const struct store_call *call, int32_t rank,
                            uint32_t stored),
                void *context);

#endif
