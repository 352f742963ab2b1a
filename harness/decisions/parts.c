/* See parts.h. */
#include "decisions/parts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ROOM_LEAST 256

void *parts_add(struct parts *parts, uint32_t count, struct error *error)
{
    if (count > parts->most - parts->count) {
        error_set(error, ERROR_LIMIT, "decisions are kept of runs of up to %u %s", parts->most,
                  parts->what);
        return NULL;
    }
    size_t needed = (size_t)parts->count + count;
    if (needed > parts->room) {
        size_t doubled = parts->room > 0 ? 2 * parts->room : ROOM_LEAST;
        parts->room = doubled > needed ? doubled : needed;
        parts->data = memory_resized(parts->data, parts->room, parts->each);
    }
    void *added = (char *)parts->data + parts->count * parts->each;
    memset(added, 0, count * parts->each);
    parts->count += count;
    return added;
}

void parts_release(struct parts *parts)
{
    free(parts->data);
    parts->data = NULL;
    parts->room = parts->count = 0;
}

static bool holds(const struct parts *parts, uint32_t place, const void *data, uint32_t count)
{
    return count <= parts->count - place &&
           memcmp((const char *)parts->data + place * parts->each, data, count * parts->each) == 0;
}

/* By the hash of what they hold, and how many with this hash came before. The table holds places
 * + 1. */
bool parts_place(struct parts *parts, struct table *known, const void *data, uint32_t count,
                 uint32_t *place, struct error *error)
{
    uint64_t hash = XXH3_64bits(data, count * parts->each);
    for (uint64_t before = 0;; before++) {
        uintptr_t found = (uintptr_t)table_get(known, hash, before);
        *place = found > 0 ? (uint32_t)(found - 1) : parts->count;
        if (found > 0 && !holds(parts, *place, data, count))
            continue;
        void *added = found == 0 ? parts_add(parts, count, error) : NULL;
        if (added != NULL) {
            memcpy(added, data, count * parts->each);
            table_put(known, hash, before, (void *)((uintptr_t)*place + 1));
        }
        return found > 0 || added != NULL;
    }
}
