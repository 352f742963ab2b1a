/* Growing arrays of which a file of decisions is made, each of one kind of part. Must not know:
 * what the parts are. */
#ifndef DECISIONS_PARTS_H
#define DECISIONS_PARTS_H

#include "base/error.h"
#include "oracles/reading/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first three are the caller's; the rest 0: it is empty. */
struct parts {
    size_t each; /* bytes */
    uint32_t most;
    const char *what; /* "events" */
    uint32_t count;
    size_t room;
    void *data; /* owned */
};

/* `count` more of them in a row, zeroed; it stands there until the next are added. NULL:
 * ERROR_LIMIT. */
void *parts_add(struct parts *parts, uint32_t count, struct error *error);
void parts_release(struct parts *parts);

/* *place: of the first of `count` parts in a row that hold what stands at `data`, added if there
 * are none. `known`, all 0 before the first, is where it looks; nothing else is added to `parts`.
 * false: ERROR_LIMIT. */
bool parts_place(struct parts *parts, struct table *known, const void *data, uint32_t count,
                 uint32_t *place, struct error *error);

#endif
