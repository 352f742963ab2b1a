/* See number_set.h. */
#include "base/number_set.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_LEAST 64

static void grow(struct number_set *set, uint64_t number)
{
    uint64_t room = 2 * number + ROOM_LEAST;
    set->has = memory_resized(set->has, 1, room);
    memset(set->has + set->room, 0, room - set->room);
    set->room = room;
}

enum error_code number_set_add(struct number_set *set, uint64_t number, struct error *error)
{
    if (number >= NUMBER_SET_MOST)
        return error_set(error, ERROR_LIMIT, "%" PRIu64 "; accepted: 0 to %" PRIu64, number,
                         NUMBER_SET_MOST - 1);
    if (number >= set->room)
        grow(set, number);
    set->has[number] = 1;
    return OK;
}

bool number_set_has(const struct number_set *set, uint64_t number)
{
    return number < set->room && set->has[number] != 0;
}

void number_set_release(struct number_set *set)
{
    free(set->has);
    *set = (struct number_set){0};
}
