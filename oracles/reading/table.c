/* See table.h. Linear probing; removing closes the gap, so there are no tombstones to collect. */
#include "oracles/reading/table.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u

void table_release(struct table *table)
{
    free(table->slot);
    memset(table, 0, sizeof *table);
}

static size_t home_of(const struct table *table, uint64_t first, uint64_t second)
{
    uint64_t mixed = (first ^ (second * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    return (size_t)(mixed ^ (mixed >> 32)) & (table->capacity - 1);
}

/* The slot that holds the key, or the free one where it would go. The table is never full. */
static struct table_slot *find(const struct table *table, uint64_t first, uint64_t second)
{
    size_t at = home_of(table, first, second);
    for (;;) {
        struct table_slot *slot = &table->slot[at];
        if (slot->value == NULL || (slot->first == first && slot->second == second))
            return slot;
        at = (at + 1) & (table->capacity - 1);
    }
}

void *table_get(const struct table *table, uint64_t first, uint64_t second)
{
    return table->capacity == 0 ? NULL : find(table, first, second)->value;
}

static void grow(struct table *table)
{
    struct table larger = {.capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY};
    larger.slot = memory_new(larger.capacity, sizeof *larger.slot);
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slot[i].value != NULL)
            *find(&larger, table->slot[i].first, table->slot[i].second) = table->slot[i];
    larger.used = table->used;
    free(table->slot);
    *table = larger;
}

void table_put(struct table *table, uint64_t first, uint64_t second, void *value)
{
    if (2 * (table->used + 1) > table->capacity)
        grow(table);
    struct table_slot *slot = find(table, first, second);
    if (slot->value == NULL)
        table->used++;
    *slot = (struct table_slot){first, second, value};
}

uint64_t table_count(struct table *table, uint64_t first, uint64_t second)
{
    uint64_t count = (uintptr_t)table_get(table, first, second) + 1;
    table_put(table, first, second, (void *)(uintptr_t)count);
    return count;
}

void table_remove(struct table *table, uint64_t first, uint64_t second)
{
    if (table->capacity == 0)
        return;
    struct table_slot *gap = find(table, first, second);
    if (gap->value == NULL)
        return;
    size_t mask = table->capacity - 1;
    size_t hole = (size_t)(gap - table->slot);
    for (size_t at = (hole + 1) & mask; table->slot[at].value != NULL; at = (at + 1) & mask) {
        size_t home = home_of(table, table->slot[at].first, table->slot[at].second);
        /* Whoever probed past the hole on its way from home moves into it. */
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table->slot[hole] = table->slot[at];
            hole = at;
        }
    }
    table->slot[hole].value = NULL;
    table->used--;
}
