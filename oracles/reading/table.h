/* A hash table from two 64-bit words to a pointer, made for tables that stay small and are looked
 * into for every record. Must not know: what it holds. */
#ifndef ORACLES_READING_TABLE_H
#define ORACLES_READING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_slot {
    uint64_t first;
    uint64_t second;
    void *value; /* NULL: free */
};

/* All zeros is an empty table. Values are not owned. */
struct table {
    struct table_slot *slot;
    size_t capacity; /* a power of two, or 0 */
    size_t used;
};

/* Releases the table; what its values point to is the caller's. */
void table_release(struct table *table);

/* NULL if there is none. */
void *table_get(const struct table *table, uint64_t first, uint64_t second);

/* value must not be NULL; replaces what was there. */
void table_put(struct table *table, uint64_t first, uint64_t second, void *value);

/* In a table of numbers instead of pointers: one more; returns how many that are. */
uint64_t table_count(struct table *table, uint64_t first, uint64_t second);

/* Nothing happens if there is none. */
void table_remove(struct table *table, uint64_t first, uint64_t second);

#endif
